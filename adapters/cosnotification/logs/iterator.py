"""DsLogAdmin::Iterator: the records of an answer that was too long for one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from adapters.cosnotification.logs.records import Record, Records
from adapters.cosnotification.logs.stubs import DsLogAdmin, DsLogAdmin__POA

MOST_AT_ONCE: Final = 10_000


class RecordIterator(DsLogAdmin__POA.Iterator):  # type: ignore[misc]
    """Positions count from 0 over the whole answer. Records that were removed meanwhile are left out."""

    def __init__(self, records: Records, ids: list[int]) -> None:
        self._records = records
        self._ids = ids
        self.to_orb: Callable[[Record], Any] = lambda record: record
        self.ended: Callable[[], None] = lambda: None

    def get(self, position: int, how_many: int) -> Any:
        if position > len(self._ids):
            raise DsLogAdmin.InvalidParam(f"there are {len(self._ids)} records")
        wanted = self._ids[position : position + min(how_many, MOST_AT_ONCE)]
        return [self.to_orb(record) for record in self._records.by_id(wanted)]

    def destroy(self) -> None:
        self.ended()
