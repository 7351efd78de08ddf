"""Looks at a journal without changing it, also while a gateway writes to it: what the reading commands and repair stand on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from gateway.journal.cursor_file import PAGE_BYTES, cursor_damaged, cursor_paths, link_of, unpack_cursor
from gateway.journal.cursor_state import CursorState
from gateway.journal.disk import Disk
from gateway.journal.envelope import Envelope, Unreadable
from gateway.journal.errors import (
    JournalError,
    KeyMissing,
    damaged,
    damaged_header,
    missing,
    not_a_journal,
    torn,
)
from gateway.journal.format import DATA, HEADER_BYTES
from gateway.journal.identity import NAME, identity_lost, new_identity, read_identity
from gateway.journal.lock import is_alive
from gateway.journal.scan import Damage, Record, scan
from gateway.journal.segments import SUFFIX, Listing, Segment, SegmentFile, list_segments, own_segments, usual_id


class Stored(NamedTuple):
    """A record, opened."""

    segment: Segment
    sequence: int
    payload: bytes


@dataclass(slots=True)
class Totals:
    """What a reading of the whole journal has counted."""

    records: int = 0
    sealed: int = 0  # of these: encrypted, and not opened for want of the key; their checksums are right
    missing: int = 0
    known_missing: int = 0  # … that an earlier repair has already found missing
    damaged_bytes: int = 0
    torn_bytes: int = 0
    last: int = 0


@dataclass(slots=True)
class CursorView:
    link: str
    path: Path
    state: CursorState | None  # None where it is damaged


@dataclass(slots=True)
class Inspection:
    """A look at the folder, taken when it is made."""

    directory: Path
    keys: tuple[bytes, ...] = field(default=(), repr=False)
    disk: Disk = field(default_factory=Disk)

    journal_id: bytes = field(init=False)
    has_identity: bool = field(init=False)
    listing: Listing = field(init=False)
    cursors: list[CursorView] = field(init=False)
    is_alive: bool = field(init=False)

    def __post_init__(self) -> None:
        """Raises JournalError where there is no journal, or one of a later format."""
        if not is_journal(self.directory):
            raise not_a_journal(self.directory)
        self.is_alive = is_alive(self.directory)
        self.cursors = [CursorView(link_of(path), path, _state(path)) for path in cursor_paths(self.directory)]
        listing = list_segments(self.directory, self.disk)
        identity = read_identity(self.directory)
        self.has_identity = identity is not None
        identity = identity or usual_id(listing.segments, self.directory)
        if identity is None and any(segment.size > HEADER_BYTES for segment in listing.segments):
            raise identity_lost(self.directory)
        self.journal_id = identity or new_identity()
        self.listing = own_segments(listing, self.journal_id)

    @property
    def segments(self) -> list[Segment]:
        return self.listing.segments

    @property
    def first(self) -> int:
        return self.segments[0].first if self.segments else 0

    def scan(self, index: int) -> Iterator[Record | Damage]:
        """One segment. A segment that a living journal has deleted meanwhile is empty."""
        segment = self.segments[index]
        stop = self.segments[index + 1].first if index + 1 < len(self.segments) else None
        try:
            file = SegmentFile(segment.path, self.disk)
        except FileNotFoundError:
            return
        with file:
            yield from scan(
                file.reader,
                HEADER_BYTES,
                max(segment.size, file.size),
                segment.seed(self.journal_id),
                segment.first,
                stop,
            )

    def records(self, first: int = 0, last: int | None = None) -> Iterator[Stored | JournalError]:
        """Whole records in order, with findings where something is wrong. Raises KeyMissing."""
        envelope = Envelope(self.journal_id, keys=self.keys)
        for index, segment in enumerate(self.segments):
            following = self.segments[index + 1].first if index + 1 < len(self.segments) else None
            if (following is not None and following <= first) or (last is not None and segment.first > last):
                continue
            for found in self.scan(index):
                if isinstance(found, Damage):
                    if not self._is_being_written(index, found):
                        yield damaged(segment.path, found.offset, found.end - found.offset)
                elif found.kind == DATA and found.sequence >= first and (last is None or found.sequence <= last):
                    try:
                        payload = envelope.open(found.body, segment.first, found.sequence, found.kind, found.flags)
                    except Unreadable as error:
                        yield error
                    else:
                        yield Stored(segment, found.sequence, payload)

    def verify(self, totals: Totals) -> Iterator[JournalError]:
        """Reads everything; what is wrong, as it is found. Without the key of an encrypted journal the checksums are checked."""
        yield from self.listing.strangers
        if not self.has_identity and self.segments:
            yield JournalError(
                "JNL-IDENTITY",
                "the file that says which journal this is is missing or damaged",
                path=str(self.directory / NAME),
                hint="nothing is lost: it is written anew at the next start, or by `isthmus journal repair`",
            )
        envelope = Envelope(self.journal_id, keys=self.keys)
        totals.last = self.first - 1 if self.segments else 0
        for index in range(len(self.segments)):
            yield from self._verify_segment(index, envelope, totals)
        for cursor in self.cursors:
            if cursor.state is None:
                yield cursor_damaged(cursor.path)

    def _verify_segment(self, index: int, envelope: Envelope, totals: Totals) -> Iterator[JournalError]:
        segment = self.segments[index]
        if segment.journal_id is None:
            yield damaged_header(segment.path)
        if segment.first > totals.last + 1:
            yield self._missing(segment, totals, segment.first - 1)
        for found in self.scan(index):
            if isinstance(found, Damage):
                if finding := self._damage(index, found, totals):
                    yield finding
                continue
            if found.kind != DATA:
                totals.known_missing += max(0, found.sequence - max(totals.last, found.gap_first - 1))
                totals.last = found.sequence
                continue
            if found.sequence > totals.last + 1:
                yield self._missing(segment, totals, found.sequence - 1)
            totals.last = found.sequence
            totals.records += 1
            try:
                envelope.open(found.body, segment.first, found.sequence, found.kind, found.flags)
            except KeyMissing:
                totals.sealed += 1
            except Unreadable as error:
                yield error
        if self.is_alive and index + 1 < len(self.segments) and not segment.path.exists():
            totals.last = self.segments[index + 1].first - 1  # settled and deleted while we looked

    def _missing(self, segment: Segment, totals: Totals, last: int) -> JournalError:
        finding = missing(segment.path, totals.last + 1, last)
        totals.missing += last - totals.last
        totals.last = last
        return finding

    def _damage(self, index: int, found: Damage, totals: Totals) -> JournalError | None:
        segment, length = self.segments[index], found.end - found.offset
        if self._is_being_written(index, found):
            return None
        if self._is_last(index, found):
            totals.torn_bytes += length
            return torn(segment.path, found.offset, length)
        totals.damaged_bytes += length
        return damaged(segment.path, found.offset, length)

    def _is_last(self, index: int, found: Damage) -> bool:
        """At the end of the newest segment: a write that was cut short."""
        return index == len(self.segments) - 1 and found.end >= self.segments[index].size

    def _is_being_written(self, index: int, found: Damage) -> bool:
        return self.is_alive and self._is_last(index, found)


def is_journal(directory: Path) -> bool:
    return directory.is_dir() and (
        (directory / NAME).exists() or any(directory.glob("*" + SUFFIX)) or bool(cursor_paths(directory))
    )


def find_journals(directory: Path) -> list[Path]:
    """The folder itself, or those directly in it. Raises JournalError where there is none."""
    if is_journal(directory):
        return [directory]
    found = sorted(path for path in directory.iterdir() if is_journal(path)) if directory.is_dir() else []
    if not found:
        raise not_a_journal(directory)
    return found


def _state(path: Path) -> CursorState | None:
    """A cursor that is being written is read a second time: one of its slots is always whole, but not in the same instant."""
    for _ in range(3):
        try:
            data = path.read_bytes()
        except OSError:
            return None
        if found := unpack_cursor(data):
            return found[2]
        if not data[PAGE_BYTES:].strip(b"\0"):
            return CursorState(0)
    return None
