"""Giving units to workers, and taking back what they found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, Protocol

from mappings.captures.errors import CaptureError
from spark.job import Selection
from spark.scanning import rows
from spark.tallies import DDL, Tally
from spark.units import Unit, as_unit

TASKS_PER_SLOT: Final = 4  # so that no slot waits long for the last one
UNITS_DDL: Final = "path string, unit int, rows bigint"


class Worker(Protocol):
    """What looks at rows, in a worker process."""

    def take(self, rows: Iterable[tuple[Any, ...]]) -> None: ...

    def report(self, finding: CaptureError) -> None: ...

    def tallied(self) -> Tally:
        """After the last row."""


def tally(
    spark: Any,
    units: Sequence[Unit],
    columns: Sequence[str],
    selection: Selection,
    make: Callable[[], Worker],
    samples: int,
) -> Tally:
    """`make` is called once for each task, in its worker; it must be something that can be sent there: a `partial` of a class."""
    merged = Tally(samples)
    if units:
        work = partial(_tally, columns=tuple(columns), selection=selection, make=make)
        merged.take_rows(distributed(spark, units).mapInArrow(work, DDL).collect())
    return merged


def distributed(spark: Any, units: Sequence[Unit]) -> Any:
    """As a DataFrame, spread over the slots of the cluster."""
    tasks = max(1, min(len(units), spark.sparkContext.defaultParallelism * TASKS_PER_SLOT))
    context = spark.sparkContext
    # Dealt out like cards: neighbours differ little in size, and so do the hands.
    hands = [units[start::tasks] for start in range(tasks)]
    return spark.createDataFrame(context.parallelize([unit for hand in hands for unit in hand], tasks), UNITS_DDL)


def units_in(batches: Iterable[Any]) -> Iterator[Unit]:
    for batch in batches:
        yield from map(as_unit, batch.to_pylist())


def _tally(
    batches: Iterable[Any], columns: Sequence[str], selection: Selection, make: Callable[[], Worker]
) -> Iterator[Any]:
    worker = make()
    worker.take(rows(units_in(batches), columns, selection, worker.report))
    yield worker.tallied().to_batch()
