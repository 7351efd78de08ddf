"""Patterns of topics as sources (RULES section 10), on every broker: the same topics, whatever its own wildcards mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from adapters.base import Outgoing
from adapters.stomp.settings import StompChannel, StompEndpoint
from adapters.stomp.sink import StompSink
from adapters.stomp.source import StompSource
from mappings.model import Body, Headers, Message
from tests.contract.wires.stomp import BrokerProcess, embedded_endpoint
from tests.contract.wires.stomp_brokers import endpoint as endpoint_of
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
BROKERS = [
    "embedded",
    pytest.param("activemq", marks=pytest.mark.java),
    pytest.param("artemis", marks=pytest.mark.java),
    pytest.param("rabbitmq", marks=pytest.mark.rabbitmq),
]


@pytest.fixture(params=BROKERS)
def endpoint(request: pytest.FixtureRequest) -> Iterator[StompEndpoint]:
    if request.param != "embedded":
        yield endpoint_of(request.getfixturevalue(request.param))
        return
    process = BrokerProcess()
    process.start()
    try:
        yield embedded_endpoint(process.address)
    finally:
        process.kill()


def source(ends: ExitStack, endpoint: StompEndpoint, destination: str, **settings: object) -> StompSource:
    form = {"endpoint": "broker", "destination": destination, **settings}
    made = StompSource(endpoint, StompChannel.model_validate(form))
    made.connect()
    ends.callback(made.close)
    return made


def publish(endpoint: StompEndpoint, topics: list[str]) -> None:
    """One message to each, whose text is the topic's name."""
    sink = StompSink(endpoint, StompChannel(endpoint="broker", destination="topic://unused"))
    sink.connect()
    try:
        batch = [
            Outgoing(Message(Headers(), (), Body("TextMessage", topic)), topic, f"topic://{topic}") for topic in topics
        ]
        assert sink.send(batch).result(20.0) == ()
    finally:
        sink.close()


def test_a_pattern_stands_for_the_same_topics_on_every_broker(endpoint: StompEndpoint, unique: Unique) -> None:
    """The topics are new: nobody has sent to them before the subscriptions were made."""
    root = unique("root").replace("-", "_")
    with ExitStack() as ends:
        sources = {pattern: source(ends, endpoint, f"topic://{root}{pattern}") for pattern in PATTERNS}
        publish(endpoint, [f"{root}x.1", root.upper(), *(root + below for below in BELOW), f"other.{root}.1"])
        for pattern, expected in PATTERNS.items():
            deliveries = received(sources[pattern], len(expected))
            sources[pattern].acknowledge(deliveries)
            messages = [message_of(delivery) for delivery in deliveries]
            assert [m.body.value for m in messages] == [root + below for below in expected], pattern
            assert [m.headers.JMSDestination for m in messages] == [f"topic://{root}{below}" for below in expected]
        assert [pattern for pattern, made in sources.items() if made.receive(1, 0.05)] == []


def test_what_does_not_match_never_comes_again(endpoint: StompEndpoint, unique: Unique) -> None:
    root, name = unique("root"), unique("subscription")
    destination = f"topic://{root}.*.1"
    with ExitStack() as ends:
        source(ends, endpoint, destination, subscription=name)
    publish(endpoint, [f"{root}.2.2", f"{root}.2.1", *[f"{root}.2.{n}" for n in range(3, 30)]])
    with ExitStack() as ends:
        taking = source(ends, endpoint, destination, subscription=name, prefetch=5)
        [delivery] = received(taking, 1)
        assert message_of(delivery).body.value == f"{root}.2.1"
        taking.acknowledge([delivery])
        assert taking.receive(1, 0.5) == []
    with ExitStack() as ends:
        assert source(ends, endpoint, destination, subscription=name).receive(1, 0.3) == []


def test_a_wake_reaches_a_source_that_hears_only_strangers(endpoint: StompEndpoint, unique: Unique) -> None:
    root = unique("root")
    with ExitStack() as ends:
        taking = source(ends, endpoint, f"topic://{root}.*.1")
        publish(endpoint, [f"{root}.2.2"])
        taking.wake()
        assert taking.receive(1, 100.0) == []
