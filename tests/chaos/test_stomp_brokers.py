"""A link to a real broker that is killed (-9) and restarted while persistent messages pass: every one arrives."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable

import pytest

from adapters.base import ReconnectError
from adapters.memory.connection import MemoryPeer
from adapters.memory.settings import MemoryChannel
from adapters.memory.sink import MemorySink
from adapters.memory.source import MemorySource
from adapters.settings_base import BackOff
from adapters.stomp.settings import StompChannel
from adapters.stomp.sink import StompSink
from adapters.stomp.source import StompSource
from gateway.links.link import Link, Pace
from gateway.links.observer import SilentObserver
from mappings.model import Body, Headers, Message, MessageProperty
from tests.contract.wires.stomp_brokers import endpoint
from tests.parts.broker import Broker
from tests.unit.links.rig import Recorder, as_it_is

COUNT = 5_000
WINDOW = 500
PACE = Pace(
    window=WINDOW,
    batch=100,
    sink_back_off=BackOff(first_ms=50, longest_ms=500),
    source_back_off=BackOff(first_ms=50, longest_ms=500),
)
CHANNEL = StompChannel(endpoint="broker", destination="queue://chaos")
PATIENCE_SECS = 60.0


def message(number: int) -> Message:
    return Message(Headers(), (MessageProperty("n", "int", number),), Body("TextMessage", f"{number} " + "x" * 500))


def number(payload: object) -> int:
    assert isinstance(payload, Message)
    return int(str(payload.body.value).split()[0])


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["activemq", "artemis"])
def test_a_killed_broker_loses_nothing_that_a_sink_sends(start_broker: Callable[..., Broker], kind: str) -> None:
    broker = start_broker(kind)
    inlet, recorder = MemoryPeer(), Recorder()
    inlet.put("in", [message(n) for n in range(COUNT)])
    source = MemorySource(inlet, MemoryChannel(endpoint="in", name="in", form="message"))
    link = Link("chaos", source, StompSink(endpoint(broker), CHANNEL), as_it_is, recorder, SilentObserver(), PACE)
    link.start()
    try:
        for share in (0.2, 0.6):
            wait_until(lambda share=share: link.balance().delivered >= COUNT * share)  # type: ignore[misc]
            time.sleep(random.random() * 0.02)
            broker.kill()
            broker.start()
        wait_until(lambda: link.balance().delivered == COUNT)
    finally:
        link.stop()
        assert link.join(PATIENCE_SECS)
    assert recorder.letters == []
    arrived = Counter(drained(broker))
    assert set(arrived) == set(range(COUNT))
    twice = sum(count - 1 for count in arrived.values())
    if kind == "artemis":
        assert twice == 0, "the broker drops what carries an id that it has seen"
    assert twice <= 2 * WINDOW, "only what was in flight at a kill may come twice"


def drained(broker: Broker) -> list[int]:
    source = StompSource(endpoint(broker), CHANNEL)
    source.connect()
    got: list[int] = []
    try:
        while deliveries := source.receive(1000, 2.0):
            got += [number(d.payload) for d in deliveries]
            source.acknowledge(deliveries)
    finally:
        source.close()
    return got


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["activemq", "artemis"])
def test_a_killed_broker_loses_nothing_that_a_source_takes(start_broker: Callable[..., Broker], kind: str) -> None:
    broker = start_broker(kind)
    feed(broker)
    outlet, recorder = MemoryPeer(), Recorder()
    sink = MemorySink(outlet, MemoryChannel(endpoint="out", name="out", form="message"))
    link = Link("chaos", StompSource(endpoint(broker), CHANNEL), sink, as_it_is, recorder, SilentObserver(), PACE)
    link.start()
    try:
        for share in (0.2, 0.6):
            wait_until(lambda share=share: link.balance().delivered >= COUNT * share)  # type: ignore[misc]
            broker.kill()
            broker.start()
        wait_until(lambda: len({number(p) for p in outlet.contents("out")}) == COUNT)
    finally:
        link.stop()
        assert link.join(PATIENCE_SECS)
    assert recorder.letters == []
    assert {number(p) for p in outlet.contents("out")} == set(range(COUNT))


def feed(broker: Broker) -> None:
    inlet = MemoryPeer()
    inlet.put("in", [message(n) for n in range(COUNT)])
    source = MemorySource(inlet, MemoryChannel(endpoint="in", name="in", form="message"))
    link = Link("feed", source, StompSink(endpoint(broker), CHANNEL), as_it_is, Recorder(), SilentObserver(), PACE)
    link.start()
    wait_until(lambda: link.balance().delivered == COUNT)
    link.stop()
    assert link.join(PATIENCE_SECS)


@pytest.mark.parametrize("kind", ["activemq", "artemis"])
def test_a_changed_password_is_told_and_mended(start_broker: Callable[..., Broker], kind: str) -> None:
    broker = start_broker(kind)
    ours = endpoint(broker)
    broker.set_password("another")
    sink = StompSink(ours, CHANNEL)
    with pytest.raises(ReconnectError) as caught:
        sink.connect()
    assert caught.value.code == "STO-LOGIN"
    assert "open-sesame" not in str(caught.value)
    broker.set_password("open-sesame")
    wait_until(lambda: connects(sink))
    sink.close()


def connects(sink: StompSink) -> bool:
    try:
        sink.connect()
    except ReconnectError as error:
        assert error.code == "STO-LOGIN"  # noqa: PT017 - tried until the broker has read its new file
        return False
    return True


@pytest.mark.parametrize("kind", ["activemq", "artemis"])
def test_a_frozen_broker_is_noticed(start_broker: Callable[..., Broker], kind: str) -> None:
    broker = start_broker(kind)
    source = StompSource(endpoint(broker, heartbeat_ms=500), CHANNEL)
    source.connect()
    try:
        broker.freeze()
        with pytest.raises(ReconnectError) as caught:
            receive_until_it_fails(source)
        assert caught.value.code == "STO-SILENT"
    finally:
        broker.thaw()
        source.close()


def receive_until_it_fails(source: StompSource) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while time.monotonic() < deadline:
        source.receive(10, 0.5)
