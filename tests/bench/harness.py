"""Measures each thing side by side with a raw ceiling in the same run, and reports the ratio.

Machines are noisy: value and ceiling take turns, three times each (once where that takes a minute), and the medians count.
Nothing here asserts a time.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

REPETITIONS = 3

Measure = Callable[[], float]
"""Runs once and gives a figure in the bench's unit (more is better)."""


@dataclass(frozen=True)
class Bench:
    """`setup` yields the two measures: the thing itself, and the ceiling that it is held against."""

    name: str
    unit: str
    ceiling_is: str  # in words
    setup: Callable[[], AbstractContextManager[tuple[Measure, Measure]]]
    repetitions: int = REPETITIONS


@dataclass(frozen=True)
class Result:
    name: str
    value: float
    unit: str
    ceiling: float
    ratio: float


def simple(name: str, unit: str, ceiling_is: str, value: Measure, ceiling: Measure) -> Bench:
    """A bench that needs nothing set up."""
    return Bench(name, unit, ceiling_is, lambda: nullcontext((value, ceiling)))


def per_second(
    work: Callable[[int], object], at_least_secs: float = 0.3, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Calls of `work(n)`, which does a thing n times, until it took long enough; things per second. With `time.process_time` as the
    clock it does not matter what else the machine does."""
    count = 1
    while True:
        started = clock()
        work(count)
        elapsed = clock() - started
        if elapsed >= at_least_secs:
            return count / elapsed
        count = max(count * 2, int(count * at_least_secs / max(elapsed, 1e-6) * 1.1))


def run(benches: Iterable[Bench]) -> Iterator[Result]:
    for bench in benches:
        with bench.setup() as (value, ceiling):
            values, ceilings = [], []
            for _ in range(bench.repetitions):
                values.append(value())
                ceilings.append(ceiling())
        median, top = statistics.median(values), statistics.median(ceilings)
        yield Result(bench.name, round(median, 1), bench.unit, round(top, 1), round(median / top, 3))


def write(results: list[Result], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [vars(result) for result in results]
    path.write_text(json.dumps(rows, indent=2) + "\n")
