"""Reads records of a journal back from its segments, for a link that is behind what is in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from gateway.journal.disk import Disk
from gateway.journal.envelope import Envelope, Unreadable
from gateway.journal.errors import JournalError, damaged, missing
from gateway.journal.format import DATA, HEADER_BYTES
from gateway.journal.scan import Damage, scan
from gateway.journal.segments import Segment, SegmentFile, index_of

BYTES_AT_ONCE: Final = 8 * 1024 * 1024


class Part(NamedTuple):
    """One step of reading."""

    payloads: list[tuple[int, bytes]]
    through: int  # every sequence up to this one is either in `payloads` or missing
    findings: list[JournalError]


class DiskReader:
    """Of one link; remembers its place, so that reading on costs nothing."""

    def __init__(self, journal_id: bytes, envelope: Envelope, disk: Disk) -> None:
        self._journal_id = journal_id
        self._envelope = envelope
        self._disk = disk
        self._place: tuple[Segment, int, int] | None = None  # segment, offset, the sequence that comes next there

    def read(self, segments: Sequence[Segment], start: int, through: int, limit: int) -> Part:
        """Up to `limit` records from `start` on, of one segment. All up to `through` are synced to `segments`.

        Raises KeyMissing, and OSError where a file cannot be opened.
        """
        index = index_of(segments, start)
        if index < 0:
            last = min(segments[0].first - 1, through) if segments else through
            return Part([], last, [])  # older than everything: the owner knows why it was deleted
        segment = segments[index]
        stop = segments[index + 1].first if index + 1 < len(segments) else None
        last = through if stop is None else min(through, stop - 1)
        part, offset = self._read_segment(segment, stop, start, last, limit)
        self._place = (segment, offset, part.through + 1)
        return part

    def _read_segment(self, segment: Segment, stop: int | None, start: int, last: int, limit: int) -> tuple[Part, int]:
        offset, lowest = HEADER_BYTES, segment.first
        if self._place is not None and self._place[0].path == segment.path and self._place[2] <= start:
            offset, lowest = self._place[1], self._place[2]
        payloads: list[tuple[int, bytes]] = []
        findings: list[JournalError] = []
        budget = BYTES_AT_ONCE
        expected = start
        with SegmentFile(segment.path, self._disk) as file:
            for found in scan(file.reader, offset, segment.size, segment.seed(self._journal_id), lowest, stop):
                if isinstance(found, Damage):
                    findings.append(damaged(segment.path, found.offset, found.end - found.offset))
                    continue
                if found.sequence > last:
                    break
                offset = found.end
                if found.sequence < start:
                    continue
                if found.kind != DATA:
                    continue  # a gap that repair has written: what follows it shows what is missing
                if found.sequence > expected:
                    findings.append(missing(segment.path, expected, found.sequence - 1))
                expected = found.sequence + 1
                try:
                    payload = self._envelope.open(found.body, segment.first, found.sequence, found.kind, found.flags)
                    payloads.append((found.sequence, payload))
                except Unreadable as error:
                    findings += [error, missing(segment.path, found.sequence, found.sequence)]
                budget -= len(found.body)
                if len(payloads) >= limit or budget <= 0:
                    return Part(payloads, found.sequence, findings), offset
        if expected <= last:
            findings.append(missing(segment.path, expected, last))
        return Part(payloads, last, findings), offset
