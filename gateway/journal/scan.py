"""Reads a segment: every whole record, in order, and what is not one.

A record is believed when the CRC of its head and that of its body are right and its sequence is higher than the one before. Where
that fails, the next place that holds such a record is searched for byte by byte; what lies between is damage. So damage costs the
records that it touches and no others, and what it leaves is never taken for a record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple
from zlib import crc32

from gateway.journal.format import GAP, HEAD_BYTES, MARKER, Head, unpack_head

CHUNK_BYTES: Final = 256 * 1024

ReadAt = Callable[[int, int], bytes]
"""read(offset, size): fewer bytes only where the file ends."""


class Record(NamedTuple):
    sequence: int
    kind: int
    flags: int
    body: bytes  # as stored: see `envelope`
    offset: int
    end: int

    @property
    def gap_first(self) -> int:
        """Of a GAP: the first sequence that is missing."""
        return int.from_bytes(self.body[:8], "big")


class Damage(NamedTuple):
    """Bytes that are no record."""

    offset: int
    end: int


def scan(
    read: ReadAt, start: int, end: int, seed: int, lowest: int, stop: int | None = None
) -> Iterator[Record | Damage]:
    """Records from `lowest` up to and without `stop`, where the next segment begins, and the damage between them.

    A record of `stop` or beyond ends the scan: it was written again to the next segment because this one could not be synced.
    Torn or not: the scan says only that the bytes up to `end` are damage.
    """
    window = _Window(read, end)
    position = start
    damage: int | None = None
    while position + HEAD_BYTES <= end:
        record = _record_at(window, position, end, seed)
        if record is not None and record.sequence >= lowest:
            if stop is not None and record.sequence >= stop:
                end = position
                break
            if damage is not None:
                yield Damage(damage, position)
                damage = None
            yield record
            lowest = record.sequence + 1
            position = record.end
        else:
            damage = position if damage is None else damage
            position = window.find(MARKER, position + 1)
    if damage is not None or position < end:
        yield Damage(position if damage is None else damage, end)


def _record_at(window: _Window, position: int, end: int, seed: int) -> Record | None:
    data, at = window.bytes_at(position, HEAD_BYTES)
    if len(data) - at < HEAD_BYTES:
        return None
    head: Head | None = unpack_head(data, at, seed)
    if head is None:
        return None
    record_end = position + HEAD_BYTES + head.length
    if record_end > end:
        return None
    data, at = window.bytes_at(position, HEAD_BYTES + head.length)
    body = data[at + HEAD_BYTES : at + HEAD_BYTES + head.length]
    if len(body) != head.length or crc32(body) != head.body_crc or (head.kind == GAP and head.length != GAP_BYTES):
        return None
    return Record(head.sequence, head.kind, head.flags, body, position, record_end)


GAP_BYTES: Final = 8


class _Window:
    """A part of the file in memory, moved along as it is asked for."""

    def __init__(self, read: ReadAt, end: int) -> None:
        self._read = read
        self._end = end
        self._data = b""
        self._base = 0

    def bytes_at(self, offset: int, size: int) -> tuple[bytes, int]:
        """Bytes, and the index in them where `offset` is; fewer than `size` follow it only where the file ends."""
        at = offset - self._base
        if at < 0 or at + size > len(self._data):
            wanted = min(max(size, CHUNK_BYTES), self._end - offset)
            self._data = self._read(offset, wanted)
            self._base = offset
            at = 0
        return self._data, at

    def find(self, marker: bytes, offset: int) -> int:
        """The next place of the marker from `offset` on, or the end."""
        while offset + len(marker) <= self._end:
            data, at = self.bytes_at(offset, len(marker))
            found = data.find(marker, at)
            if found >= 0:
                return self._base + found
            if len(data) - at < len(marker):
                break  # the file has become shorter under our hands
            offset = self._base + len(data) - len(marker) + 1
        return self._end
