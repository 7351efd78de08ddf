"""MQ to the stand-in queue manager in this process, through the Python parts of the libraries ibmmq and pymqi."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from adapters.base import Outgoing, Payload, Sink, Source
from adapters.mq.settings import MqChannel, MqEndpoint
from adapters.mq.sink import MqSink
from adapters.mq.source import MqSource
from adapters.mq.standin import door
from adapters.mq.standin.manager import StandInQueueManager
from tests.contract.wires.base import Wire
from tests.parts import pymqi_source
from tests.parts.availability import available

_numbers = itertools.count(1)


def endpoint_of(manager: StandInQueueManager, **settings: object) -> MqEndpoint:
    form = {"type": "mq", "queue_manager": manager.name, "stand_in": {}, **settings}
    return MqEndpoint.model_validate(form)


def channel_of(queue: str, **settings: object) -> MqChannel:
    return MqChannel.model_validate({"endpoint": "qm", "queue": queue, **settings})


class MqWire(Wire):
    """Any queue manager that can be fed and drained with a sink and a source of our own."""

    form = "message"

    def __init__(self, endpoint: MqEndpoint, incoming: str = "IN", outgoing: str = "OUT") -> None:
        self.endpoint = endpoint
        self._in = channel_of(incoming, max_batch=500)
        self._out = channel_of(outgoing, max_batch=500)
        self._ids = itertools.count()

    def make_source(self) -> Source:
        return MqSource(self.endpoint, self._in)

    def make_sink(self) -> Sink:
        return MqSink(self.endpoint, self._out)

    def feed(self, payloads: Sequence[Payload]) -> None:
        sink = MqSink(self.endpoint, self._in)
        sink.connect()
        try:
            batch = [Outgoing(payload, f"feed-{next(self._ids)}") for payload in payloads]
            assert sink.send(batch).result(20.0) == ()
        finally:
            sink.close()

    def drain(self, count: int, timeout_secs: float = 20.0) -> list[Payload]:
        source = MqSource(self.endpoint, self._out)
        source.connect()
        try:
            got: list[Payload] = []
            while len(got) < count and (deliveries := source.receive(count - len(got), timeout_secs)):
                source.acknowledge(deliveries)
                got += [delivery.payload for delivery in deliveries if delivery.payload is not None]
            return got
        finally:
            source.close()


class StandInWire(MqWire):
    def __init__(self, manager: StandInQueueManager, **settings: object) -> None:
        super().__init__(endpoint_of(manager, **settings))
        self.manager = manager

    def stop_peer(self) -> None:
        self.manager.stop()

    def start_peer(self) -> None:
        self.manager.start()


@contextmanager
def stand_in(**queues: dict[str, object]) -> Iterator[StandInQueueManager]:
    """A queue manager of a name of its own, with IN, OUT and these queues."""
    manager = StandInQueueManager(f"QM.{next(_numbers)}")
    for name, attributes in {"IN": {}, "OUT": {}, **queues}.items():
        manager.define(name, **attributes)
    door.register(manager)
    try:
        yield manager
    finally:
        manager.stop()
        door.unregister(manager)


@contextmanager
def in_process() -> Iterator[Wire]:
    with stand_in() as manager:
        yield StandInWire(manager)


def find_pymqi() -> None:
    folder = str(available(pymqi_source.fetch))
    if folder not in sys.path:
        sys.path.append(folder)


@contextmanager
def in_process_pymqi() -> Iterator[Wire]:
    find_pymqi()
    with stand_in() as manager:
        yield StandInWire(manager, library="pymqi")
