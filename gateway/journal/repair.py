"""`isthmus journal repair`: makes a damaged journal whole again, as far as it can be. Nothing is thrown away.

A damaged segment is written anew with its whole records, byte for byte, and with a GAP record for each run of sequences that is
missing; the damaged file stays beside it as `.cut` until the segment is deleted. Cursors of which neither copy is whole begin again
with the oldest record.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gateway.journal.cursor_file import CursorFile, cursor_damaged
from gateway.journal.cursor_state import CursorState
from gateway.journal.disk import write_all
from gateway.journal.errors import JournalError, damaged, damaged_header, missing, torn
from gateway.journal.format import GAP, pack_header, pack_record
from gateway.journal.identity import write_identity
from gateway.journal.inspection import Inspection
from gateway.journal.lock import JournalLock
from gateway.journal.recovery import cut_path
from gateway.journal.scan import Damage
from gateway.journal.segments import Segment, SegmentFile

LOCK_PATIENCE_SECS: Final = 2.0


def repair(directory: Path) -> Iterator[JournalError]:
    """What was mended, as it is done. Raises JournalLocked while a gateway uses the journal, and OSError on a full disk: then
    everything is as it was before the segment that could not be written."""
    lock = JournalLock(directory, LOCK_PATIENCE_SECS)
    try:
        yield from _repair(Inspection(directory))
    finally:
        lock.release()


def _repair(journal: Inspection) -> Iterator[JournalError]:
    if not journal.has_identity:
        write_identity(journal.directory, journal.journal_id, journal.disk)
    expected = journal.first
    for index in range(len(journal.segments)):
        findings, expected = _repair_segment(journal, index, expected)
        yield from findings
    for cursor in journal.cursors:
        if cursor.state is None:
            _restart(journal, cursor.link)
            yield cursor_damaged(cursor.path)


def _repair_segment(journal: Inspection, index: int, expected: int) -> tuple[list[JournalError], int]:
    """Findings, and the sequence that should come next. Gaps before the first record of a segment are written into it."""
    segment = journal.segments[index]
    is_newest = index == len(journal.segments) - 1
    findings = [damaged_header(segment.path)] if segment.journal_id is None else []
    gaps: list[tuple[int, int, int]] = []  # before the record at this offset: first and last missing
    wholes: list[tuple[int, int]] = []
    for found in journal.scan(index):
        if isinstance(found, Damage):
            if is_newest and found.end >= segment.size:
                findings.append(torn(segment.path, found.offset, found.end - found.offset))
            else:
                findings.append(damaged(segment.path, found.offset, found.end - found.offset))
            continue
        first_there = found.gap_first if found.kind == GAP else found.sequence
        if first_there > expected:
            findings.append(missing(segment.path, expected, first_there - 1))
            gaps.append((found.offset, expected, first_there - 1))
        wholes.append((found.offset, found.end))
        expected = found.sequence + 1
    if not is_newest and expected < journal.segments[index + 1].first:
        last = journal.segments[index + 1].first - 1
        findings.append(missing(segment.path, expected, last))
        gaps.append((segment.size, expected, last))
        expected = last + 1
    if findings:
        _rewrite(journal, segment, wholes, gaps)
    return findings, expected


def _rewrite(
    journal: Inspection, segment: Segment, wholes: list[tuple[int, int]], gaps: list[tuple[int, int, int]]
) -> None:
    disk = journal.disk
    seed = segment.seed(journal.journal_id)
    part = segment.path.with_suffix(".part")
    disk.remove(part)
    descriptor = disk.create(part)
    try:
        header = pack_header(segment.first, segment.created_ms, journal.journal_id)
        write_all(disk, descriptor, header, 0)
        end = len(header)
        pending = list(gaps)
        with SegmentFile(segment.path, disk) as file:
            for start, stop in [*wholes, (segment.size, segment.size)]:
                while pending and pending[0][0] <= start:
                    _, first, last = pending.pop(0)
                    body = first.to_bytes(8, "big")
                    record = pack_record(seed, last, GAP, 0, body) + body
                    write_all(disk, descriptor, record, end)
                    end += len(record)
                write_all(disk, descriptor, file.reader(start, stop - start), end)
                end += stop - start
        disk.sync(descriptor)
    except OSError:
        disk.remove(part)
        raise
    finally:
        disk.close(descriptor)
    kept = cut_path(segment.path)
    kept.hardlink_to(segment.path)  # at every moment the name of the segment is there
    disk.rename(part, segment.path)
    disk.sync_directory(journal.directory)


def _restart(journal: Inspection, link: str) -> None:
    file = CursorFile(journal.directory, link, journal.journal_id, journal.disk)
    try:
        file.write(CursorState(max(journal.first - 1, 0)), sync=True)
    finally:
        file.close()
