"""50 000 persistent messages pass through a real broker that is killed (-9) and restarted again and again: every one arrives.

First a link fills a queue of the broker, then another empties it, and the broker is killed twice under each. Which of the two is to
blame for a message that comes twice, its JMSMessageID tells: what a sink has sent again has an id of its own, what the broker has
delivered again keeps its id.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import pytest

from adapters.base import Sink, Source
from adapters.jms.settings import JmsChannel
from adapters.jms.sink import JmsSink
from adapters.jms.source import JmsSource
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
from tests.contract.wires.jms_brokers import endpoint as jms_endpoint
from tests.contract.wires.stomp_brokers import endpoint as stomp_endpoint
from tests.parts.broker import Broker
from tests.unit.links.rig import Recorder, as_it_is

WINDOW = 500
KILLS = 2
QUICK = BackOff(first_ms=50, longest_ms=500)
PACE = Pace(window=WINDOW, batch=100, sink_back_off=QUICK, source_back_off=QUICK)
QUEUE = "queue://chaos"
PATIENCE_SECS = 300.0


class Wire(NamedTuple):
    sink: Callable[[Broker], Sink]
    source: Callable[[Broker], Source]


STOMP = StompChannel(endpoint="broker", destination=QUEUE, prefetch=WINDOW)
JMS = JmsChannel(endpoint="broker", destination=QUEUE, receive_batch=WINDOW)
WIRES = {
    "stomp": Wire(lambda b: StompSink(stomp_endpoint(b), STOMP), lambda b: StompSource(stomp_endpoint(b), STOMP)),
    "jms": Wire(lambda b: JmsSink(jms_endpoint(b), JMS), lambda b: JmsSource(jms_endpoint(b), JMS)),
}


def message(number: int) -> Message:
    return Message(Headers(), (MessageProperty("n", "int", number),), Body("TextMessage", f"{number} " + "x" * 500))


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def passes(broker: Broker, source: Source, sink: Sink, count: int, done: Callable[[Link], bool]) -> None:
    """Run a link from the one to the other, and kill the broker under it."""
    recorder = Recorder()
    link = Link("chaos", source, sink, as_it_is, recorder, SilentObserver(), PACE)
    link.start()
    try:
        for kill in range(KILLS):
            share = (kill + 0.5) / KILLS
            wait_until(lambda share=share: link.balance().delivered >= count * share)  # type: ignore[misc]
            time.sleep(random.random() * 0.02)
            broker.kill()
            broker.start()
        wait_until(lambda: done(link))
    finally:
        link.stop()
        assert link.join(PATIENCE_SECS)
    assert recorder.letters == []


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("wire_kind", "broker_kind", "count"),
    [
        ("stomp", "activemq", 50_000),
        ("stomp", "artemis", 50_000),
        ("jms", "activemq", 50_000),
        ("jms", "artemis", 50_000),
    ],
)
def test_none_is_lost(start_broker: Callable[..., Broker], wire_kind: str, broker_kind: str, count: int) -> None:
    broker, wire = start_broker(broker_kind), WIRES[wire_kind]
    inlet, outlet = MemoryPeer(), MemoryPeer()
    inlet.put("in", [message(number) for number in range(count)])
    filled = MemorySource(inlet, MemoryChannel(endpoint="in", name="in", form="message"))
    passes(broker, filled, wire.sink(broker), count, lambda link: link.balance().delivered == count)

    ids: defaultdict[int, list[str]] = defaultdict(list)
    seen = 0

    def all_there(_: Link) -> bool:
        nonlocal seen
        contents = outlet.contents("out")
        for payload in contents[seen:]:
            assert isinstance(payload, Message)
            ids[int(str(payload.body.value).split()[0])].append(payload.headers.JMSMessageID or "")
        seen = len(contents)
        return len(ids) == count

    taken = MemorySink(outlet, MemoryChannel(endpoint="out", name="out", form="message"))
    passes(broker, wire.source(broker), taken, count, all_there)
    assert set(ids) == set(range(count))
    sent_again = sum(len(set(of_one)) - 1 for of_one in ids.values())
    if broker_kind == "artemis":
        assert sent_again == 0, "the broker drops what carries an id that it has seen"
    assert sent_again <= KILLS * WINDOW, "only what was in flight at a kill may be sent twice"
    delivered_again = sum(len(of_one) - len(set(of_one)) for of_one in ids.values())
    unwritten = 6 if broker_kind == "artemis" else 2  # it says nothing of when acknowledgements are on disk
    assert delivered_again <= KILLS * unwritten * WINDOW, (
        "only what was not acknowledged at a kill may be delivered twice"
    )
