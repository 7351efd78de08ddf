"""How long an event takes through the gateway at half of what it can do, and what a million events leave in its memory.

The way is that of bench_end_to_end.py, through the journal. An event's time begins when it arrives in the gateway and ends when the
broker has confirmed it: `isthmus tap` sees both.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from adapters import garbage
from adapters.stomp.settings import StompChannel, StompEndpoint
from gateway.appliance.appliance import Appliance
from gateway.links.tap import Listener
from tests.bench.bench_cosnotification import process
from tests.bench.bench_end_to_end import BATCH, running_gateway
from tests.bench.bench_stomp import embedded, fresh, raw
from tests.bench.harness import Bench, Measure

PROBE = 10_000  # events that tell what the gateway can do
LOAD_SECS = 5.0
WARM = 50_000
MILLION = 1_000_000
ROUND = 25_000  # events after which the queue is emptied


class Way:
    """A supplier, a gateway and a broker, connected."""

    def __init__(
        self, appliance: Appliance, supplier: Callable[[str], str], endpoint: StompEndpoint, out: StompChannel
    ) -> None:
        self.appliance = appliance
        self.endpoint = endpoint
        self._supplier = supplier
        self._out = out
        self.pushed = 0
        self._received = 0

    def push(self, count: int) -> None:
        self._supplier(f"push - {count} {BATCH}")
        self.pushed += count

    def arrive(self) -> None:
        while self.appliance.statuses()[0].balance.delivered < self.pushed:
            time.sleep(0.005)
        count, self._received = self.pushed - self._received, self.pushed
        raw(self.endpoint, self._out, lambda client: client.receive(count))  # brokers get slow when they are full


@contextmanager
def way() -> Iterator[Way]:
    garbage.tune()  # as `isthmus run` does
    Path("build").mkdir(exist_ok=True)
    with (
        embedded() as endpoint,
        TemporaryDirectory(dir="build") as folder,
        process("tests.bench.cosnotification_supplier") as supplier,
    ):
        out = fresh()
        with running_gateway(Path(folder), endpoint, supplier("factory"), out, BATCH, {}, "synced") as appliance:
            yield Way(appliance, supplier, endpoint, out)


@contextmanager
def latency(percentile: int) -> Iterator[tuple[Measure, Measure]]:
    with way() as its:
        its.push(BATCH)
        its.arrive()
        started = time.perf_counter()
        its.push(PROBE)
        its.arrive()
        pause_secs = 2 * BATCH * (time.perf_counter() - started) / PROBE  # between sequences, at half load

        def gateway() -> float:
            listener = Listener({("main", "sent")})
            its.appliance._taps.join(listener)
            took: list[float] = []
            end = time.perf_counter() + LOAD_SECS
            due = time.perf_counter()
            while due < end:
                its.push(BATCH)
                took += [seen.at - seen.delivery.received_at for seen in listener.take(10_000)[0]]
                due += pause_secs
                time.sleep(max(0.0, due - time.perf_counter()))
            its.arrive()
            its.appliance._taps.leave(listener)
            return 1 / statistics.quantiles(took, n=100)[percentile - 1]

        def bare() -> float:
            """One transaction with its receipt, again and again."""
            channel, took = fresh(), []
            for _ in range(100):
                started = time.perf_counter()
                raw(its.endpoint, channel, lambda client: client.send(BATCH))
                took.append(time.perf_counter() - started)
            raw(its.endpoint, channel, lambda client: client.receive(100 * BATCH))
            return 1 / statistics.quantiles(took, n=100)[percentile - 1]

        yield gateway, bare


@contextmanager
def memory() -> Iterator[tuple[Measure, Measure]]:
    """Once, however often it is asked for: a million events take their time."""
    figures: dict[int, float] = {}
    with way() as its:

        def after(count: int) -> float:
            while its.pushed < count:
                its.push(ROUND)
                its.arrive()
            return figures.setdefault(count, _resident_mib())

        yield lambda: after(WARM), lambda: after(MILLION)


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024**2


BENCHES = [
    Bench(
        f"latency-{name}-at-half-load", "1/s", f"{name} of a bare transaction of {BATCH}", partial(latency, percentile)
    )
    for name, percentile in (("p50", 50), ("p99", 99))
]
BENCHES.append(Bench("memory-1e6", "MiB", f"after 1 000 000 events; the value is that after {WARM}", memory))
