"""The segment files of a journal folder: their names, their headers, and which sequences each holds.

A segment holds the sequences from its first one up to where the next segment begins; the newest has no upper end.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gateway.journal.cursor_file import cursor_paths, read_cursor_id
from gateway.journal.disk import Disk, read_what_can_be_read
from gateway.journal.errors import JournalError, foreign
from gateway.journal.format import HEADER_BYTES, VERSION, seed_of, unpack_header
from gateway.journal.scan import ReadAt

SUFFIX: Final = ".segment"
CUT_SUFFIX: Final = ".cut"  # beside a segment: bytes that recovery or repair took from it


@dataclass(frozen=True, slots=True)
class Segment:
    path: Path
    first: int
    created_ms: int
    size: int
    journal_id: bytes | None  # None where the header is damaged

    def seed(self, journal_id: bytes) -> int:
        return seed_of(journal_id, self.first)


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder holds, in the order of the sequences."""

    segments: list[Segment] = field(default_factory=list)
    strangers: list[JournalError] = field(default_factory=list)


def segment_path(directory: Path, first: int) -> Path:
    return directory / f"{first:020d}{SUFFIX}"


def list_segments(directory: Path, disk: Disk) -> Listing:
    """Reads the header of each. Raises JournalError where one is of a version that we cannot read."""
    listing = Listing()
    for path in sorted(directory.glob("*" + SUFFIX)):
        try:
            segment = read_segment(path, disk)
        except FileNotFoundError:
            continue  # its journal is alive and has just deleted it
        if segment is None:
            listing.strangers.append(foreign(path))
        else:
            listing.segments.append(segment)
    listing.segments.sort(key=lambda segment: segment.first)
    return listing


def read_segment(path: Path, disk: Disk) -> Segment | None:
    """None where neither the header nor the name says which sequences it holds."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        header = unpack_header(read_what_can_be_read(disk, descriptor, HEADER_BYTES, 0))
    finally:
        os.close(descriptor)
    if header is None:
        if not path.stem.isdecimal():
            return None
        return Segment(path, int(path.stem), int(status.st_mtime * 1000), status.st_size, None)
    if header.version > VERSION:
        raise JournalError(
            "JNL-VERSION",
            f"this segment has format {header.version}; this version of Isthmus reads up to {VERSION}",
            path=str(path),
            hint="use the version of Isthmus that wrote it, or a later one",
        )
    return Segment(path, header.first, header.created_ms, status.st_size, header.journal_id)


def usual_id(segments: Sequence[Segment], directory: Path) -> bytes | None:
    """The journal id that most of the headers, of segments and of cursors, name."""
    ids = Counter(segment.journal_id for segment in segments if segment.journal_id is not None)
    ids.update(id_ for path in cursor_paths(directory) if (id_ := read_cursor_id(path)) is not None)
    return ids.most_common(1)[0][0] if ids else None


def own_segments(listing: Listing, journal_id: bytes) -> Listing:
    """Without those that say that they belong to another journal."""
    own = Listing(strangers=list(listing.strangers))
    for segment in listing.segments:
        if segment.journal_id in (None, journal_id):
            own.segments.append(segment)
        else:
            own.strangers.append(foreign(segment.path))
    return own


def index_of(segments: Sequence[Segment], sequence: int) -> int:
    """Where the segment stands that holds this sequence; -1 where it is below the first."""
    return bisect_right(segments, sequence, key=lambda segment: segment.first) - 1


class SegmentFile:
    """A segment open for reading."""

    def __init__(self, path: Path, disk: Disk) -> None:
        self._disk = disk
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    @property
    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    @property
    def reader(self) -> ReadAt:
        return self._read

    def _read(self, offset: int, size: int) -> bytes:
        return read_what_can_be_read(self._disk, self._descriptor, size, offset)

    def close(self) -> None:
        os.close(self._descriptor)

    def __enter__(self) -> SegmentFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
