"""What the tests of event domains work with: a gateway that hosts them, channels, and clients of plain CORBA."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.references import resolve
from gateway.domain.corba.stubs import (
    CORBA,
    CosEventDomainAdmin,
    CosEventLogDomainAdmin,
    CosNotification,
    CosNotifyChannelAdmin,
    CosTypedEventDomainAdmin,
)
from tests.contract.wires.cosnotification_peer import PLANT as PLANT_IDL
from tests.parts.gateway import Gateway
from tests.parts.ports import ReservedPort

PATIENCE_SECS = 30.0
ANY, STRUCTURED = CosNotifyChannelAdmin.ANY_EVENT, CosNotifyChannelAdmin.STRUCTURED_EVENT
SEQUENCE = CosNotifyChannelAdmin.SEQUENCE_EVENT
PUSH, PULL = CosEventDomainAdmin.Push, CosEventDomainAdmin.Pull
AUTHORIZE, FORBID = 0, 1


def connection(supplier: int, consumer: int, ctype: Any = ANY, style: Any = PUSH) -> Any:
    return CosEventDomainAdmin.Connection(supplier, consumer, ctype, style)


def qos(cycles: int | None = None, diamonds: int | None = None) -> list[Any]:
    wanted = {"CycleDetection": cycles, "DiamondDetection": diamonds}
    return [property_(name, value) for name, value in wanted.items() if value is not None]


def property_(name: str, value: int) -> Any:
    return CosNotification.Property(name, CORBA.Any(CORBA.TC_short, value))


def number(value: int) -> Any:
    return CORBA.Any(CORBA.TC_long, value)


def until(condition: Callable[[], object], patience_secs: float = PATIENCE_SECS) -> None:
    deadline = time.monotonic() + patience_secs
    while not condition():
        assert time.monotonic() < deadline, "not within the time that was allowed"
        time.sleep(0.02)


def answers(reference: Any) -> bool:
    try:
        return not reference._non_existent()
    except (CORBA.COMM_FAILURE, CORBA.TRANSIENT):  # on a connection that broke
        return False


def pulled(proxy: Any) -> Any:
    """The value of the next any, waiting for it."""
    deadline = time.monotonic() + PATIENCE_SECS
    while time.monotonic() < deadline:
        value, there = proxy.try_pull()
        if there:
            return value.value()
        time.sleep(0.01)
    raise AssertionError("no event came")


class Plant:
    """A gateway with the service of event domains, and a client's view of it."""

    def __init__(self, gateway: Gateway, orb: LocalOrb) -> None:
        self.gateway = gateway
        self.orb = orb

    def factory(self, file: str, interface: Any) -> Any:
        return resolve(self.orb, str(self.gateway.folder / file), interface, 15_000)

    @property
    def domains(self) -> Any:
        return self.factory("domains.ior", CosEventDomainAdmin.EventDomainFactory)

    @property
    def typed_domains(self) -> Any:
        return self.factory("typed.ior", CosTypedEventDomainAdmin.TypedEventDomainFactory)

    @property
    def log_domains(self) -> Any:
        return self.factory("logs.ior", CosEventLogDomainAdmin.EventLogDomainFactory)

    @property
    def channels(self) -> Any:
        """The factory of the gateway's own channels."""
        return self.factory("notify.ior", CosNotifyChannelAdmin.EventChannelFactory)

    @property
    def logs(self) -> Any:
        import DsNotifyLogAdmin

        return self.factory("notify-logs.ior", DsNotifyLogAdmin.NotifyLogFactory)

    @property
    def typed_logs(self) -> Any:
        import DsTypedNotifyLogAdmin

        return self.factory("typed-logs.ior", DsTypedNotifyLogAdmin.TypedNotifyLogFactory)

    def new_domain(self, cycles: int | None = None, diamonds: int | None = None) -> Any:
        domain, _ = self.domains.create_event_domain(qos(cycles, diamonds), [])
        return domain


def config(port: int, **event_domains: Any) -> dict[str, Any]:
    """On a port that stays the same over restarts."""
    return {
        "orb": {"listen": f"127.0.0.1:{port}", "call_timeout_ms": 5000},
        "services": {
            "notification": {"factory_ior": "notify.ior", "channels": 2, "idl": [str(PLANT_IDL)]},
            "logs": {"factory_ior": "notify-logs.ior", "typed_factory_ior": "typed-logs.ior", "idl": [str(PLANT_IDL)]},
            "event_domains": {
                "factory_ior": "domains.ior",
                "typed_factory_ior": "typed.ior",
                "log_factory_ior": "logs.ior",
                "check_interval_secs": 0.3,
                **event_domains,
            },
        },
    }


@contextmanager
def held(path: Path) -> Iterator[None]:
    """The file of a store, by another process, for longer than anybody waits."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin immediate")
        yield
        other.execute("rollback")


@contextmanager
def plant(folder: Path, **event_domains: Any) -> Iterator[Plant]:
    orb = LocalOrb()
    orb.start()
    try:
        with ReservedPort() as port, Gateway(folder, config(port.number, **event_domains)) as gateway:
            yield Plant(gateway, orb)
    finally:
        orb.stop()
