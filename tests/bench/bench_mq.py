"""MQ sink and source against a bare loop with the same library on the same stand-in: what the adapter costs on top.

The stand-in is in this process, so the figures say nothing about a queue manager; the ratios say something about the adapter.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from adapters.base import Confirmation, Outgoing
from adapters.mq import mqi
from adapters.mq.codec import Encoder
from adapters.mq.session import INPUT
from adapters.mq.shim import load
from adapters.mq.sink import MqSink
from adapters.mq.source import MqSource
from adapters.mq.standin.manager import StandInQueueManager
from mappings.model import Body, Headers, Message, MessageProperty
from tests.bench.harness import Bench, Measure
from tests.contract.wires.mq import channel_of, endpoint_of, stand_in

COUNT = 2000
IN_FLIGHT = 4  # batches
PROPERTIES = tuple(MessageProperty(f"_sFd1_dField{n}", "String", f"value {n}") for n in range(5))
MESSAGE = Message(Headers(JMSType="Alarm"), PROPERTIES, Body("TextMessage", "x" * 1000))
DATA = Encoder().encode(MESSAGE, "queue://IN", 0)[1]


def bare_put(manager: StandInQueueManager, batch: int) -> None:
    library = load(endpoint_of(manager))
    connection = library.connect(endpoint_of(manager))
    queue = library.module.Queue(connection, "IN", mqi.MQOO_OUTPUT)
    for number in range(1, COUNT + 1):
        queue.put(DATA, library.MD(Persistence=1, Format=b"MQHRF2  "), library.PMO(Options=mqi.MQPMO_SYNCPOINT))
        if number % batch == 0:
            connection.commit()
    queue.close()
    connection.disconnect()


def bare_get(manager: StandInQueueManager, batch: int) -> None:
    library = load(endpoint_of(manager))
    connection = library.connect(endpoint_of(manager))
    queue = library.module.Queue(connection, "IN", INPUT)
    for number in range(1, COUNT + 1):
        queue.get(65536, library.MD(), library.GMO(Options=mqi.MQGMO_SYNCPOINT))
        if number % batch == 0:
            connection.commit()
    queue.close()
    connection.disconnect()


def send(manager: StandInQueueManager, batch: int) -> None:
    sink = MqSink(endpoint_of(manager), channel_of("IN"))
    sink.connect()
    under_way: deque[Confirmation] = deque()
    for start in range(0, COUNT, batch):
        under_way.append(sink.send([Outgoing(MESSAGE, f"{start}-{n}") for n in range(batch)]))
        if len(under_way) >= IN_FLIGHT:
            assert under_way.popleft().result(60) == ()
    for confirmation in under_way:
        assert confirmation.result(60) == ()
    sink.close()


def receive(manager: StandInQueueManager, batch: int) -> None:
    source = MqSource(endpoint_of(manager), channel_of("IN"))
    source.connect()
    left = COUNT
    while left:
        deliveries = source.receive(batch, 60.0)
        assert deliveries
        source.acknowledge(deliveries)
        left -= len(deliveries)
    source.close()


Work = Callable[[StandInQueueManager, int], None]


def bench(name: str, batch: int, ours: Work, bare: Work, before: Work | None, after: Work | None) -> Bench:
    @contextmanager
    def setup() -> Iterator[tuple[Measure, Measure]]:
        with stand_in() as manager:
            manager.define("IN", max_depth=COUNT)

            def measure(work: Work) -> float:
                if before is not None:
                    before(manager, 50)
                started = time.perf_counter()
                work(manager, batch)
                elapsed = time.perf_counter() - started
                if after is not None:
                    after(manager, 50)
                return COUNT / elapsed

            yield (lambda: measure(ours), lambda: measure(bare))

    return Bench(name, "messages/s", "bare loop on the same library, same units of work", setup)


BENCHES = [
    made
    for batch in (1, 50)
    for made in (
        bench(f"mq-sink-{batch}", batch, send, bare_put, None, bare_get),
        bench(f"mq-source-{batch}", batch, receive, bare_get, bare_put, None),
    )
]
