"""The newest records, as they were appended: a link that keeps up reads nothing from disk and decodes nothing."""

from __future__ import annotations

from bisect import bisect_right
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class _Chunk(NamedTuple, Generic[T]):
    first: int
    items: list[T]
    size: int


class Tail(Generic[T]):
    """Consecutive items from `first` on, bounded in number and bytes, forgotten a chunk at a time. The owner's lock guards it."""

    def __init__(self, next_sequence: int, max_records: int, max_bytes: int) -> None:
        self._chunks: list[_Chunk[T]] = []
        self._next = next_sequence
        self._bytes = 0
        self._max_records = max_records
        self._max_bytes = max_bytes

    @property
    def first(self) -> int:
        return self._chunks[0].first if self._chunks else self._next

    def __len__(self) -> int:
        return self._next - self.first

    def extend(self, items: list[T], size: int) -> None:
        """What one write brought: one chunk."""
        self._chunks.append(_Chunk(self._next, items, size))
        self._next += len(items)
        self._bytes += size

    def slice(self, sequence: int, limit: int) -> list[T]:
        """Some items from `sequence` on, at the most `limit`; it is not older than `first`."""
        index = bisect_right(self._chunks, sequence, key=lambda chunk: chunk.first) - 1
        if index < 0:
            return []
        chunk = self._chunks[index]
        at = sequence - chunk.first
        items = chunk.items[at : at + limit]
        while len(items) < limit and (index := index + 1) < len(self._chunks):
            items += self._chunks[index].items[: limit - len(items)]
        return items

    def trim(self, settled: int, synced: int) -> None:
        """Forget what every link has settled, and what is too much; never what is not on disk yet."""
        going = 0
        for chunk in self._chunks:
            last = chunk.first + len(chunk.items) - 1
            if last > synced:
                break
            if last > settled and self._next - chunk.first <= self._max_records and self._bytes <= self._max_bytes:
                break
            self._bytes -= chunk.size
            going += 1
        if going:
            del self._chunks[:going]
