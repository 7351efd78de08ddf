"""A stand-in queue manager with IN, OUT, a backout queue and the dead-letter queue; sources and sinks that end with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from adapters.base import Delivery, Outgoing
from adapters.mq.sink import MqSink
from adapters.mq.source import MqSource
from adapters.mq.standin.manager import StandInQueueManager
from mappings.model import Body, Headers, Message
from tests.contract.wires.mq import channel_of, endpoint_of, find_pymqi, stand_in

PATIENCE_SECS = 20.0
MakeSource = Callable[..., MqSource]
MakeSink = Callable[..., MqSink]


def text(content: str, headers: Headers | None = None) -> Message:
    return Message(headers or Headers(), (), Body("TextMessage", content))


def texts(deliveries: list[Delivery]) -> list[Any]:
    return [d.payload.body.value if isinstance(d.payload, Message) else d.error for d in deliveries]


def bodies(manager: StandInQueueManager, queue: str) -> list[bytes]:
    return [message.data for message in manager.queues[queue].messages]


def receive(source: MqSource, count: int) -> list[Delivery]:
    """That many deliveries, however many calls it takes."""
    got: list[Delivery] = []
    while len(got) < count:
        more = source.receive(count - len(got), PATIENCE_SECS)
        assert more, f"{len(got)} of {count}"
        got += more
    return got


@pytest.fixture
def manager() -> Iterator[StandInQueueManager]:
    with stand_in(BACKOUT={}) as made:
        yield made


@pytest.fixture(params=["ibmmq", "pymqi"])
def library(request: pytest.FixtureRequest) -> str:
    """What sources and sinks are tested with: each of the two."""
    if request.param == "pymqi":
        find_pymqi()
    return str(request.param)


@pytest.fixture
def make_source(manager: StandInQueueManager, library: str) -> Iterator[MakeSource]:
    with ExitStack() as ends:

        def make(queue: str | None = "IN", **settings: Any) -> MqSource:
            source = MqSource(endpoint_of(manager, library=library), channel_of(queue, **settings))  # type: ignore[arg-type]
            ends.callback(source.close)
            source.connect()
            return source

        yield make


@pytest.fixture
def make_sink(manager: StandInQueueManager, library: str) -> Iterator[MakeSink]:
    with ExitStack() as ends:

        def make(queue: str | None = "OUT", **settings: Any) -> MqSink:
            sink = MqSink(endpoint_of(manager, library=library), channel_of(queue, **settings))  # type: ignore[arg-type]
            ends.callback(sink.close)
            sink.connect()
            return sink

        yield make


@pytest.fixture
def put(make_sink: MakeSink) -> Callable[..., None]:
    """Messages onto a queue, each with an id of its own."""
    numbers = iter(range(1_000_000))

    def put_all(*messages: Message | str, queue: str = "IN") -> None:
        sink = make_sink(queue)
        batch = [Outgoing(text(m) if isinstance(m, str) else m, f"put-{next(numbers)}") for m in messages]
        assert sink.send(batch).result(PATIENCE_SECS) == ()
        sink.close()

    return put_all
