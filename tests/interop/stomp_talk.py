"""Sending to and receiving from a real broker over our STOMP wire, in a line each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from adapters.base import Delivery, Outgoing, Source
from adapters.stomp.settings import StompChannel
from adapters.stomp.sink import StompSink
from adapters.stomp.source import StompSource
from mappings.model import Body, Headers, Message
from tests.contract.wires.stomp_brokers import endpoint
from tests.parts.broker_part import BrokerPart

PATIENCE_SECS = 20.0


@contextmanager
def source_on(broker: BrokerPart, destination: str, **channel: object) -> Iterator[StompSource]:
    settings = StompChannel.model_validate({"endpoint": "broker", "destination": destination, **channel})
    source = StompSource(endpoint(broker), settings)
    source.connect()
    try:
        yield source
    finally:
        source.close()


def received(source: Source, count: int) -> list[Delivery]:
    got: list[Delivery] = []
    deadline = time.monotonic() + PATIENCE_SECS
    while len(got) < count and time.monotonic() < deadline:
        got += source.receive(count - len(got), 1.0)
    assert len(got) == count
    return got


def message_of(delivery: Delivery) -> Message:
    assert isinstance(delivery.payload, Message), delivery.error
    return delivery.payload


def send(broker: BrokerPart, destination: str, *messages: Message, to: str | None = None) -> None:
    sink = StompSink(endpoint(broker), StompChannel(endpoint="broker", destination=destination))
    sink.connect()
    try:
        batch = [Outgoing(message, f"{destination}#{time.time()}#{n}", to) for n, message in enumerate(messages)]
        assert sink.send(batch).result(60.0) == ()
    finally:
        sink.close()


def given_up(broker: BrokerPart, unique: Callable[[str], str]) -> None:
    """A durable subscription is gone with what waited in it, and another one to the same topic stays."""
    topic, gone, kept = f"topic://{unique('news')}", unique("gone"), unique("kept")
    for name in (gone, kept):
        with source_on(broker, topic, subscription=name):
            pass
    send(broker, topic, Message(Headers(), (), Body("TextMessage", "before")))
    StompSource(endpoint(broker), StompChannel(endpoint="broker", destination=topic, subscription=gone)).unsubscribe()
    send(broker, topic, Message(Headers(), (), Body("TextMessage", "after")))
    with source_on(broker, topic, subscription=kept) as source:
        both = received(source, 2)
        source.acknowledge(both)
        assert [message_of(delivery).body.value for delivery in both] == ["before", "after"]
    with source_on(broker, topic, subscription=gone) as source:  # a new one under its name
        assert source.receive(1, 0.5) == []
    for name in (gone, kept):
        StompSource(
            endpoint(broker), StompChannel(endpoint="broker", destination=topic, subscription=name)
        ).unsubscribe()
