"""The jobs without Spark: the same workers, one after the other, in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from spark import catalogue, compare, validate
from spark.job import Selection
from spark.scanning import rows
from spark.tallies import Tally
from spark.units import take_inventory
from spark.work import Worker


def validated(*captures: Path, selection: Selection = Selection(), keys: tuple[bytes, ...] = ()) -> dict[str, Any]:  # noqa: B008
    inventory = take_inventory([str(path) for path in captures], selection)
    return validate.result(
        _tallied(captures, validate.COLUMNS, lambda: validate.Validation(inventory.mappings, keys), selection, 5)
    )


def compared(
    capture: Path, old: dict[str, Any], new: dict[str, Any], selectors: tuple[dict[str, str], ...] = ()
) -> dict[str, Any]:
    make = lambda: compare.Comparison(old, new, selectors)  # noqa: E731
    return compare.result(_tallied((capture,), compare.COLUMNS, make, Selection(), 5), old, new)


def catalogued(capture: Path, split: int | None = None) -> dict[str, Any]:
    make = lambda: catalogue.Catalogue(split)  # noqa: E731
    return catalogue.result(_tallied((capture,), catalogue.COLUMNS, make, Selection(), catalogue.ALL))


def _tallied(
    captures: tuple[Path, ...], columns: tuple[str, ...], make: Callable[[], Worker], selection: Selection, samples: int
) -> Tally:
    """Each unit by a worker of its own: what is put together must not depend on who saw what."""
    inventory = take_inventory([str(path) for path in captures], selection)
    merged = Tally(samples)
    for unit in inventory.units:
        worker = make()
        worker.take(rows([unit], columns, selection, worker.report))
        merged.take_rows(worker.tallied().to_batch().to_pylist())
    for finding in inventory.findings:
        validate.add_finding(merged, finding)
    return merged
