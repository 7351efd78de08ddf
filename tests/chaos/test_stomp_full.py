"""A full broker that holds producers back: the link waits, says why, loses nothing, and goes on when there is room."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from adapters.embedded_broker import Broker as EmbeddedBroker
from adapters.memory.connection import MemoryPeer
from adapters.memory.settings import MemoryChannel
from adapters.memory.source import MemorySource
from adapters.settings_base import BackOff
from adapters.stomp.settings import StompChannel, StompEndpoint
from adapters.stomp.sink import StompSink
from adapters.stomp.source import StompSource
from gateway.links.link import Link, Pace
from mappings.model import Body, Headers, Message
from tests.contract.wires.stomp import embedded_endpoint
from tests.contract.wires.stomp_brokers import endpoint as endpoint_of
from tests.parts.broker import Broker
from tests.unit.links.rig import Recorder, as_it_is

CHANNEL = StompChannel(endpoint="broker", destination="queue://full.held", prefetch=50)
PATIENCE_SECS = 60.0
COUNT, BATCH, WINDOW = 500, 10, 40
PACE = Pace(
    window=WINDOW,
    batch=BATCH,
    sink_back_off=BackOff(first_ms=50, longest_ms=200),
    source_back_off=BackOff(first_ms=50, longest_ms=200),
)


def message(number: int, size: int) -> Message:
    return Message(Headers(), (), Body("TextMessage", f"{number} " + "x" * size))


def number(payload: object) -> int:
    assert isinstance(payload, Message)
    return int(str(payload.body.value).split()[0])


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@contextmanager
def running(endpoint: StompEndpoint, count: int, size: int) -> Iterator[tuple[Link, Recorder]]:
    inlet, recorder = MemoryPeer(), Recorder()
    inlet.put("in", [message(n, size) for n in range(count)])
    source = MemorySource(inlet, MemoryChannel(endpoint="in", name="in", form="message"))
    link = Link("full", source, StompSink(endpoint, CHANNEL), as_it_is, recorder, recorder, PACE)
    link.start()
    try:
        yield link, recorder
    finally:
        link.stop()
        assert link.join(PATIENCE_SECS)


def reconnects(recorder: Recorder) -> int:
    codes = ("STO-RECEIPT-TIMEOUT", "STO-SEND-TIMEOUT")
    return sum(side == "sink" and code in codes for side, _, code in list(recorder.lines))


def drained(endpoint: StompEndpoint, enough: Callable[[], bool]) -> list[int]:
    source = StompSource(endpoint, CHANNEL)
    source.connect()
    got: list[int] = []
    deadline = time.monotonic() + PATIENCE_SECS
    try:
        while (deliveries := source.receive(50, 1.0)) or not enough():
            assert time.monotonic() < deadline
            got += [number(d.payload) for d in deliveries]
            source.acknowledge(deliveries)
    finally:
        source.close()
    return got


@pytest.fixture
def small() -> Iterator[StompEndpoint]:
    with ExitStack() as ends:
        broker = EmbeddedBroker("127.0.0.1", 0, max_queue_messages=100, heartbeat_ms=200)
        ends.callback(broker.stop)
        yield embedded_endpoint(broker.start(), receipt_timeout_ms=700, heartbeat_ms=300)


def test_the_link_waits_for_the_embedded_broker(small: StompEndpoint) -> None:
    check(small, size=100)


def test_the_link_waits_for_activemq(activemq: Broker) -> None:
    """It stops to read from a producer; every attempt of the link is one more connection that it does not read from."""
    check(endpoint_of(activemq, receipt_timeout_ms=1000), size=2000)


def check(endpoint: StompEndpoint, size: int) -> None:
    with running(endpoint, COUNT, size) as (link, recorder):
        wait_until(lambda: reconnects(recorder) >= 3)
        assert link.balance().delivered < COUNT
        arrived = Counter(drained(endpoint, lambda: link.balance().delivered == COUNT))
        attempts = reconnects(recorder)
    assert recorder.letters == []
    assert set(arrived) == set(range(COUNT))
    twice = sum(arrived.values()) - COUNT
    assert twice <= WINDOW * attempts, "only what was in flight at a reconnect may come twice"
