"""A source and a sink whose worker is slow to read: the supervisor, who reads what the worker says, must not wait for them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures import ThreadPoolExecutor as Pool
from typing import Any

import pytest

from adapters.base import Outgoing, ReconnectError
from adapters.cosnotification.left_behind import LeftBehind
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint, OrbSettings
from adapters.cosnotification.sink import CosNotificationSink
from adapters.cosnotification.source import CosNotificationSource
from adapters.cosnotification.worker.parcels import NumberedTypes, TypeNumbers
from adapters.cosnotification.worker.told import told
from mappings.idl_types import ANY, LONG
from mappings.model import Any_, Property, StructuredEvent

PATIENCE_SECS = 10.0
ENDPOINT = CosNotificationEndpoint(type="cosnotification", factory="corbaloc::h:1/f")
CHANNEL = CosNotificationChannel(endpoint="peer", channel=0, buffer=64)
EVENT = StructuredEvent("d", "t", "n", (), (Property("p", LONG, 1),))


class FullWorker:
    """Whoever writes to it waits until `room`."""

    def __init__(self) -> None:
        self.room = threading.Event()
        self.waited_for = threading.Event()
        self.types_out = TypeNumbers(lambda number, data: self.post("types"))
        self.types_in = NumberedTypes()
        self.packs = TypeNumbers(self.types_in.add)

    def post(self, *frame: Any) -> None:
        self.waited_for.set()
        assert self.room.wait(PATIENCE_SECS)

    def post_packed(self, frame: bytes) -> None:
        self.post(frame)

    def call(self, name: str, *arguments: Any) -> Future[Any]:
        answer: Future[Any] = Future()
        answer.set_result(0)
        return answer


class OneWorker:
    """In place of the Orb."""

    def __init__(self) -> None:
        self.settings = OrbSettings()
        self.left_behind = LeftBehind()
        self.worker: Any = FullWorker()

    def attach(self, end: object) -> tuple[int, Any]:
        return 1, self.worker

    def detach(self, number: int) -> None: ...


@pytest.fixture
def orb() -> Iterator[Any]:
    orb = OneWorker()
    yield orb
    orb.worker.room.set()


@pytest.fixture
def threads() -> Iterator[Pool]:
    with Pool() as threads:
        yield threads


def arrive(source: CosNotificationSource, worker: Any, first: int, count: int, *, persistent: bool) -> None:
    contents = [(persistent, worker.packs.parcel(EVENT), None, None) for _ in range(count)]
    source.on_frame(worker, ("events", 1, first, contents))


@pytest.mark.parametrize("doing", ["receive", "acknowledge"])
def test_events_arrive_while_the_link_waits_for_the_worker(orb: Any, threads: Pool, doing: str) -> None:
    source = CosNotificationSource(orb, ENDPOINT, CHANNEL)
    source.connect()
    if doing == "receive":
        arrive(source, orb.worker, 0, 8, persistent=False)
        waiting: Any = threads.submit(source.receive, 8, 0.0)  # gives credit
    else:
        arrive(source, orb.worker, 0, 1, persistent=True)
        waiting = threads.submit(source.acknowledge, source.receive(1, 0.0))
    assert orb.worker.waited_for.wait(PATIENCE_SECS)
    threads.submit(arrive, source, orb.worker, 8, 1, persistent=True).result(PATIENCE_SECS)
    assert not waiting.done()
    orb.worker.room.set()
    waiting.result(PATIENCE_SECS)
    assert len(source.receive(8, 0.0)) == 1


def test_results_arrive_while_a_batch_waits_for_the_worker(orb: Any, threads: Pool) -> None:
    sink = CosNotificationSink(orb, ENDPOINT, CHANNEL)
    sink.connect()
    waiting = threads.submit(sink.send, [Outgoing(EVENT, "1")])
    assert orb.worker.waited_for.wait(PATIENCE_SECS)
    gone = ReconnectError("COR-GONE", "it has gone")
    threads.submit(sink.on_frame, orb.worker, ("failed", 1, told(gone))).result(PATIENCE_SECS)
    with pytest.raises(ReconnectError):
        sink.check()
    threads.submit(sink.on_worker_lost, orb.worker, gone).result(PATIENCE_SECS)
    orb.worker.room.set()
    confirmation = waiting.result(PATIENCE_SECS)
    with pytest.raises(ReconnectError):
        confirmation.result(PATIENCE_SECS)


def test_a_value_that_not_even_pickle_takes_is_refused_alone(orb: Any) -> None:
    orb.worker.room.set()
    sink = CosNotificationSink(orb, ENDPOINT, CHANNEL)
    sink.connect()
    strange = StructuredEvent("d", "t", "n", (), (), Any_(ANY, lambda: None))
    confirmation = sink.send([Outgoing(EVENT, "1"), Outgoing(strange, "2"), Outgoing(EVENT, "3")])
    sink.on_frame(orb.worker, ("result", 1, 0, [], None, 2))
    assert [(refusal.index, refusal.error.code) for refusal in confirmation.result(0)] == [(1, "COR-VALUE")]
