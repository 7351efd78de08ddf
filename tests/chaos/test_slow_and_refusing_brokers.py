"""Real brokers that stop again and again for moments, or that forbid: over STOMP, and by their own clients."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from adapters.base import Outgoing, ReconnectError, Sink, Source
from adapters.jms.settings import JmsChannel
from adapters.jms.sink import JmsSink
from adapters.jms.source import JmsSource
from adapters.memory.connection import MemoryPeer
from adapters.memory.settings import MemoryChannel
from adapters.memory.sink import MemorySink
from adapters.memory.source import MemorySource
from adapters.stomp.settings import StompChannel
from adapters.stomp.sink import StompSink
from adapters.stomp.source import StompSource
from gateway.links.link import Link, Pace
from mappings.model import Body, Headers, Message
from tests.contract.wires.jms_brokers import endpoint as jms_endpoint
from tests.contract.wires.stomp_brokers import endpoint as stomp_endpoint
from tests.parts.broker import Broker
from tests.unit.links.rig import Recorder, as_it_is, wait_for

COUNT = 1000
STOPPED_SECS, RUNNING_SECS = 0.1, 0.05
WIRES = pytest.mark.parametrize("wire", ["stomp", "jms"])


def sink_to(broker: Broker, wire: str, queue: str) -> Sink:
    if wire == "jms":
        return JmsSink(jms_endpoint(broker), JmsChannel(endpoint="broker", destination=queue))
    return StompSink(stomp_endpoint(broker), StompChannel(endpoint="broker", destination=queue))


def source_from(broker: Broker, wire: str, queue: str) -> Source:
    if wire == "jms":
        return JmsSource(jms_endpoint(broker), JmsChannel(endpoint="broker", destination=queue))
    return StompSource(stomp_endpoint(broker), StompChannel(endpoint="broker", destination=queue))


@contextmanager
def stuttering(broker: Broker) -> Iterator[None]:
    """It runs for a third of the time only."""
    ended = threading.Event()

    def stutter() -> None:
        while not ended.wait(RUNNING_SECS):
            broker.freeze()
            ended.wait(STOPPED_SECS)
            broker.thaw()

    thread = threading.Thread(target=stutter)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@WIRES
def test_a_broker_that_stutters_costs_time_and_nothing_else(
    broker: Broker, unique: Callable[[str], str], wire: str
) -> None:
    queue, inlet, outlet = f"queue://{unique('slow')}", MemoryPeer(), MemoryPeer()
    inlet.put("in", [Message(Headers(), (), Body("TextMessage", str(n))) for n in range(COUNT)])
    recorder, pace = Recorder(), Pace(window=200, batch=20)
    taken = MemorySource(inlet, MemoryChannel(endpoint="in", name="in", form="message"))
    given = MemorySink(outlet, MemoryChannel(endpoint="out", name="out", form="message"))
    links = [
        Link("there", taken, sink_to(broker, wire, queue), as_it_is, recorder, recorder, pace),
        Link("back", source_from(broker, wire, queue), given, as_it_is, recorder, recorder, pace),
    ]
    for link in links:
        link.start()
    try:
        wait_for(lambda: all(link.status().sink == link.status().source == "ready" for link in links))
        with stuttering(broker):
            wait_for(lambda: links[1].balance().delivered >= COUNT)
    finally:
        for link in links:
            link.stop()
        assert all(link.join(30.0) for link in links)
    arrived = [payload.body.value for payload in outlet.contents("out") if isinstance(payload, Message)]
    assert arrived == [str(n) for n in range(COUNT)], "in order, none twice: no connection was given up"
    assert recorder.letters == []


@WIRES
def test_what_a_broker_forbids_is_told_and_accuses_no_message(
    artemis: Broker, unique: Callable[[str], str], wire: str
) -> None:
    code, subscribing = ("JMS-ACCESS", "JMS-ACCESS") if wire == "jms" else ("STO-SEND", "STO-SUBSCRIBE")
    forbidden = f"queue://forbidden.{unique('queue')}"
    source = source_from(artemis, wire, forbidden)
    with pytest.raises(ReconnectError) as caught:
        source.connect()
    source.close()
    assert caught.value.code == subscribing, caught.value
    sink = sink_to(artemis, wire, forbidden)
    for _ in range(3):  # a message that was to blame would be a dead letter by then
        sink.connect()
        try:
            with pytest.raises(ReconnectError) as caught:
                sink.send([Outgoing(Message(body=Body("TextMessage", "x")), "id-1")]).result(20.0)
        finally:
            sink.close()
        assert caught.value.code == code, caught.value
