"""Which events a link held until their StartTime had come (OC-VAR-4): what came behind these was right to pass them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from mappings.captures.layout import JSON
from mappings.errors import IsthmusError
from mappings.model import StructuredEvent
from mappings.translate import quality
from spark.translations import Cells

NEEDS: Final = ("event_id", "received_at", "made_at", "codec", "source_form", "source")
_NAMED: Final = f'"{quality.START_TIME}"'.encode()


class Held:
    """In a worker. Without keys nothing can be said of encrypted events: none of them is taken for held."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._cells = Cells(keys)

    def which(self, batch: pa.RecordBatch) -> list[bool]:
        """Of each row of a batch that has these columns. Few events name a StartTime; only these are read."""
        codec, form, source = (batch.column(name) for name in ("codec", "source_form", "source"))
        maybe = pc.and_(pc.equal(form, "event"), pc.or_(pc.not_equal(codec, JSON), pc.match_substring(source, _NAMED)))
        held = [False] * batch.num_rows
        for index in pc.indices_nonzero(pc.fill_null(maybe, False)).to_pylist():
            row = batch.slice(index, 1).select(NEEDS)
            at, made = (row.column(name).cast(pa.int64())[0].as_py() // 1000 for name in ("received_at", "made_at"))
            held[index] = self._held(row, at, made)
        return held

    def _held(self, row: pa.RecordBatch, received_ms: int, made_ms: int) -> bool:
        cell, codec, event_id = (row.column(name)[0].as_py() for name in ("source", "codec", "event_id"))
        try:
            event = self._cells.payload(cell, codec, "source", event_id, "event")
        except IsthmusError:
            return False
        if not isinstance(event, StructuredEvent):
            return False
        start = quality.time_field(event.variable_header, quality.START_TIME)
        return (
            quality.delay(start, received_ms) > 0 and quality.delay(start, made_ms + 1) == 0
        )  # made_at is cut to milliseconds
