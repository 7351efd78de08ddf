"""The layout in Arrow's terms, and whether a file has it. For whoever writes or reads the files: needs pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from mappings.captures.errors import CaptureError
from mappings.captures.layout import ADDED, COLUMNS, LAYOUT_KEY, LAYOUT_VERSION

_TYPES: Final = {
    "string": pa.string(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "binary": pa.binary(),
}
SCHEMA: Final = pa.schema(
    [(column.name, _TYPES[column.type]) for column in COLUMNS], metadata={LAYOUT_KEY: str(LAYOUT_VERSION)}
)


def check_schema(schema: pa.Schema, path: str) -> None:
    """Raises CaptureError (CAP-SCHEMA) for a file that is no capture of ours."""
    version = (schema.metadata or {}).get(LAYOUT_KEY.encode(), b"").decode("ascii", "replace")
    if version == str(LAYOUT_VERSION) and _fits(schema):
        return
    is_ours = f"it is of layout {version}" if version else "it was not written by a gateway"
    raise CaptureError(
        "CAP-SCHEMA",
        f"this file is no capture of layout {LAYOUT_VERSION}: {is_ours}",
        path=path,
        hint="move it out of the folder, or read it with the version that wrote it",
    )


def _fits(schema: pa.Schema) -> bool:
    names = schema.names
    return all(
        schema.field(name).type == SCHEMA.field(name).type if names.count(name) == 1 else name in ADDED - {*names}
        for name in SCHEMA.names
    )


def completed(batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
    """These columns of a batch whose schema was checked, in this order; nulls where an older gateway had none."""
    for name in columns:
        if name not in batch.schema.names:
            batch = batch.append_column(SCHEMA.field(name), pa.nulls(batch.num_rows, SCHEMA.field(name).type))
    return batch.select(list(columns))


def damaged(path: str, trouble: Exception) -> CaptureError:
    """The finding on a file that pyarrow, or the disk, does not give."""
    return CaptureError(
        "CAP-FILE",
        f"this file cannot be read: {' '.join(str(trouble).split())[:200] or type(trouble).__name__}",
        path=path,
        hint="it is empty, cut or damaged: what it held is lost, the others are not touched",
    )
