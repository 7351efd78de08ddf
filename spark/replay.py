"""The plan of a replay: which captured events, in which order. The gateway plays it (`gateway.replay`).

The plan is Parquet in the output folder, its files in the order in which they are played. An event that a source delivered several
times is in it once. Cells that are encrypted stay so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from mappings.captures.arrow import SCHEMA as CAPTURE_SCHEMA
from mappings.captures.errors import CaptureError
from mappings.captures.layout import UNCAPTURED
from mappings.captures.sealing import key_from_text
from mappings.errors import IsthmusError
from mappings.filters import compile_etcl
from mappings.model import StructuredEvent
from spark.job import Job, Selection
from spark.scanning import batches
from spark.translations import Cells
from spark.units import Inventory, read_text
from spark.work import distributed, units_in

PLAN: Final = "plan"
COLUMNS: Final = (
    "gateway", "link", "run", "seq", "event_id", "received_at", "persistent", "status", "source_form", "source", "sent_form",
    "sent", "codec",
)  # fmt: skip
PLAN_SCHEMA: Final = pa.schema(
    [(name, pa.int64() if name == "received_at" else CAPTURE_SCHEMA.field(name).type) for name in COLUMNS]
    + [("finding", pa.string())]
)
DDL: Final = (
    "gateway string, link string, run string, seq bigint, event_id string, received_at bigint, persistent boolean, status string, "
    "source_form string, source binary, sent_form string, sent binary, codec string, finding string"
)
_FINDING: Final = "finding"


def plan(spark: Any, job: Job, inventory: Inventory, out: Path) -> dict[str, Any]:
    """Writes the plan; what it tells is for the report. Raises FilterError."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    if job.selection.etcl is not None:
        compile_etcl(job.selection.etcl)
    keys = tuple(key_from_text(read_text(path)) for path in job.key_files)
    work = partial(_chosen, selection=job.selection, keys=keys)
    chosen = distributed(spark, inventory.units).mapInArrow(work, DDL).cache()
    try:
        damage = chosen.where(chosen.status == _FINDING).select("event_id", "run", "finding").distinct().collect()
        first = Window.partitionBy("gateway", "link", "event_id").orderBy("received_at", "run", "seq")
        order = ("received_at", "gateway", "link", "run", "seq")
        events = (
            chosen.where(chosen.status != _FINDING)
            .withColumn("occurrence", sql.row_number().over(first))
            .where("occurrence = 1")
            .drop("occurrence", "finding")
            .orderBy(*order)
        )
        events.write.mode("overwrite").parquet(str(out / PLAN))
        planned = spark.read.schema(DDL).parquet(str(out / PLAN))
        row = planned.agg(
            sql.count("*").alias("n"), sql.min("received_at").alias("a"), sql.max("received_at").alias("b")
        ).first()
    finally:
        chosen.unpersist()
    findings = [{**one.to_json(), "hint": one.hint, "count": 1} for one in inventory.findings]
    findings += [
        {"code": one["run"], "path": one["event_id"], "message": one["finding"], "hint": "", "count": 1}
        for one in damage
    ]
    return {"job": "replay", "events": row["n"], "first_at": row["a"], "last_at": row["b"], "findings": findings}


def _chosen(batches_of_units: Iterable[Any], selection: Selection, keys: tuple[bytes, ...]) -> Iterator[Any]:
    found: list[CaptureError] = []
    cells = Cells(keys)
    etcl = None if selection.etcl is None else compile_etcl(selection.etcl)
    for batch in batches(units_in(batches_of_units), COLUMNS, selection, found.append):
        rows = []
        at = batch.schema.get_field_index("received_at")  # as a number: Python has no times beyond the year 9999
        for row in batch.set_column(at, "received_at", batch.column(at).cast(pa.int64())).to_pylist():
            if row["source"] is None or row["status"] == UNCAPTURED:
                continue
            if etcl is not None:
                try:
                    payload = cells.payload(row["source"], row["codec"], "source", row["event_id"], row["source_form"])
                except IsthmusError as error:
                    found.append(CaptureError(error.code, error.message, path=str(row["event_id"])))
                    continue
                if not isinstance(payload, StructuredEvent) or not etcl.matches(payload):
                    continue
            rows.append(row)
        yield pa.RecordBatch.from_pylist(rows, schema=PLAN_SCHEMA)
    if found:
        empty = dict.fromkeys(PLAN_SCHEMA.names)
        told = [
            {**empty, "status": _FINDING, "event_id": one.path, "run": one.code, "finding": one.message}
            for one in found
        ]
        yield pa.RecordBatch.from_pylist(told, schema=PLAN_SCHEMA)
