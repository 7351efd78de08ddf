"""Whether payloads are what a gateway wrote: by the checksum of their row; where an older gateway made none, by reading them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa

from mappings.captures.checksum import checksum
from mappings.captures.layout import SEALED
from mappings.captures.payloads import UNWRITABLE_BEGIN
from mappings.errors import IsthmusError
from spark.plain import plain
from spark.translations import Cells

NEEDS: Final = ("event_id", "codec", "source_form", "source", "sent_form", "sent", "checksum")


class Intact:
    """In a worker. Without keys, encrypted cells are looked at by their checksum only."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._cells = Cells(keys)
        self._has_keys = bool(keys)

    def what_is_wrong(self, batch: pa.RecordBatch) -> list[str | None]:
        """Of each row of a batch that has these columns; None where nothing is."""
        return [self._row(*row) for row in zip(*(plain(batch.column(name)) for name in NEEDS), strict=True)]

    def _row(
        self, event_id: str, codec: str, source_form: Any, source: bytes | None, sent_form: Any, sent: bytes | None,
        known: int | None,
    ) -> str | None:  # fmt: skip
        if known is not None:
            if checksum(source, sent) != known:
                return "CAP-CHECKSUM: a payload is not what was written"
            for cell in (source, sent):
                if cell is not None and cell.startswith(UNWRITABLE_BEGIN):
                    return "CAP-UNWRITABLE: a payload did not fit its own type and was captured as text only"
            return None
        if codec == SEALED and not self._has_keys:
            return None
        for column, form, cell in (("source", source_form, source), ("sent", sent_form, sent)):
            if cell is not None:
                try:
                    self._cells.payload(cell, codec, column, event_id, form)
                except IsthmusError as error:
                    return f"{error.code}: {column}: {error.message}"
        return None
