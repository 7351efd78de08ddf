"""The newest segment: records go into it in order, and are safe when `sync` has returned.

An fsync that failed must not be repeated: the kernel may have dropped the pages and call the second one a success. So after a
failed sync the segment is given up behind its last synced byte, and every record since then is written again to a new segment.
Records are kept here until they are synced, for that purpose.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from gateway.journal.disk import Disk, write_all
from gateway.journal.envelope import Envelope
from gateway.journal.format import DATA, HEADER_BYTES, pack_header, pack_plain, pack_record, seed_of
from gateway.journal.segments import Segment, segment_path


class Appended(NamedTuple):
    """Consecutive payloads, as one append brought them."""

    first: int
    payloads: Sequence[bytes]
    size: int


class Writer:
    """Used by the commit thread alone."""

    def __init__(self, directory: Path, journal_id: bytes, envelope: Envelope, disk: Disk, segment_bytes: int) -> None:
        self._directory = directory
        self._journal_id = journal_id
        self._envelope = envelope
        self._disk = disk
        self._segment_bytes = segment_bytes
        self._descriptor: int | None = None
        self._path = directory
        self._first = 0
        self._created_ms = 0
        self._seed = 0
        self._end = 0
        self._synced_end = 0
        self._name_is_synced = False
        self._unsynced: list[Appended] = []
        self._written = 0  # how many of the unsynced are in the file
        self.unsynced_bytes = 0
        self.finished: list[Segment] = []
        """Segments that nothing more is written to; the owner takes them from here."""

    @property
    def newest(self) -> Segment | None:
        """The segment that is being written, up to its last synced byte."""
        if self._descriptor is None:
            return None
        return Segment(self._path, self._first, self._created_ms, self._synced_end, self._journal_id)

    @property
    def newest_bytes(self) -> int:
        """How large the file of the newest segment is, synced or not."""
        return self._end if self._descriptor is not None else 0

    def write(self, appended: Sequence[Appended]) -> None:
        """Into the file. Raises OSError: then none of it counts as written, and the same call may be made again."""
        self._write_again()
        if self._descriptor is not None and self._end > self._segment_bytes:
            self.sync()
            self._finish()
        self._put(appended)
        self._unsynced.extend(appended)
        self._written = len(self._unsynced)
        self.unsynced_bytes += sum(part.size for part in appended)

    def sync(self) -> None:
        """What was written is on disk. Raises OSError: the same call may be made again, and writes to a new segment first."""
        self._write_again()
        if self._descriptor is None or not self._unsynced:
            return
        try:
            self._disk.sync(self._descriptor)
            if not self._name_is_synced:
                self._disk.sync_directory(self._directory)
        except OSError:
            self._give_up()
            raise
        self._name_is_synced = True
        self._synced_end = self._end
        self._unsynced.clear()
        self._written = 0
        self.unsynced_bytes = 0

    def close(self) -> None:
        """What was not synced may or may not be there."""
        self._finish()

    def _write_again(self) -> None:
        if self._written < len(self._unsynced):
            self._put(self._unsynced)
            self._written = len(self._unsynced)

    def _put(self, appended: Sequence[Appended]) -> None:
        if self._descriptor is None:
            self._begin(appended[0].first)
        assert self._descriptor is not None
        data = self._pack(appended)
        try:
            write_all(self._disk, self._descriptor, data, self._end)
        except OSError:
            self._cut_back()
            raise
        self._end += len(data)

    def _pack(self, appended: Sequence[Appended]) -> bytes:
        parts: list[bytes] = []
        for first, payloads, _ in appended:
            if self._envelope.is_plain:
                parts += pack_plain(self._seed, first, payloads)
                continue
            for sequence, payload in enumerate(payloads, first):
                flags, body = self._envelope.close(payload, self._first, sequence, DATA)
                parts += (pack_record(self._seed, sequence, DATA, flags, body), body)
        return b"".join(parts)

    def _begin(self, first: int) -> None:
        """A name appears with its header or not at all; it replaces a segment of that name that holds nothing safe."""
        path = segment_path(self._directory, first)
        part = path.with_suffix(".part")
        created_ms = int(time.time() * 1000)
        self._disk.remove(part)
        descriptor = self._disk.create(part)
        try:
            write_all(self._disk, descriptor, pack_header(first, created_ms, self._journal_id), 0)
            self._disk.rename(part, path)
        except OSError:
            self._disk.close(descriptor)
            raise
        self._descriptor, self._path, self._first, self._created_ms = descriptor, path, first, created_ms
        self._seed = seed_of(self._journal_id, first)
        self._end = self._synced_end = HEADER_BYTES
        self._name_is_synced = False

    def _cut_back(self) -> None:
        """A write failed in the middle: the file ends again where it ended before, or is given up."""
        assert self._descriptor is not None
        try:
            self._disk.truncate(self._descriptor, self._end)
        except OSError:
            self._give_up()

    def _give_up(self) -> None:
        """Nothing behind the last synced byte can be relied on: it will be written again to a new segment.

        Where nothing at all was synced, the new segment has the same first sequence, and so replaces this one.
        """
        assert self._descriptor is not None
        self._written = 0
        if self._synced_end > HEADER_BYTES:
            with suppress(OSError):  # where it cannot be cut, readers stop at the first record of the next segment
                self._disk.truncate(self._descriptor, self._synced_end)
        self._finish()

    def _finish(self) -> None:
        newest = self.newest
        if newest is not None and self._descriptor is not None:
            if newest.size > HEADER_BYTES:
                self.finished.append(newest)
            self._disk.close(self._descriptor)
            self._descriptor = None
