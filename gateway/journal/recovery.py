"""What is done when a journal is opened, before anything is read or written: find the end, cut a torn tail, say what is wrong.

Only the newest segment is read as a whole, because only that can be torn. Damage in older ones is found when they are read, and by
`isthmus journal verify`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from gateway.journal.disk import Disk, write_whole
from gateway.journal.envelope import Envelope
from gateway.journal.errors import JournalError, damaged, damaged_header, torn
from gateway.journal.format import HEADER_BYTES, pack_header
from gateway.journal.identity import identity_lost, new_identity, read_identity, write_identity
from gateway.journal.scan import Damage, Record, scan
from gateway.journal.segments import CUT_SUFFIX, Segment, SegmentFile, list_segments, own_segments, usual_id


@dataclass(slots=True)
class Recovered:
    journal_id: bytes
    segments: list[Segment]
    last: int  # the highest sequence that is in use, or was
    findings: list[JournalError] = field(default_factory=list)


def recover(directory: Path, disk: Disk) -> Recovered:
    """Raises JournalError where the journal must not be touched (a newer format), and OSError."""
    for part in directory.glob("*.part"):
        disk.remove(part)  # a file that was being made, and had no name yet
    listing = list_segments(directory, disk)
    journal_id = read_identity(directory)
    if journal_id is None:
        journal_id = usual_id(listing.segments, directory)
        if journal_id is None and any(segment.size > HEADER_BYTES for segment in listing.segments):
            raise identity_lost(directory)
        journal_id = journal_id or new_identity()
        write_identity(directory, journal_id, disk)
    listing = own_segments(listing, journal_id)
    recovered = Recovered(journal_id, listing.segments, 0, listing.strangers)
    recovered.findings += [damaged_header(segment.path) for segment in listing.segments if segment.journal_id is None]
    for index in reversed(range(len(recovered.segments))):
        last = _end_of(recovered, index, disk)
        recovered.last = max(recovered.last, recovered.segments[index].first - 1, last)
        if last:
            break
    return recovered


def check_keys(recovered: Recovered, envelope: Envelope, disk: Disk) -> None:
    """Raises KeyMissing before anything is delivered or lost, if the oldest or the newest record needs a key that is not there."""
    for segment in {segment.path: segment for segment in (*recovered.segments[:1], *recovered.segments[-1:])}.values():
        for found in _scan(segment, recovered.journal_id, disk):
            if isinstance(found, Record):
                envelope.check_key(found.body, found.sequence, found.flags)
                break


def _end_of(recovered: Recovered, index: int, disk: Disk) -> int:
    """The last whole record of a segment, 0 without one; a torn tail behind it is cut off."""
    segment = recovered.segments[index]
    last = 0
    damages: list[Damage] = []
    for found in _scan(segment, recovered.journal_id, disk):
        if isinstance(found, Damage):
            damages.append(found)
        else:
            last = found.sequence
    if damages and damages[-1].end == segment.size:
        tail = damages.pop()
        recovered.findings.append(torn(segment.path, tail.offset, tail.end - tail.offset))
        recovered.segments[index] = _cut(segment, tail.offset, bool(last), recovered.journal_id, disk)
    elif segment.size < HEADER_BYTES:
        recovered.findings.append(torn(segment.path, 0, segment.size))
        recovered.segments[index] = _cut(segment, 0, False, recovered.journal_id, disk)
    recovered.findings += [damaged(segment.path, found.offset, found.end - found.offset) for found in damages]
    return last


def _cut(segment: Segment, offset: int, has_records: bool, journal_id: bytes, disk: Disk) -> Segment:
    """Keep the bytes beside the segment, then take them off it. A full disk leaves all as it is: it only looks untidy."""
    try:
        with SegmentFile(segment.path, disk) as file:
            tail = file.reader(offset, file.size - offset)
        if tail:
            write_whole(disk, cut_path(segment.path), tail)
        if not has_records:
            write_whole(disk, segment.path, pack_header(segment.first, segment.created_ms, journal_id))
            return replace(segment, size=HEADER_BYTES, journal_id=journal_id)
        descriptor = disk.open(segment.path)
        try:
            disk.truncate(descriptor, offset)
            disk.sync(descriptor)
        finally:
            disk.close(descriptor)
    except OSError:
        return segment
    return replace(segment, size=offset)


def cut_path(path: Path) -> Path:
    """Where bytes that are taken from a segment are kept; deleted with it."""
    return path.with_name(f"{path.name}.{time.time_ns()}{CUT_SUFFIX}")


def _scan(segment: Segment, journal_id: bytes, disk: Disk) -> Iterator[Record | Damage]:
    with SegmentFile(segment.path, disk) as file:
        yield from scan(file.reader, HEADER_BYTES, segment.size, segment.seed(journal_id), segment.first)
