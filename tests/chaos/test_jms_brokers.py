"""Links to real brokers through their JMS clients: workers are killed (-9) while messages pass, brokers refuse, fill up, freeze.

That brokers are killed: test_killed_brokers.py.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable

import pytest

from adapters.base import Outgoing, ReconnectError, Sink, Source
from adapters.jms.settings import JmsChannel
from adapters.jms.sink import JmsSink
from adapters.jms.source import JmsSource
from adapters.memory.connection import MemoryPeer
from adapters.memory.settings import MemoryChannel
from adapters.memory.sink import MemorySink
from adapters.memory.source import MemorySource
from adapters.settings_base import BackOff
from gateway.links.link import Link, Pace
from gateway.links.observer import SilentObserver
from mappings.model import Body, Headers, Message, MessageProperty
from tests.contract.wires.jms_brokers import endpoint
from tests.parts.broker import Broker
from tests.unit.links.rig import Recorder, as_it_is

COUNT = 3_000
WINDOW = 500
QUICK = BackOff(first_ms=50, longest_ms=500)
PACE = Pace(window=WINDOW, batch=100, sink_back_off=QUICK, source_back_off=QUICK)
PATIENCE_SECS = 60.0
KINDS = pytest.mark.parametrize("kind", ["activemq", "artemis"])


def channel(name: str) -> JmsChannel:
    return JmsChannel(endpoint="broker", destination=f"queue://{name}", receive_batch=WINDOW)


def message(number: int) -> Message:
    return Message(Headers(), (MessageProperty("n", "int", number),), Body("TextMessage", "x" * 500))


def number(payload: object) -> int:
    assert isinstance(payload, Message)
    return next(int(field.value) for field in payload.properties if field.name == "n")


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def worker_pid(end: JmsSource | JmsSink) -> int:
    wait_until(lambda: end._connection is not None)
    assert end._connection is not None
    return end._connection.worker.pid


def through_sink(sink: JmsSink, hurt: Callable[[], None]) -> None:
    """COUNT messages from memory to the sink; `hurt` is called on the way."""
    inlet, recorder = MemoryPeer(), Recorder()
    inlet.put("in", [message(n) for n in range(COUNT)])
    source = MemorySource(inlet, MemoryChannel(endpoint="in", name="in", form="message"))
    run(source, sink, recorder, hurt, lambda delivered: delivered == COUNT)


def through_source(source: JmsSource, hurt: Callable[[], None]) -> list[int]:
    """The same, from the source to memory; what arrived."""
    outlet, recorder = MemoryPeer(), Recorder()
    sink = MemorySink(outlet, MemoryChannel(endpoint="out", name="out", form="message"))
    run(source, sink, recorder, hurt, lambda _: len({number(p) for p in outlet.contents("out")}) == COUNT)
    return [number(payload) for payload in outlet.contents("out")]


def run(source: Source, sink: Sink, recorder: Recorder, hurt: Callable[[], None], done: Callable[[int], bool]) -> None:
    link = Link("chaos", source, sink, as_it_is, recorder, SilentObserver(), PACE)
    link.start()
    try:
        wait_until(lambda: link.balance().delivered >= COUNT * 0.3)
        hurt()
        wait_until(lambda: done(link.balance().delivered))
    finally:
        link.stop()
        assert link.join(PATIENCE_SECS)
    assert recorder.letters == []


def drained(broker: Broker, queue: JmsChannel) -> Counter[int]:
    source = JmsSource(endpoint(broker), queue)
    source.connect()
    got: Counter[int] = Counter()
    while deliveries := source.receive(1000, 1.0):
        got.update(number(delivery.payload) for delivery in deliveries)
        source.acknowledge(deliveries)
    source.close()
    return got


@pytest.mark.slow
@KINDS
def test_a_killed_worker_loses_nothing_either_way(
    request: pytest.FixtureRequest, unique: Callable[[str], str], kind: str
) -> None:
    broker: Broker = request.getfixturevalue(kind)
    queue = channel(unique("worker"))
    sink = JmsSink(endpoint(broker), queue)
    through_sink(sink, lambda: os.kill(worker_pid(sink), signal.SIGKILL))
    source = JmsSource(endpoint(broker), queue)
    taken = Counter(through_source(source, lambda: os.kill(worker_pid(source), signal.SIGKILL)))
    assert set(taken) == set(range(COUNT))
    assert taken.total() - COUNT <= 2 * WINDOW, "only what was in flight at one of the kills may come twice"
    assert drained(broker, queue).total() == 0


@KINDS
def test_a_changed_password_is_told_and_mended(start_broker: Callable[..., Broker], kind: str) -> None:
    broker = start_broker(kind)
    ours = endpoint(broker)
    broker.set_password("another")
    sink = JmsSink(ours, channel("q"))
    with pytest.raises(ReconnectError) as caught:
        sink.connect()
    assert caught.value.code == "JMS-LOGIN"
    assert "open-sesame" not in str(caught.value)
    broker.set_password("open-sesame")
    wait_until(lambda: connects(sink))
    # And while nothing is sent a dead broker shows.
    broker.kill()
    with pytest.raises(ReconnectError):
        check_until_it_fails(sink)
    sink.close()


def connects(sink: JmsSink) -> bool:
    try:
        sink.connect()
    except ReconnectError as error:
        assert error.code == "JMS-LOGIN"  # noqa: PT017 - tried until the broker has read its new file
        return False
    return True


def check_until_it_fails(sink: JmsSink) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while time.monotonic() < deadline:
        sink.check()
        time.sleep(0.02)


def test_a_full_broker_is_tried_again_and_the_order_is_kept(artemis: Broker, unique: Callable[[str], str]) -> None:
    queue, count = channel(unique("full")), 600
    limit(artemis, queue.destination.removeprefix("queue://"), 50_000)
    inlet, recorder = MemoryPeer(), Recorder()
    inlet.put("in", [message(n) for n in range(count)])
    memory = MemorySource(inlet, MemoryChannel(endpoint="in", name="in", form="message"))
    pace = Pace(window=200, batch=20, retry=BackOff(first_ms=20, longest_ms=50))
    link = Link("full", memory, JmsSink(endpoint(artemis), queue), as_it_is, recorder, recorder, pace)
    source = JmsSource(endpoint(artemis), queue)
    source.connect()
    link.start()
    try:
        wait_until(lambda: ("sink", "ready", "JMS-FULL") in recorder.lines)
        got: list[int] = []
        while len(got) < count and (deliveries := source.receive(50, PATIENCE_SECS)):
            got += [number(delivery.payload) for delivery in deliveries]
            source.acknowledge(deliveries)
        assert got == list(range(count))
    finally:
        link.stop()
        assert link.join(PATIENCE_SECS)
        source.close()
    assert recorder.letters == []


def limit(broker: Broker, address: str, size: int) -> None:
    """Artemis' management takes a text with the arguments: this address fails producers when it holds so many bytes."""
    settings = json.dumps({"maxSizeBytes": size, "pageSizeBytes": size // 2, "addressFullMessagePolicy": "FAIL"})
    properties = {"_AMQ_ResourceName": "broker", "_AMQ_OperationName": "addAddressSettings"}
    order = Message(
        Headers(),
        tuple(MessageProperty(name, "String", value) for name, value in properties.items()),
        Body("TextMessage", json.dumps([address, settings])),
    )
    sink = JmsSink(endpoint(broker), channel("activemq.management"))
    sink.connect()
    assert sink.send([Outgoing(order, "limit")]).result(PATIENCE_SECS) == ()
    sink.close()


def test_a_frozen_broker_and_a_frozen_worker_are_noticed(artemis: Broker, unique: Callable[[str], str]) -> None:
    ours, queue = endpoint(artemis, answer_timeout_ms=3000), channel(unique("frozen"))
    sink = JmsSink(ours, queue)
    sink.connect()
    assert sink.send([Outgoing(message(1), "1")]).result(PATIENCE_SECS) == ()
    artemis.freeze()
    try:
        with pytest.raises(ReconnectError) as caught:
            sink.send([Outgoing(message(2), "2")]).result(PATIENCE_SECS)
        assert caught.value.code == "JMS-HUNG"
        sink.close()
    finally:
        artemis.thaw()
    source = JmsSource(ours, queue)
    source.connect()
    os.kill(worker_pid(source), signal.SIGSTOP)
    with pytest.raises(ReconnectError) as caught:
        receive_until_it_fails(source)
    assert caught.value.code == "JMS-HUNG"
    source.close()
    source.connect()
    assert [number(delivery.payload) for delivery in source.receive(1, PATIENCE_SECS)] == [1]
    source.close()


def receive_until_it_fails(source: JmsSource) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while time.monotonic() < deadline:
        source.receive(10, 0.5)
