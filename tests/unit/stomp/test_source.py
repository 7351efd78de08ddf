"""What the STOMP source does beyond the contract."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from adapters.base import Delivery
from adapters.stomp.settings import StompChannel
from adapters.stomp.source import StompSource
from mappings.model import Message
from tests.contract.wires.stomp import embedded_endpoint
from tests.unit.stomp.raw_client import RawClient


@contextmanager
def connected(address: str, **channel: object) -> Iterator[StompSource]:
    settings = StompChannel.model_validate({"endpoint": "broker", "destination": "queue://in", **channel})
    source = StompSource(embedded_endpoint(address), settings)
    source.connect()
    try:
        yield source
    finally:
        source.close()


def receive(source: StompSource, count: int) -> list[Delivery]:
    got: list[Delivery] = []
    while len(got) < count and (more := source.receive(count - len(got), 20.0)):
        got += more
    return got


def body(delivery: Delivery) -> object:
    assert isinstance(delivery.payload, Message)
    return delivery.payload.body.value


def test_headers_persistence_and_original(address: str, client: RawClient) -> None:
    client.send("SEND", b"x", destination="/queue/in", persistent="true", priority="7", type="Alarm", a="1")
    client.send("SEND", b"y", destination="/queue/in")
    with connected(address) as source:
        first, second = receive(source, 2)
        assert (first.persistent, second.persistent) == (True, False)
        assert isinstance(first.payload, Message)
        assert first.payload.headers.JMSPriority == 7
        assert first.payload.headers.JMSDestination == "queue://in"
        assert first.payload.headers.JMSMessageID == first.id
        assert [(p.name, p.type, p.value) for p in first.payload.properties] == [("a", "String", "1")]
        assert first.original is not None
        assert first.original.endswith(b"\n\nx\0")


@pytest.mark.parametrize("headers", [{"priority": "high"}, {"$body": "map"}, {"timestamp": "noon"}])
def test_what_cannot_be_read_is_a_delivery_with_an_error_and_can_be_settled(
    address: str, client: RawClient, headers: dict[str, str]
) -> None:
    client.send("SEND", b"x", destination="/queue/in", **headers)
    client.send("SEND", b"good", destination="/queue/in")
    with connected(address) as source:
        bad, good = receive(source, 2)
        assert bad.payload is None
        assert bad.error is not None
        assert bad.error.code == "STO-DECODE"
        assert bad.original is not None
        assert body(good) == "good"
        source.acknowledge([bad, good])
    with connected(address) as source:
        assert source.receive(1, 0.2) == []


def test_prefetch_bounds_what_is_held(address: str, client: RawClient) -> None:
    for n in range(10):
        client.send("SEND", b"%d" % n, destination="/queue/in")
    with connected(address, prefetch=3) as source:
        first = receive(source, 3)
        assert source.receive(10, 0.2) == []
        source.acknowledge(first[1:2])
        assert [body(d) for d in source.receive(10, 20.0)] == ["3"]


def test_each_delivery_is_acknowledged_once(address: str, client: RawClient) -> None:
    client.send("SEND", b"x", destination="/queue/in")
    with connected(address) as source:
        deliveries = receive(source, 1)
        source.acknowledge(deliveries)
        source.acknowledge(deliveries)  # a broker would answer a second ACK with ERROR
        client.send("SEND", b"y", destination="/queue/in")
        assert [body(d) for d in receive(source, 1)] == ["y"]


def test_released_deliveries_come_again_in_order_and_marked(address: str, client: RawClient) -> None:
    for n in range(3):
        client.send("SEND", b"%d" % n, destination="/queue/in")
    with connected(address, prefetch=3) as source:
        first = receive(source, 3)
        source.release(first)
        again = receive(source, 3)
        assert [body(d) for d in again] == ["0", "1", "2"]
        assert all(d.redelivered for d in again)
        assert [d.id for d in again] == [d.id for d in first]


def test_a_durable_subscription_misses_nothing_between_connections(address: str, client: RawClient) -> None:
    durable = {"destination": "topic://news", "subscription": "gateway"}
    with connected(address, **durable):
        pass
    client.send("SEND", b"while away", destination="/topic/news", receipt="r")
    client.receipt("r")
    with connected(address, **durable) as source:
        assert [body(d) for d in receive(source, 1)] == ["while away"]
