"""Patterns of topics as sources (RULES section 10), on every broker: the same topics, whatever its own wildcards mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import NamedTuple

import pytest

from adapters.base import Outgoing, Sink, Source
from adapters.jms.settings import JmsChannel, JmsEndpoint
from adapters.jms.sink import JmsSink
from adapters.jms.source import JmsSource
from adapters.stomp.settings import StompChannel, StompEndpoint
from adapters.stomp.sink import StompSink
from adapters.stomp.source import StompSource
from mappings.model import Body, Headers, Message
from tests.contract.wires.jms_brokers import endpoint as jms_endpoint
from tests.contract.wires.stomp import BrokerProcess, embedded_endpoint
from tests.contract.wires.stomp_brokers import endpoint as stomp_endpoint
from tests.interop.stomp_talk import message_of, received

Unique = Callable[[str], str]

BELOW = ("", ".1", ".2", ".1.1", ".1.1.1", ".2.1", ".1.2", ".1.2.3")
PATTERNS = {
    ".*": BELOW,
    ".*.1": (".1.1", ".1.1.1", ".2.1"),
    ".#": (".1", ".2"),
    ".#.1": (".1.1", ".2.1"),
    ".#.*": (".1.1", ".1.1.1", ".2.1", ".1.2", ".1.2.3"),
    ".*.2.*": (".1.2.3",),
    ".1": (".1",),
}
FOR_JMS = (".*", ".*.1", ".#", ".#.*")  # each source is a JVM: those that brokers differ in
WIRES = [
    "stomp-embedded",
    pytest.param("stomp-activemq", marks=pytest.mark.java),
    pytest.param("stomp-artemis", marks=pytest.mark.java),
    pytest.param("stomp-rabbitmq", marks=pytest.mark.rabbitmq),
    pytest.param("jms-activemq", marks=pytest.mark.java),
    pytest.param("jms-artemis", marks=pytest.mark.java),
]


class Wire(NamedTuple):
    """Makes the ends for one broker."""

    source: Callable[..., Source]  # of a channel's settings
    sink: Sink
    patterns: tuple[str, ...]
    small: str  # the setting that bounds what is taken ahead


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> Iterator[Wire]:
    kind, _, broker = request.param.partition("-")
    form = {"endpoint": "broker", "destination": "topic://unused"}
    if kind == "jms":
        yield jms_wire(jms_endpoint(request.getfixturevalue(broker)), form)
    elif broker != "embedded":
        yield stomp_wire(stomp_endpoint(request.getfixturevalue(broker)), form)
    else:
        process = BrokerProcess()
        process.start()
        try:
            yield stomp_wire(embedded_endpoint(process.address), form)
        finally:
            process.kill()


def stomp_wire(endpoint: StompEndpoint, form: dict[str, str]) -> Wire:
    def source(**settings: object) -> StompSource:
        return StompSource(endpoint, StompChannel.model_validate({**form, **settings}))

    return Wire(source, StompSink(endpoint, StompChannel.model_validate(form)), tuple(PATTERNS), "prefetch")


def jms_wire(endpoint: JmsEndpoint, form: dict[str, str]) -> Wire:
    def source(**settings: object) -> JmsSource:
        return JmsSource(endpoint, JmsChannel.model_validate({**form, **settings}))

    return Wire(source, JmsSink(endpoint, JmsChannel.model_validate(form)), FOR_JMS, "receive_batch")


def source(ends: ExitStack, wire: Wire, destination: str, **settings: object) -> Source:
    made = wire.source(destination=destination, **settings)
    made.connect()
    ends.callback(made.close)
    return made


def publish(wire: Wire, topics: list[str]) -> None:
    """One message to each, whose text is the topic's name."""
    wire.sink.connect()
    try:
        batch = [
            Outgoing(Message(Headers(), (), Body("TextMessage", topic)), topic, f"topic://{topic}") for topic in topics
        ]
        assert wire.sink.send(batch).result(20.0) == ()
    finally:
        wire.sink.close()


def test_a_pattern_stands_for_the_same_topics_on_every_broker(wire: Wire, unique: Unique) -> None:
    """The topics are new: nobody has sent to them before the subscriptions were made."""
    root = unique("root").replace("-", "_")
    with ExitStack() as ends:
        sources = {pattern: source(ends, wire, f"topic://{root}{pattern}") for pattern in wire.patterns}
        publish(wire, [f"{root}x.1", root.upper(), *(root + below for below in BELOW), f"other.{root}.1"])
        for pattern in wire.patterns:
            expected = PATTERNS[pattern]
            deliveries = received(sources[pattern], len(expected))
            sources[pattern].acknowledge(deliveries)
            messages = [message_of(delivery) for delivery in deliveries]
            assert [m.body.value for m in messages] == [root + below for below in expected], pattern
            assert [m.headers.JMSDestination for m in messages] == [f"topic://{root}{below}" for below in expected]
        assert [pattern for pattern, made in sources.items() if made.receive(1, 0.05)] == []


def test_what_does_not_match_never_comes_again(wire: Wire, unique: Unique) -> None:
    root, name = unique("root"), unique("subscription")
    destination = f"topic://{root}.*.1"
    with ExitStack() as ends:
        source(ends, wire, destination, subscription=name)
    publish(wire, [f"{root}.2.2", f"{root}.2.1", *[f"{root}.2.{n}" for n in range(3, 30)]])
    with ExitStack() as ends:
        taking = source(ends, wire, destination, subscription=name, **{wire.small: 5})
        [delivery] = received(taking, 1)
        assert message_of(delivery).body.value == f"{root}.2.1"
        taking.acknowledge([delivery])
        assert taking.receive(1, 0.5) == []
    with ExitStack() as ends:
        assert source(ends, wire, destination, subscription=name).receive(1, 0.3) == []


def test_a_wake_reaches_a_source_that_hears_only_strangers(wire: Wire, unique: Unique) -> None:
    root = unique("root")
    with ExitStack() as ends:
        taking = source(ends, wire, f"topic://{root}.*.1")
        publish(wire, [f"{root}.2.2"])
        taking.wake()
        assert taking.receive(1, 100.0) == []
