"""Clients of a typed channel, with stubs and skeletons that the IDL compiler makes of tests/parts/idl/plant.idl.

They are compiled into this process alone: the service in the other process knows nothing but the IDL file.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from pathlib import Path
from typing import Any
from unittest import mock

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.references import resolve
from adapters.cosnotification.stubs import CORBA, CosEventComm, omniORB
from tests.contract.wires.cosnotification_peer import PLANT
from tests.interop.notification_service.clients import CLIENTS, Channel, _Client, connect

# ruff: isort: split
import CosTypedNotifyChannelAdmin
import CosTypedNotifyComm__POA

with mock.patch.dict(os.environ, PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"):
    omniORB.importIDL(str(PLANT))

# ruff: isort: split
import Plant
import Plant__POA

ALARMS = Plant.Alarms._NP_RepositoryId
ANSWERING = Plant.Answering._NP_RepositoryId
OPERATIONS = ("named", "raised", "cleared", "moved", "silence")

Call = tuple[str, tuple[Any, ...]]


def plain(value: Any) -> Any:
    """Structs, enums and anys as plain values, to be compared."""
    if isinstance(value, CORBA.Any):
        return plain(value.value())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "__dict__") and "_NP_RepositoryId" in dir(value) and not hasattr(value, "_n"):
        return {name: plain(member) for name, member in vars(value).items()}
    return str(value) if hasattr(value, "_n") else value


class _TypedClient(_Client):
    """Its typed object is a servant of its own."""

    def __init__(self, channel: TypedChannel, typed: Any) -> None:
        super().__init__()
        self.typed = typed
        self._reference = channel.activate(typed)

    def get_typed_consumer(self) -> Any:
        return self._reference

    get_typed_supplier = get_typed_consumer


class TypedPushConsumer(_TypedClient, CosTypedNotifyComm__POA.TypedPushConsumer):  # type: ignore[misc]
    disconnect_push_consumer = _Client._farewell

    def push(self, data: Any) -> None:
        raise AssertionError("a typed consumer gets operations")


class TypedPullSupplier(_TypedClient, CosTypedNotifyComm__POA.TypedPullSupplier):  # type: ignore[misc]
    disconnect_pull_supplier = _Client._farewell

    def pull(self) -> Any:
        raise CosEventComm.Disconnected

    try_pull = pull


class Alarms(Plant__POA.Alarms):  # type: ignore[misc]
    """Takes operations."""

    def __init__(self) -> None:
        self.calls: list[Call] = []


for _name in OPERATIONS:
    setattr(Alarms, _name, lambda self, *values, name=_name: self.calls.append((name, plain(values))))

BLANKS = {
    "named": ("",),
    "raised": (0, Plant.minor, Plant.Place("", 0), CORBA.Any(CORBA.TC_null, None)),
    "cleared": (0,),
    "moved": (0, []),
    "silence": (),
}


class PullAlarms(Plant__POA.PullAlarms):  # type: ignore[misc]
    """Gives what is put into `stock`, by operation. Nobody may call what blocks."""

    def __init__(self) -> None:
        self.stock: dict[str, deque[tuple[Any, ...]]] = {name: deque() for name in OPERATIONS}

    def _look(self, name: str) -> Any:
        if self.stock[name]:
            values = self.stock[name].popleft()
            return (True, *values) if values else True
        return (False, *BLANKS[name]) if BLANKS[name] else False


for _name in OPERATIONS:
    setattr(PullAlarms, f"try_{_name}", lambda self, name=_name: self._look(name))


class TypedChannel(Channel):
    def __init__(self, orb: LocalOrb, factory_ior: str, qos: Any = (), admin: Any = ()) -> None:
        self.orb = orb
        self.factory = resolve(orb, factory_ior, CosTypedNotifyChannelAdmin.TypedEventChannelFactory, 5000)
        self.reference, self.id = self.factory.create_typed_channel(list(qos), list(admin))
        self._activated = []

    def proxy(self, style: str, side: str, form: str, admin: Any = None) -> Any:
        if not form.startswith("typed"):
            return super().proxy(style, side, form, admin)
        admin = admin or (self.consumers if side == "consumer" else self.suppliers)
        other = "supplier" if side == "consumer" else "consumer"
        if form == "typed plain":
            return getattr(admin, f"obtain_typed_{style}_{other}")(ALARMS)
        return getattr(admin, f"obtain_typed_notification_{style}_{other}")(ALARMS)[0]

    def client(self, style: str, side: str) -> Any:
        if (style, side) == ("push", "consumer"):
            return TypedPushConsumer(self, Alarms())
        if (style, side) == ("pull", "supplier"):
            return TypedPullSupplier(self, PullAlarms())
        return CLIENTS[style, side]["any"]()

    def typed_consumer(self, form: str = "typed") -> Alarms:
        """What a connected consumer's typed object is called with."""
        client = self.client("push", "consumer")
        proxy = self.proxy("push", "consumer", form)
        connect(proxy, "push", "consumer", form, self.activate(client))
        typed: Alarms = client.typed
        return typed

    def alarms_proxy(self, form: str = "typed") -> Any:
        """Of a push supplier."""
        proxy = self.proxy("push", "supplier", form)
        connect(proxy, "push", "supplier", form, None)
        return proxy

    def alarms(self, form: str = "typed") -> Any:
        """Where a push supplier calls operations."""
        return self.alarms_proxy(form).get_typed_consumer()._narrow(Plant.Alarms)

    def pull_alarms(self, form: str = "typed") -> Any:
        """Where a pull consumer calls operations."""
        proxy = self.proxy("pull", "consumer", form)
        connect(proxy, "pull", "consumer", form, None)
        return proxy.get_typed_supplier()._narrow(Plant.PullAlarms)
