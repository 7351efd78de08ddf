"""Events per second from a supplier process through the adapter (the ORB's process included) and a link into a memory sink."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Literal

from adapters import garbage
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.source import CosNotificationSource
from adapters.memory.connection import MemoryPeer
from adapters.memory.settings import MemoryChannel
from adapters.memory.sink import MemorySink
from gateway.links.link import Link, Pace
from gateway.links.observer import SilentObserver
from tests.bench.harness import Bench, Measure
from tests.unit.links.rig import Recorder, as_it_is

COUNT = 20_000
BATCH = 100

Ask = Callable[[str], str]


@contextmanager
def process(module: str) -> Iterator[Ask]:
    command = [sys.executable, "-m", module]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdin is not None
        assert running.stdout is not None

        def ask(line: str) -> str:
            assert running.stdin is not None
            assert running.stdout is not None
            if line:
                running.stdin.write(line + "\n")
                running.stdin.flush()
            return running.stdout.readline().strip()

        yield ask
        running.stdin.close()


@contextmanager
def setup(events: Literal["structured", "sequence"], batch: int) -> Iterator[tuple[Measure, Measure]]:
    garbage.tune()  # as `isthmus run` does
    orb = Orb()
    orb.start()
    with (
        process("tests.bench.cosnotification_supplier") as supplier,
        process("tests.bench.cosnotification_bare") as bare_consumer,
    ):
        structured, sequence = bare_consumer(""), bare_consumer("")
        endpoint = CosNotificationEndpoint(type="cosnotification", factory=supplier("factory"))
        channel = CosNotificationChannel(endpoint="supplier", channel=0, events=events)

        def bare() -> float:
            return COUNT / float(supplier(f"push {sequence if batch else structured} {COUNT} {batch}"))

        def adapter() -> float:
            source = CosNotificationSource(orb, endpoint, channel)
            sink = MemorySink(MemoryPeer(), MemoryChannel(endpoint="out", name="out"))
            link = Link("bench", source, sink, as_it_is, Recorder(), SilentObserver(), Pace(window=2000, batch=200))
            link.start()
            while link.status().source != "ready":
                time.sleep(0.01)
            started = time.perf_counter()
            supplier(f"push - {COUNT} {batch}")
            while link.balance().delivered < COUNT:
                time.sleep(0.001)
            elapsed = time.perf_counter() - started
            link.stop()
            link.join()
            return COUNT / elapsed

        yield adapter, bare
    orb.stop()


def _bench(name: str, events: Literal["structured", "sequence"], batch: int) -> Bench:
    make: Callable[[], AbstractContextManager[tuple[Measure, Measure]]] = partial(setup, events, batch)
    return Bench(name, "events/s", "a bare omniORBpy consumer that does nothing", make)


BENCHES = [
    _bench("cosnotification-receive", "structured", 0),
    _bench(f"cosnotification-receive-{BATCH}", "sequence", BATCH),
]
