"""What an audit needs of every row, and nothing more. Kept in the output folder, one part for each batch.

Payloads are read here, to see whether they are what the gateway wrote, and are left behind: what is wrong with one is a fact of its
row. Where a page of payloads cannot be read at all, that is a finding on the file, and the facts of its rows count all the same.

A selection by time or type leaves no row out: it is a fact of a row whether it is selected. Only with those around them the numbers
of the selected ones tell what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from mappings.captures.errors import CaptureError
from mappings.captures.layout import UNCAPTURED
from spark.held import NEEDS as TIMES
from spark.held import Held
from spark.intact import NEEDS as PAYLOADS
from spark.intact import Intact
from spark.job import Selection
from spark.scanning import batches, which
from spark.units import Unit
from spark.work import distributed, units_in

COLUMNS: Final = (
    "gateway", "link", "run", "seq", "seq_to", "event_id", "redelivered", "status", "error_code", "received_at", "settled_at",
    "mapping_version", "type_name",
)  # fmt: skip

SCHEMA: Final = pa.schema(
    [
        ("gateway", pa.string()),
        ("link", pa.string()),
        ("run", pa.string()),
        ("seq", pa.int64()),
        ("seq_to", pa.int64()),
        ("event_id", pa.string()),
        ("redelivered", pa.bool_()),
        ("status", pa.string()),
        ("error_code", pa.string()),
        ("received_at", pa.int64()),
        ("settled_at", pa.int64()),
        ("mapping_version", pa.string()),
        ("selected", pa.bool_()),
        ("held", pa.bool_()),
        ("finding", pa.string()),
    ]
)
DDL: Final = (
    "gateway string, link string, run string, seq bigint, seq_to bigint, event_id string, redelivered boolean, status string, "
    "error_code string, received_at bigint, settled_at bigint, mapping_version string, selected boolean, held boolean, "
    "finding string"
)
FINDING: Final = "finding"
"""The status of a row that is none: a part of a file that could not be read. `error_code`, and `finding` with all of it. In the row
of an event `finding` says what is wrong with its payloads."""


_BOTH: Final = tuple(dict.fromkeys((*COLUMNS, *PAYLOADS, *TIMES)))


def write_facts(
    spark: Any,
    units: Sequence[Unit],
    selection: Selection,
    folder: str,
    keys: tuple[bytes, ...] = (),
    *,
    payloads: bool = True,
) -> None:
    """Writes this batch anew where it was written before: a batch that is done twice counts once."""
    work = partial(_facts, selection=selection, keys=keys, payloads=payloads)
    distributed(spark, units).mapInArrow(work, DDL).write.mode("overwrite").parquet(folder)


def _facts(
    batches_of_units: Iterable[Any], selection: Selection, keys: tuple[bytes, ...], payloads: bool
) -> Iterator[Any]:
    found: list[CaptureError] = []
    intact, held = Intact(keys), Held(keys)
    links = selection.whole_links
    for unit in units_in(batches_of_units):
        known = len(found)
        facts = []
        for batch in batches([unit], _BOTH if payloads else COLUMNS, links, found.append):
            told = (held.which(batch), intact.what_is_wrong(batch)) if payloads else ()
            facts.append(_fact(batch, selection, *told))
        if len(found) > known:
            again: list[CaptureError] = []  # the same damage, where it is not the payloads'
            facts = [_fact(batch, selection) for batch in batches([unit], COLUMNS, links, again.append)]
        yield from facts
    if found:
        empty = dict.fromkeys(SCHEMA.names)
        rows = [
            {**empty, "status": FINDING, "error_code": one.code, "event_id": one.path, "finding": one.message}
            for one in found
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def _fact(
    batch: pa.RecordBatch,
    selection: Selection,
    held: Sequence[bool] | None = None,
    wrong: Sequence[str | None] | None = None,
) -> pa.RecordBatch:
    """`held`, `wrong`: of each row, where payloads were looked at."""
    columns = {
        name: column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else _decoded(column)
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }
    columns["selected"] = _selected(batch, selection)
    columns["held"] = pa.nulls(batch.num_rows, pa.bool_()) if held is None else pa.array(held, pa.bool_())
    columns["finding"] = pa.nulls(batch.num_rows, pa.string()) if wrong is None else pa.array(wrong, pa.string())
    return pa.RecordBatch.from_arrays([columns[name] for name in SCHEMA.names], schema=SCHEMA)


def _selected(batch: pa.RecordBatch, selection: Selection) -> pa.Array:
    """Numbers that were not captured have no type: they are of every one."""
    chosen = which(batch, selection)
    if chosen is None:
        return pa.repeat(pa.scalar(True), batch.num_rows)
    if selection.types:
        of_all = which(batch, replace(selection, types=()))
        uncaptured = pc.equal(batch.column("status"), UNCAPTURED)
        chosen = pc.or_(chosen, uncaptured if of_all is None else pc.and_(uncaptured, of_all))
    return chosen


def _decoded(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
