"""Peers that hang, vanish, disconnect us, stop in the middle of a batch, or cannot be found."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.base import DeadLetterError, Delivery, Outgoing, ReconnectError, RetryLaterError, StopError
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.references import resolve
from adapters.cosnotification.service.host import ServiceHost
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.sink import CosNotificationSink
from adapters.cosnotification.source import CosNotificationSource
from adapters.cosnotification.stubs import CORBA, CosNotifyChannelAdmin
from mappings.idl_types import LONG, SHORT, Fixed
from mappings.model import Property, StructuredEvent
from tests.contract.wires.cosnotification import Peer

PATIENCE_SECS = 20.0
RELIABLE = (Property("EventReliability", SHORT, 1),)


@pytest.fixture
def orb() -> Iterator[Orb]:
    orb = Orb()
    orb.start()
    yield orb
    orb.stop()


@pytest.fixture
def local() -> Iterator[LocalOrb]:
    local = LocalOrb()
    local.start()
    yield local
    local.stop()


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Peer]:
    peer = Peer(tmp_path)
    peer.start()
    yield peer
    peer.kill()


def endpoint(factory: Path | str) -> CosNotificationEndpoint:
    return CosNotificationEndpoint(
        type="cosnotification", factory=str(factory), call_timeout_ms=500, ping_interval_secs=0.2
    )


def channel(number: int = 0, **more: Any) -> CosNotificationChannel:
    return CosNotificationChannel(endpoint="peer", channel=number, **more)


def event(number: int, header: tuple[Property, ...] = ()) -> StructuredEvent:
    return StructuredEvent("d", "t", f"n{number}", header, (Property("n", LONG, number),))


def outgoing(*events: StructuredEvent) -> list[Outgoing]:
    return [Outgoing(event, event.event_name) for event in events]


def receive_all(source: CosNotificationSource, count: int) -> list[Delivery]:
    got: list[Delivery] = []
    deadline = time.monotonic() + PATIENCE_SECS
    while len(got) < count and time.monotonic() < deadline:
        got += source.receive(count - len(got), 0.5)
    return got


def receive_until_it_fails(source: CosNotificationSource) -> ReconnectError:
    deadline = time.monotonic() + PATIENCE_SECS
    while time.monotonic() < deadline:
        try:
            source.receive(1, 0.2)
        except ReconnectError as error:
            return error
    raise AssertionError("the source never noticed")


def stop(pid: int) -> None:
    """Returns when the process has come to a halt."""
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + PATIENCE_SECS
    while "\nState:\tT" not in Path(f"/proc/{pid}/status").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_peer_that_hangs_is_noticed_on_both_sides(orb: Orb, peer: Peer) -> None:
    source = CosNotificationSource(orb, endpoint(peer.ior), channel())
    sink = CosNotificationSink(orb, endpoint(peer.ior), channel(1))
    source.connect()
    sink.connect()
    try:
        assert peer.pid is not None
        stop(peer.pid)
        with pytest.raises(ReconnectError) as caught:
            sink.send(outgoing(event(1))).result(PATIENCE_SECS)
        assert caught.value.code == "COR-TIMEOUT"
        assert receive_until_it_fails(source).code == "COR-TIMEOUT"
    finally:
        source.close()
        sink.close()
        os.kill(peer.pid, signal.SIGCONT)


def test_a_peer_that_disconnects_us_is_obeyed(orb: Orb, local: LocalOrb, peer: Peer) -> None:
    source = CosNotificationSource(orb, endpoint(peer.ior), channel())
    sink = CosNotificationSink(orb, endpoint(peer.ior), channel())
    source.connect()
    sink.connect()
    try:
        factory = resolve(local, str(peer.ior), CosNotifyChannelAdmin.EventChannelFactory, 5000)
        factory.get_event_channel(0).destroy()
        assert receive_until_it_fails(source).code in ("COR-DISCONNECTED", "COR-GONE")
        with pytest.raises(ReconnectError):
            sink.send(outgoing(event(1))).result(PATIENCE_SECS)
    finally:
        source.close()
        sink.close()
    with pytest.raises(ReconnectError) as caught:
        source.connect()
    assert caught.value.code == "COR-NO-CHANNEL"


def test_a_persistent_event_stays_with_the_channel_until_it_is_acknowledged(orb: Orb, peer: Peer) -> None:
    source = CosNotificationSource(orb, endpoint(peer.ior), channel(hold_ms=200))
    sink = CosNotificationSink(orb, endpoint(peer.ior), channel())
    source.connect()
    sink.connect()
    try:
        sink.send(outgoing(event(1, RELIABLE), event(2, RELIABLE)))
        (first,) = source.receive(10, PATIENCE_SECS)
        assert first.persistent
        assert source.receive(10, 1.0) == [], "the retries of a push that gave up are no new events"
        assert peer.queued() == 2
        source.acknowledge([first])
        (second,) = receive_all(source, 1)
        assert second.payload == event(2, RELIABLE)
        source.acknowledge([second])
        deadline = time.monotonic() + PATIENCE_SECS
        while peer.queued():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert source.receive(10, 0.3) == []
    finally:
        source.close()
        sink.close()


def test_ten_thousand_events_while_nobody_asks(orb: Orb, peer: Peer) -> None:
    """The buffer is bounded, the channel keeps the rest, and all arrive in order."""
    source = CosNotificationSource(orb, endpoint(peer.ior), channel(buffer=100, hold_ms=100))
    sink = CosNotificationSink(orb, endpoint(peer.ior), channel())
    source.connect()
    sink.connect()
    try:
        for start in range(0, 10_000, 500):
            sink.send(outgoing(*(event(n) for n in range(start, start + 500)))).result(PATIENCE_SECS)
        assert peer.queued() >= 9_000
        numbers: list[int] = []
        while len(numbers) < 10_000:
            deliveries = receive_all(source, 500)
            assert deliveries
            source.acknowledge(deliveries)
            numbers += [d.payload.filterable_data[0].value for d in deliveries]  # type: ignore[union-attr]
        assert numbers == list(range(10_000))
    finally:
        source.close()
        sink.close()


Scripted = Callable[[Callable[[str], None]], tuple[CosNotificationSink, list[str]]]


@pytest.fixture
def scripted(orb: Orb, local: LocalOrb) -> Iterator[Scripted]:
    """A service in this process whose channel does with each push what a test says, and the names that it took."""
    host = ServiceHost(local)
    host.start()
    sinks: list[CosNotificationSink] = []

    def make(on_push: Callable[[str], None]) -> tuple[CosNotificationSink, list[str]]:
        names: list[str] = []

        def publish(notification: Any) -> None:
            name = notification.header.fixed_header.event_name
            on_push(name)
            names.append(name)

        host.channels[0].hub.send = publish  # type: ignore[method-assign]
        sink = CosNotificationSink(orb, endpoint(host.factory_ior), channel())
        sink.connect()
        sinks.append(sink)
        return sink, names

    yield make
    for sink in sinks:
        sink.close()
    host.stop()


def test_a_batch_that_breaks_off_is_not_pushed_twice(scripted: Scripted) -> None:
    broken = {"n2"}

    def break_once(name: str) -> None:
        if name in broken:
            broken.remove(name)
            raise CORBA.COMM_FAILURE(0, CORBA.COMPLETED_MAYBE)

    sink, names = scripted(break_once)
    batch = outgoing(*map(event, range(4)))
    with pytest.raises(ReconnectError):
        sink.send(batch).result(PATIENCE_SECS)
    with pytest.raises(ReconnectError):
        sink.send(batch)
    sink.close()
    sink.connect()
    assert sink.send(batch).result(PATIENCE_SECS) == ()
    assert names == ["n0", "n1", "n2", "n3"]
    assert sink.send(batch[:2]).result(PATIENCE_SECS) == ()
    assert names == ["n0", "n1", "n2", "n3", "n0", "n1"], "an id is passed over once"


def test_a_full_peer_in_the_middle_of_a_batch_keeps_the_order(scripted: Scripted) -> None:
    full = {"n2", "n3"}

    def full_at_first(name: str) -> None:
        if name in full:
            raise CORBA.IMP_LIMIT(0, CORBA.COMPLETED_NO)

    sink, names = scripted(full_at_first)
    first, second = outgoing(*map(event, range(4))), outgoing(event(4))
    confirmations = [sink.send(first), sink.send(second)]
    refusals = confirmations[0].result(PATIENCE_SECS)
    assert [(refusal.index, type(refusal.error)) for refusal in refusals] == [
        (2, RetryLaterError),
        (3, RetryLaterError),
    ]
    with pytest.raises(RetryLaterError):
        confirmations[1].result(PATIENCE_SECS)
    with pytest.raises(RetryLaterError):
        sink.send(first[2:]).result(PATIENCE_SECS)
    full.clear()
    assert [sink.send(batch).result(PATIENCE_SECS) for batch in (first[2:], second)] == [(), ()]
    assert names == ["n0", "n1", "n2", "n3", "n4"]


def test_an_event_that_cannot_be_sent_is_refused_and_the_others_pass(scripted: Scripted) -> None:
    sink, names = scripted(lambda _: None)
    no_number = StructuredEvent("d", "t", "bad", (), (Property("p", Fixed(2, 0), "no number"),))
    no_value = StructuredEvent("d", "t", "bad", (), (Property("p", LONG, object()),))
    text_with_nul = StructuredEvent("d", "t", "nul\0", ())
    refusals = sink.send(outgoing(event(0), no_number, text_with_nul, no_value, event(1))).result(PATIENCE_SECS)
    assert names == ["n0", "n1"]
    assert [(refusal.index, type(refusal.error)) for refusal in refusals] == [(n, DeadLetterError) for n in (1, 2, 3)]


@pytest.mark.parametrize(
    ("factory", "kind", "code"),
    [
        ("corbaloc::127.0.0.1:1/nobody", ReconnectError, "COR-UNREACHABLE"),
        ("corbaname::127.0.0.1:1#nobody", ReconnectError, "COR-UNREACHABLE"),
        ("IOR:00", ReconnectError, "COR-REFERENCE"),
        ("corbaloc:nonsense", StopError, "COR-REFERENCE"),
        ("no/such/file.ior", ReconnectError, "COR-REFERENCE"),
    ],
)
def test_what_cannot_be_found(orb: Orb, factory: str, kind: type[Exception], code: str) -> None:
    for end in (CosNotificationSource, CosNotificationSink):
        with pytest.raises(kind) as caught:
            end(orb, endpoint(factory), channel()).connect()
        assert caught.value.code == code  # type: ignore[attr-defined]


def test_a_file_that_holds_something_else(orb: Orb, tmp_path: Path) -> None:
    (tmp_path / "x.ior").write_text("hello")
    with pytest.raises(ReconnectError) as caught:
        CosNotificationSource(orb, endpoint(tmp_path / "x.ior"), channel()).connect()
    assert caught.value.code == "COR-REFERENCE"


def test_an_object_of_another_kind(orb: Orb, local: LocalOrb, peer: Peer) -> None:
    factory = resolve(local, str(peer.ior), CosNotifyChannelAdmin.EventChannelFactory, 5000)
    channel_reference = local.to_string(factory.get_event_channel(0))
    with pytest.raises(ReconnectError) as caught:
        CosNotificationSource(orb, endpoint(channel_reference), channel()).connect()
    assert caught.value.code == "COR-INTERFACE"
