"""Keeps a leader that was taken for dead, and wakes up, from writing what the new one has taken over.

The new leader, before it opens anything (`fence`):
- lock files are made anew: locks belong to files, and the old leader's process may hold them for ever
- cursors are copied to new files of the same name: what the old leader writes goes into files that nobody sees
The old leader (`FencedDisk`):
- asks, before and after everything that it does to a journal, whether it still leads; what was written when it did not counts as
  not written, so the source is not told that it is safe. A write that was done in time is there when the new leader looks
- asks right before everything that it sends (`FencedSink`)
- is cut off by a STOMP broker before the new one begins: its heart-beats there are so frequent (`beat_ms`) that the broker, which
  gives up a client after twice that time, ends a silent connection and gives to others what that had not acknowledged
- ends at the next renewal of the lease
What it had sent before comes twice; what it wrote behind the end of a segment is behind the first sequence of the next one, which
no reader believes.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from adapters.base import Confirmation, EventTypes, HearTypes, Outgoing, ReconnectError, Sink
from gateway.appliance.lease import Lease
from gateway.journal.disk import Disk

_LOCKS: Final = ("isthmus.lock", "journal.lock")


def fence(run_dir: Path) -> None:
    """Raises OSError."""
    for path in sorted(run_dir.rglob("*")):
        if path.name in _LOCKS:
            path.unlink(missing_ok=True)
        elif path.suffix == ".cursor":
            part = path.with_name(path.name + ".part")
            shutil.copyfile(path, part)
            descriptor = os.open(part, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            part.replace(path)


class FencedDisk(Disk):
    def __init__(self, lease: Lease) -> None:
        self._lease = lease

    def create(self, path: Path) -> int:
        self._check()
        return super().create(path)

    def open(self, path: Path) -> int:
        self._check()
        return super().open(path)

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        self._check()
        written = super().write(descriptor, data, offset)
        self._check()
        return written

    def sync(self, descriptor: int) -> None:
        super().sync(descriptor)
        self._check()

    def truncate(self, descriptor: int, size: int) -> None:
        self._check()
        super().truncate(descriptor, size)

    def remove(self, path: Path) -> None:
        self._check()
        super().remove(path)

    def rename(self, path: Path, target: Path) -> None:
        self._check()
        super().rename(path, target)

    def _check(self) -> None:
        if not self._lease.is_valid:
            raise OSError(errno.ESTALE, "this gateway leads no more")


class FencedSink(Sink):
    """Sends nothing once another gateway may lead."""

    def __init__(self, sink: Sink, leads: Callable[[], bool]) -> None:
        self.capabilities = sink.capabilities
        self._sink = sink
        self._leads = leads

    def connect(self) -> None:
        self._check()
        self._sink.connect()

    def send(self, batch: Sequence[Outgoing]) -> Confirmation:
        self._check()
        return self._sink.send(batch)

    def check(self) -> None:
        self._sink.check()

    def watch_wanted(self, heard: HearTypes) -> None:
        self._sink.watch_wanted(heard)

    def offer(self, types: EventTypes) -> None:
        self._sink.offer(types)

    def close(self) -> None:
        self._sink.close()

    def _check(self) -> None:
        if not self._leads():
            raise ReconnectError(
                "LNK-DEPOSED", "another gateway leads now", hint="this one ends, and may be started again"
            )


def beat_ms(lease_secs: float) -> int:
    """Half the lease is over when a broker gives us up, and half is left for it to put things in order."""
    return int(lease_secs * 1000 / 4)
