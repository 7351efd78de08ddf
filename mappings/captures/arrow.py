"""The layout in Arrow's terms, and whether a file has it. For whoever writes or reads the files: needs pyarrow."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from mappings.captures.errors import CaptureError
from mappings.captures.layout import COLUMNS, LAYOUT_KEY, LAYOUT_VERSION

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
    fits = all(name in schema.names and schema.field(name).type == SCHEMA.field(name).type for name in SCHEMA.names)
    if version == str(LAYOUT_VERSION) and fits:
        return
    is_ours = f"it is of layout {version}" if version else "it was not written by a gateway"
    raise CaptureError(
        "CAP-SCHEMA",
        f"this file is no capture of layout {LAYOUT_VERSION}: {is_ours}",
        path=path,
        hint="move it out of the folder, or read it with the version that wrote it",
    )


def damaged(path: str, trouble: Exception) -> CaptureError:
    """The finding on a file that pyarrow, or the disk, does not give."""
    return CaptureError(
        "CAP-FILE",
        f"this file cannot be read: {' '.join(str(trouble).split())[:200] or type(trouble).__name__}",
        path=path,
        hint="it is empty, cut or damaged: what it held is lost, the others are not touched",
    )
