"""Links between channels whose peers fail: nothing accepted is lost, the accounts hold, and no more is held than was allowed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adapters.base import Outgoing, ReconnectError
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.service.engine.carried_event import CarriedEvent
from adapters.cosnotification.service.host import ServiceHost
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint, OrbSettings
from adapters.cosnotification.sink import CosNotificationSink
from adapters.cosnotification.source import CosNotificationSource
from adapters.settings_base import BackOff
from gateway.links.link import Link, Pace
from mappings.idl_types import LONG, SHORT
from mappings.model import Property, StructuredEvent
from tests.chaos.stomp_proxy import Proxy
from tests.contract.wires.cosnotification import Peer
from tests.parts.ports import ReservedPort
from tests.unit.links.rig import Recorder, as_it_is

PATIENCE_SECS = 60.0
QUICK = BackOff(first_ms=20, longest_ms=200)


@pytest.fixture
def orb() -> Iterator[Orb]:
    orb = Orb()
    orb.start()
    yield orb
    orb.stop()


def endpoint(factory: Path | str) -> CosNotificationEndpoint:
    return CosNotificationEndpoint(
        type="cosnotification", factory=str(factory), call_timeout_ms=2000, ping_interval_secs=0.2
    )


def channel(number: int = 0, **more: object) -> CosNotificationChannel:
    return CosNotificationChannel.model_validate({"endpoint": "peer", "channel": number, **more})


def event(number: int, *, persistent: bool = False) -> StructuredEvent:
    header = (Property("EventReliability", SHORT, 1),) if persistent else ()
    return StructuredEvent("d", "t", f"n{number}", header, (Property("n", LONG, number),))


def outgoing(numbers: range, *, persistent: bool = False) -> list[Outgoing]:
    return [Outgoing(event(n, persistent=persistent), f"id-{n}") for n in numbers]


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def connect(end: CosNotificationSource | CosNotificationSink) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while True:
        try:
            return end.connect()
        except ReconnectError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def received(source: CosNotificationSource, until_number: int) -> list[int]:
    """The numbers of the events up to this one, reconnecting as a link would."""
    numbers: list[int] = []
    deadline = time.monotonic() + PATIENCE_SECS
    while until_number not in numbers:
        assert time.monotonic() < deadline, numbers[-3:]
        try:
            deliveries = source.receive(500, 0.5)
        except ReconnectError:
            source.close()
            connect(source)
            continue
        source.acknowledge(deliveries)
        numbers += [delivery.payload.filterable_data[0].value for delivery in deliveries]  # type: ignore[union-attr]
    return numbers


def first_occurrences(numbers: list[int]) -> list[int]:
    return list(dict.fromkeys(numbers))


def test_ten_thousand_events_while_the_sink_is_down(orb: Orb, tmp_path: Path) -> None:
    """From channel 0 of one peer to channel 1 of the same, whose reference is missing at first; then that peer is killed and comes
    back with new references."""
    count, buffer, window = 10_000, 500, 200
    peer = Peer(tmp_path)
    peer.start()
    far = tmp_path / "far.ior"
    source = CosNotificationSource(orb, endpoint(peer.ior), channel(buffer=buffer, hold_ms=100))
    recorder = Recorder()
    pace = Pace(window=window, batch=100, source_back_off=QUICK, sink_back_off=QUICK, retry=QUICK)
    link = Link("l", source, CosNotificationSink(orb, endpoint(far), channel(1)), as_it_is, recorder, recorder, pace)
    supplier = CosNotificationSink(orb, endpoint(peer.ior), channel(events="sequence"))
    consumer = CosNotificationSource(orb, endpoint(peer.ior), channel(1, events="sequence"))
    link.start()
    try:
        until(lambda: link.status().source == "ready")
        supplier.connect()
        for start in range(0, count, 500):
            assert supplier.send(outgoing(range(start, start + 500))).result(PATIENCE_SECS) == ()
        until(lambda: len(source._waiting) >= buffer)
        held = link.balance()
        assert held.received == held.pending <= window + 100
        assert len(source._waiting) + len(source._handed) <= buffer + window + 100
        assert peer.queued() >= count - buffer - window - 200, "the channel keeps the rest"
        consumer.connect()
        shutil.copy(peer.ior, far)
        assert received(consumer, count - 1) == list(range(count))
        until(lambda: link.balance().pending == 0)
        assert link.balance().received == link.balance().delivered == count
        status = link.status()
        for side, changes in (("source", status.source_changes), ("sink", status.sink_changes)):
            lines = [state for of, state, _ in recorder.lines if of == side]
            assert {state: lines.count(state) for state in lines} == changes, "each line is counted"
    finally:
        link.stop()
        link.join(PATIENCE_SECS)
        supplier.close()
        consumer.close()
        peer.kill()


@pytest.fixture
def behind_proxies() -> Iterator[tuple[Orb, ServiceHost, Proxy, Proxy]]:
    """A peer in this process, and our ORB, each of which reaches the other through a proxy only."""
    theirs, ours = ReservedPort(), ReservedPort()
    with Proxy(f"127.0.0.1:{theirs.number}") as to_peer, Proxy(f"127.0.0.1:{ours.number}") as to_us:
        theirs.close()
        ours.close()
        local = LocalOrb(
            OrbSettings(listen=f"127.0.0.1:{theirs.number}", publish=to_peer.address, call_timeout_ms=2000)
        )
        local.start()
        host = ServiceHost(local, channels=2)
        host.start()
        orb = Orb(OrbSettings(listen=f"127.0.0.1:{ours.number}", publish=to_us.address))
        orb.start()
        yield orb, host, to_peer, to_us
        orb.stop()
        host.stop()
        local.stop()


@pytest.mark.parametrize("events", ["structured", "sequence"])
def test_connections_cut_in_the_middle_of_requests(
    behind_proxies: tuple[Orb, ServiceHost, Proxy, Proxy], events: str
) -> None:
    """What a sink has sent arrives, though the connection breaks in the middle of its pushes; in order, but for what comes twice.
    The ORB itself sends again what cannot have been carried out; the rest is for the link."""
    orb, host, to_peer, _ = behind_proxies
    taken: list[int] = []
    hub = host.channels[0].hub

    def take(carried: CarriedEvent) -> None:
        taken.append(carried.structured.filterable_data[0].value.value())

    hub.send = take  # type: ignore[method-assign]
    hub.send_many = lambda events: [take(carried) for carried in events]  # type: ignore[method-assign,assign,misc]
    sink = CosNotificationSink(orb, endpoint(host.factory_ior), channel(events=events))
    connect(sink)
    try:
        for start in range(0, 100, 20):
            batch = outgoing(range(start, start + 20))
            to_peer.cut_after(700)
            while True:
                try:
                    assert sink.send(batch).result(PATIENCE_SECS) == ()
                    break
                except ReconnectError:
                    sink.close()
                    connect(sink)
            assert not to_peer.cutting
        assert first_occurrences(taken) == list(range(100))
    finally:
        del hub.send, hub.send_many
        sink.close()


def test_pushes_to_us_that_are_cut_come_again(behind_proxies: tuple[Orb, ServiceHost, Proxy, Proxy]) -> None:
    """Persistent events, of a service that retries: cut on their way in, or their answers on the way out."""
    orb, host, _, to_us = behind_proxies
    source = CosNotificationSource(orb, endpoint(host.factory_ior), channel())
    sink = CosNotificationSink(orb, endpoint(host.factory_ior), channel())
    connect(source)
    connect(sink)
    try:
        numbers: list[int] = []
        for start in range(0, 30, 10):
            to_us.cut_after(900)
            assert sink.send(outgoing(range(start, start + 10), persistent=True)).result(PATIENCE_SECS) == ()
            numbers += received(source, start + 9)
        assert first_occurrences(numbers) == list(range(30))
    finally:
        sink.close()
        source.close()


def test_a_peer_that_accepts_and_never_answers(orb: Orb) -> None:
    with Proxy(None) as mute:
        for end in (CosNotificationSource, CosNotificationSink):
            silent = endpoint(f"corbaloc::{mute.address}/NotifyEventChannelFactory").model_copy(
                update={"call_timeout_ms": 300}
            )
            with pytest.raises(ReconnectError) as caught:
                end(orb, silent, channel()).connect()
            assert caught.value.code == "COR-TIMEOUT"
