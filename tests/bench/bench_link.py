"""What a link costs per event: the in-memory wire on both ends, no translation."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from adapters.memory.connection import MemoryPeer
from adapters.memory.settings import MemoryChannel
from adapters.memory.sink import MemorySink
from adapters.memory.source import MemorySource
from gateway.links.link import Link, Pace
from gateway.links.observer import SilentObserver
from tests.bench.harness import Bench, Measure
from tests.unit.links.rig import Recorder, as_it_is, event

COUNT = 20_000


@contextmanager
def setup() -> Iterator[tuple[Measure, Measure]]:
    events = [event(n) for n in range(COUNT)]

    def bare() -> float:
        """The same source and sink, driven by the shortest loop that takes, sends and acknowledges."""
        inlet, source, sink = _ends(events)
        del inlet
        source.connect()
        sink.connect()
        started = time.perf_counter()
        settled = 0
        while settled < COUNT:
            deliveries = source.receive(100, 1.0)
            sink.send([as_it_is(d) for d in deliveries]).result()
            source.acknowledge(deliveries)
            settled += len(deliveries)
        return COUNT / (time.perf_counter() - started)

    def linked() -> float:
        _, source, sink = _ends(events)
        link = Link("bench", source, sink, as_it_is, Recorder(), SilentObserver(), Pace(window=1000, batch=100))
        started = time.perf_counter()
        link.start()
        while link.balance().delivered < COUNT:
            time.sleep(0.001)
        elapsed = time.perf_counter() - started
        link.stop()
        link.join()
        return COUNT / elapsed

    yield linked, bare


def _ends(events: list) -> tuple[MemoryPeer, MemorySource, MemorySink]:  # type: ignore[type-arg]
    inlet = MemoryPeer()
    inlet.put("in", events)
    source = MemorySource(inlet, MemoryChannel(endpoint="in", name="in"))
    return inlet, source, MemorySink(MemoryPeer(), MemoryChannel(endpoint="out", name="out"))


BENCHES = [Bench("link-memory", "events/s", "same ends in a bare loop", setup)]
