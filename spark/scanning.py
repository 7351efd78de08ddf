"""In a worker: from units to batches of rows. What cannot be read becomes a finding, and the rest goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from mappings.captures.arrow import completed, damaged
from mappings.captures.errors import CaptureError
from spark.job import Selection
from spark.plain import plain
from spark.units import Unit, open_parquet

BATCH_ROWS: Final = 2000
"""Decoded events of one batch at most are in memory, and they go one by one."""

Report = Callable[[CaptureError], object]
_SELECTING: Final = ("settled_at", "link", "gateway", "type_name")


def batches(
    units: Iterable[Unit], columns: Sequence[str], selection: Selection, report: Report
) -> Iterator[pa.RecordBatch]:
    """The selected rows of the units, in their order, with these columns."""
    wanted = list(dict.fromkeys((*columns, *_SELECTING)))
    for unit in units:
        try:
            with open_parquet(unit.path) as file:
                for batch in file.iter_batches(BATCH_ROWS, row_groups=[unit.group], columns=wanted):
                    batch.validate()
                    chosen = _selected(batch, selection)
                    if chosen.num_rows:
                        yield completed(chosen, columns)
        except (pa.ArrowException, OSError, ValueError) as trouble:
            report(damaged(unit.path, trouble))


def rows(
    units: Iterable[Unit], columns: Sequence[str], selection: Selection, report: Report
) -> Iterator[tuple[Any, ...]]:
    """Row by row, in the order of the columns; timestamps are microseconds since 1970."""
    for batch in batches(units, columns, selection, report):
        yield from zip(*(plain(batch.column(name)) for name in columns), strict=True)


def _selected(batch: pa.RecordBatch, selection: Selection) -> pa.RecordBatch:
    chosen = which(batch, selection)
    return batch if chosen is None else batch.filter(chosen)


def which(batch: pa.RecordBatch, selection: Selection) -> pa.Array | None:
    """Of each row whether it is selected; None where all of them are."""
    conditions = []
    if selection.since is not None or selection.until is not None:
        at = batch.column("settled_at").cast(pa.int64())
        if selection.since is not None:
            conditions.append(pc.greater_equal(at, selection.since))
        if selection.until is not None:
            conditions.append(pc.less(at, selection.until))
    for name, values in (("link", selection.links), ("gateway", selection.gateways), ("type_name", selection.types)):
        if values:
            conditions.append(pc.is_in(batch.column(name), value_set=pa.array(list(values), pa.string())))
    return reduce(pc.and_, conditions) if conditions else None
