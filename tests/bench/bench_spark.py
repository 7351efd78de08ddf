"""What capturing adds to a link's thread at 20 000 events a second: events for a second of its CPU.

Also printed: what the writer's and the sealer's threads take.
"""

from __future__ import annotations

import resource
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from adapters.base import Delivery, Outgoing
from gateway.capture.recorder import LinkRecorder
from gateway.capture.rows import Rows
from gateway.capture.sealer import Sealer
from gateway.capture.writer import Writer
from mappings.captures.specification import End, Specification
from mappings.passage import Translation, compile_translate
from tests.bench.bench_translate import ALARM
from tests.bench.harness import Bench, Measure

NOW = 1_795_000_000.0
SPECIFICATION = Specification("bench", "alarms", End("a", "a"), End("b", "b"), Translation("event", "message"), "0")
RATE = 20_000
SECONDS = 3


@contextmanager
def hot_thread() -> Iterator[tuple[Measure, Measure]]:
    """A thread that does a link's work for 20 000 events a second: with a recorder that captures, and without."""
    translate = compile_translate(SPECIFICATION.translation)
    simple = replace(ALARM, filterable_data=ALARM.filterable_data[:1])
    now_ms = int(NOW * 1000)

    def paced(recorder: LinkRecorder | None) -> float:
        """Events per second of this thread's CPU."""
        began, clock, count = time.thread_time(), time.perf_counter(), 0
        while count < RATE * SECONDS:
            wait = clock + count / RATE - time.perf_counter()
            if wait > 0:
                time.sleep(wait)
            deliveries = [Delivery(simple, f"e{n}", NOW) for n in range(count, count + 100)]
            sent = [Outgoing(translate(d.payload, d.id, now_ms, 0), d.id, None, NOW) for d in deliveries]
            if recorder is not None:
                recorder.received(deliveries)
                recorder.settled("delivered", deliveries, sent)
            count += 100
        return count / (time.thread_time() - began)

    def captured() -> float:
        with tempfile.TemporaryDirectory() as folder:
            sealer = Sealer(Path(folder), "zstd", 1, None, lambda _: None)
            writer = Writer(Path(folder), "bench", Rows(), sealer, 60.0, 500_000, lambda *_: None)
            recorder = LinkRecorder(SPECIFICATION, "r", 100_000, writer.hand_over)
            sealer.start()
            writer.start()
            before = resource.getrusage(resource.RUSAGE_SELF)
            rate = paced(recorder)
            writer.stop(60.0)
            sealer.stop(60.0)
            after = resource.getrusage(resource.RUSAGE_SELF)
            whole = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e6 / (RATE * SECONDS)
            missed = recorder.uncaptured
            print(
                f"  hot thread {1e6 / rate:.1f} us/event; writer and sealer {whole - 1e6 / rate:.1f} us/event; "
                f"{missed} of {RATE * SECONDS} not captured ({threading.active_count()} threads)",
                flush=True,
            )
            return rate

    def without() -> float:
        rate = paced(None)
        print(f"  hot thread without capture {1e6 / rate:.1f} us/event", flush=True)
        return rate

    yield captured, without


BENCHES = [
    Bench("spark-capture-hot-thread", "events/CPU-s", "the same thread without capture", hot_thread),
]
