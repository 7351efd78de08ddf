"""A journal in a temporary folder, an observer that remembers, and a disk that can be hurt."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gateway.journal.codec import RawCodec
from gateway.journal.cursor import Cursor
from gateway.journal.cursor_state import OUTCOMES
from gateway.journal.disk import Disk
from gateway.journal.errors import JournalError
from gateway.journal.journal import Journal
from gateway.journal.options import Options

PATIENCE_SECS = 30.0
QUICK = Options(
    segment_bytes=2000, max_bytes=None, cursor_write_secs=0.001, hold_first_secs=0.005, hold_longest_secs=0.02
)

LOST = OUTCOMES.index("lost")


@dataclass
class Recorder:
    """Remembers what the journal tells."""

    findings: list[JournalError] = field(default_factory=list)
    holds: list[JournalError] = field(default_factory=list)
    releases: int = 0

    def found(self, finding: JournalError) -> None:
        self.findings.append(finding)

    def held(self, reason: JournalError) -> None:
        self.holds.append(reason)

    def released(self, held_secs: float) -> None:
        self.releases += 1

    @property
    def codes(self) -> list[str]:
        return [finding.code for finding in self.findings]


class BadDisk(Disk):
    """The real disk, until told otherwise."""

    def __init__(self) -> None:
        self.room: int | None = None  # bytes that segments may still grow by; None: no limit
        self.sync_fails = 0  # so many of the next syncs of segments fail, and lose what they should have written
        self.keeps_pages = False  # … unless this says that they stay, though the sync has failed
        self.truncate_fails = False
        self.cursor_writes_fail = False
        self.unreadable: set[int] = set()  # blocks of 4096 bytes that cannot be read, by their number, in every segment
        self.synced_to: dict[str, int] = {}  # size of each file at its last good sync
        self.names: dict[int, Path] = {}

    def create(self, path: Path) -> int:
        descriptor = super().create(path)
        self.names[descriptor] = path
        return descriptor

    def open(self, path: Path) -> int:
        descriptor = super().open(path)
        self.names[descriptor] = path
        return descriptor

    def rename(self, path: Path, target: Path) -> None:
        super().rename(path, target)
        for descriptor, name in self.names.items():
            if name == path:
                self.names[descriptor] = target

    def _is_cursor(self, descriptor: int) -> bool:
        return self.names[descriptor].suffix == ".cursor"

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        if self._is_cursor(descriptor):
            if self.cursor_writes_fail:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return super().write(descriptor, data, offset)
        if self.room is None:
            return super().write(descriptor, data, offset)
        if self.room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        part = min(self.room, len(data))
        self.room -= part
        return super().write(descriptor, data[:part], offset)

    def sync(self, descriptor: int) -> None:
        if self.sync_fails and not self._is_cursor(descriptor):
            self.sync_fails -= 1
            # What the kernel does: the pages are gone, and a second sync would call that a success.
            size = 0 if self.keeps_pages else os.fstat(descriptor).st_size
            kept = self.synced_to.get(str(self.names[descriptor]), 64)
            os.pwrite(descriptor, bytes(max(0, size - kept)), kept)
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().sync(descriptor)
        self.synced_to[str(self.names[descriptor])] = os.fstat(descriptor).st_size

    def truncate(self, descriptor: int, size: int) -> None:
        if self.truncate_fails:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().truncate(descriptor, size)

    def read(self, descriptor: int, size: int, offset: int) -> bytes:
        blocks = range(offset // 4096, (offset + max(size, 1) - 1) // 4096 + 1)
        if self.unreadable.intersection(blocks):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().read(descriptor, size, offset)


def open_raw(
    directory: Path, observer: Recorder | None = None, disk: Disk | None = None, **options: object
) -> Journal[bytes]:
    return Journal.open(
        directory,
        RawCodec(),
        replace(QUICK, **options),  # type: ignore[arg-type]
        observer or Recorder(),
        disk=disk,
        lock_patience_secs=0.1,
    )


def append_safely(journal: Journal[bytes], payloads: Sequence[bytes], *, durable: bool = True) -> range:
    """Append and wait until they are safe."""
    safe = threading.Event()
    sequences = journal.append(payloads, durable=durable, on_safe=safe.set)
    assert safe.wait(PATIENCE_SECS), "they did not become safe"
    return sequences


def payload(number: int, size: int = 100) -> bytes:
    return (b"%d:" % number).ljust(size, b"x")


def read_all(cursor: Cursor[bytes]) -> list[tuple[int, bytes]]:
    """Everything that is pending, in order; settles nothing."""
    got: list[tuple[int, bytes]] = []
    while entries := cursor.read(7, 0.0):
        got += [(entry.sequence, entry.item) for entry in entries]
    return got


def settle_all(cursor: Cursor[bytes]) -> None:
    while entries := cursor.read(100, 0.0):
        cursor.settle([entry.sequence for entry in entries])


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.002)


def segment_files(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.segment"))
