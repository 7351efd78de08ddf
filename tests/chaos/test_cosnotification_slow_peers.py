"""Peers that are slow or deaf while we come and go: nothing of us stays behind, and a long past keeps nobody from connecting."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from adapters.base import Outgoing, ReconnectError
from adapters.cosnotification import client_end
from adapters.cosnotification import orb as orb_module
from adapters.cosnotification.left_behind import LeftBehind
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.service.host import ServiceHost
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.sink import CosNotificationSink
from adapters.cosnotification.source import CosNotificationSource
from adapters.cosnotification.stubs import CosNotifyChannelAdmin
from mappings import idl_types as idl
from mappings.cdr.references import Profile, Reference, stringify
from mappings.model import Property, StructuredEvent

PATIENCE_SECS = 30.0
CHANNEL = CosNotificationChannel(endpoint="peer", channel=0)


@pytest.fixture
def orb() -> Iterator[Orb]:
    orb = Orb(left_behind=LeftBehind())
    orb.start()
    yield orb
    orb.stop()


@pytest.fixture
def host() -> Iterator[ServiceHost]:
    local = LocalOrb()
    local.start()
    host = ServiceHost(local)
    host.start()
    yield host
    host.stop()
    local.stop()


def endpoint(host: ServiceHost, **more: Any) -> CosNotificationEndpoint:
    return CosNotificationEndpoint.model_validate({"type": "cosnotification", "factory": host.factory_ior, **more})


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def admins(host: ServiceHost) -> int:
    return len(host.channels[0]._consumer_admins) + len(host.channels[0]._supplier_admins)


@pytest.mark.parametrize("end", [CosNotificationSource, CosNotificationSink])
def test_a_connection_that_is_ready_too_late_is_ended(
    monkeypatch: pytest.MonkeyPatch, orb: Orb, host: ServiceHost, end: Any
) -> None:
    before = admins(host)
    at_it, go_on = threading.Event(), threading.Event()
    made: list[Any] = []
    for name in ("new_for_consumers", "new_for_suppliers"):
        usual = getattr(host.channels[0], name)

        def slowly(operator: Any, usual: Any = usual) -> Any:
            at_it.set()
            assert go_on.wait(PATIENCE_SECS)
            made.append(usual(operator))
            return made[-1]

        setattr(host.channels[0], name, slowly)
    monkeypatch.setattr(client_end, "CONNECT_CALLS", 0.1)
    connecting = end(orb, endpoint(host, call_timeout_ms=10_000), CHANNEL)
    with pytest.raises(ReconnectError) as caught:
        connecting.connect()
    assert caught.value.code == "COR-TIMEOUT"
    assert at_it.is_set()
    go_on.set()
    until(lambda: made)  # it gets what it had asked for …
    until(lambda: admins(host) == before)  # … and gives it back


def test_what_a_failed_connect_could_not_take_back_is_taken_back_later(orb: Orb, host: ServiceHost) -> None:
    before = admins(host)
    hears = threading.Event()
    wait = hears.wait

    def deaf(usual: Any) -> Any:
        def call(*arguments: Any) -> Any:
            wait(PATIENCE_SECS)
            return usual(*arguments)

        return call

    usual_admin = host.channels[0].new_for_consumers

    def make(operator: Any) -> Any:
        made = usual_admin(operator)
        (admin,) = [admin for id_, admin in host.channels[0]._consumer_admins.items() if id_ == made[1]]
        admin.obtain_notification_push_supplier = deaf(admin.obtain_notification_push_supplier)
        admin.destroy = deaf(admin.destroy)
        return made

    host.channels[0].new_for_consumers = make  # type: ignore[method-assign]
    impatient = endpoint(host, call_timeout_ms=500)
    with pytest.raises(ReconnectError) as caught:
        CosNotificationSource(orb, impatient, CHANNEL).connect()
    assert caught.value.code == "COR-TIMEOUT"
    assert len(orb.left_behind.at(host.factory_ior)) == 1
    del host.channels[0].new_for_consumers
    source = CosNotificationSource(orb, endpoint(host), CHANNEL)
    hears.set()
    source.connect()
    try:
        assert orb.left_behind.at(host.factory_ior) == []
        assert admins(host) == before + 1, "ours"
    finally:
        source.close()
    assert admins(host) == before


def test_a_peer_that_is_slow_to_end_one_thing_is_asked_for_the_others(orb: Orb, host: ServiceHost) -> None:
    """JacORB calls a client that has died again and again, before it answers that it has ended an admin."""
    local = LocalOrb()
    local.start()
    channel = host.channels[0]
    before = admins(host)
    references = [local.to_string(channel.new_for_consumers(CosNotifyChannelAdmin.AND_OP)[0]) for _ in range(3)]
    slow = channel._consumer_admins[1]  # the first of them
    usual = slow.destroy

    def destroy() -> None:
        time.sleep(1.5)
        usual()

    slow.destroy = destroy  # type: ignore[method-assign]
    orb.left_behind.leave(host.factory_ior, [("destroy", reference) for reference in references], None)
    source = CosNotificationSource(orb, endpoint(host, call_timeout_ms=1000), CHANNEL)
    source.connect()
    try:
        until(lambda: admins(host) == before + 1)
        assert orb.left_behind.at(host.factory_ior) == []
    finally:
        source.close()
        local.stop()


def test_a_long_past_at_a_dead_address_does_not_keep_us_from_the_peer(orb: Orb, host: ServiceHost) -> None:
    """A peer that has moved: somebody takes connections at its old address, and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as old:
        profile = bytes([1, 1, 0, 0]) + (10).to_bytes(4, "little") + b"127.0.0.1\0"
        profile += old.getsockname()[1].to_bytes(2, "little") + (1).to_bytes(4, "little") + b"x"
        gone = stringify(Reference(b"", (Profile(0, profile),)))
        orb.left_behind.leave(host.factory_ior, [("destroy", gone)] * 60, None)
        source = CosNotificationSource(orb, endpoint(host, call_timeout_ms=500), CHANNEL)
        began = time.monotonic()
        source.connect()
        source.close()
        assert time.monotonic() - began < 60 * 0.5 / 2, "each costs a time-out"
    assert len(orb.left_behind.at(host.factory_ior)) < 60


def test_a_hanging_worker_is_noticed_while_its_socket_is_full(
    monkeypatch: pytest.MonkeyPatch, orb: Orb, host: ServiceHost
) -> None:
    monkeypatch.setattr(orb_module, "HUNG_SECS", 1.5)
    sink = CosNotificationSink(orb, endpoint(host), CHANNEL)
    sink.connect()
    assert orb._worker is not None
    large = StructuredEvent("d", "t", "large", (), (Property("n", idl.Sequence(idl.OCTET), b"x" * 2_000_000),))
    os.kill(orb._worker.process.pid, signal.SIGSTOP)
    done = threading.Event()

    def send() -> None:
        with suppress(ReconnectError):
            sink.send([Outgoing(large, "1")]).result(PATIENCE_SECS)
        done.set()

    sending = threading.Thread(target=send)
    sending.start()
    try:
        assert done.wait(PATIENCE_SECS), "nobody noticed"
        assert orb.crashes == 1
    finally:
        with suppress(ProcessLookupError, AttributeError):
            os.kill(orb._worker.process.pid, signal.SIGCONT)
        sending.join()
        sink.close()
