"""The thread that writes what links have told.

    recorders ─▶ queue ─▶ rows ─▶ chunks of 250 ─▶ open file ─▶ (after 30 s, 500 000 rows, or the hour) ─▶ sealer ─▶ Parquet

Small chunks and pauses in between let the links' threads run: one interpreter does one thing at a time. When the disk refuses a
chunk, its events are counted as not captured, and the next try waits a moment; links are never held back. Nothing ends this thread
before its time: what cannot be made into rows is counted in the same way.
"""

from __future__ import annotations

import errno
import os
import queue
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from gateway.capture.health import Health
from gateway.capture.open_file import OpenFile
from gateway.capture.recorder import LinkRecorder
from gateway.capture.rows import Chunk, Owner, Rows
from gateway.capture.sealer import Sealer
from gateway.capture.told import Told, Uncaptured
from mappings.captures.errors import CaptureError
from mappings.captures.layout import folder_of

CHUNK: Final = 250  # rows in one batch: 10 000 made links wait for 12 to 45 ms, 250 for 2 ms
BREATH: Final = 50  # events, some 0.4 ms, between two offers to let other threads run; an offer costs 12 us
IDLE_SECS: Final = 0.25
FLUSH_SECS: Final = 1.0  # no row waits longer for its chunk to fill
RETRY_SECS: Final = 1.0  # after the disk has refused


class Writer:
    """`tell` hears a CaptureError when rows cannot be kept, and None when they can again; and how many were missed so far."""

    def __init__(
        self,
        root: Path,
        name: str,
        rows: Rows,
        sealer: Sealer,
        roll_secs: float,
        roll_rows: int,
        tell: Callable[[CaptureError | None, int], None],
        *,
        leave_free_bytes: int = 0,
    ) -> None:
        """`leave_free_bytes`: where the disk has less than this, nothing more is captured: a journal may need it."""
        self._root = root
        self._leave_free_bytes = leave_free_bytes
        # No two writers name a file alike, also not two of one process within a second.
        self._name = f"{name}-{socket.gethostname()}-{os.getpid()}-{time.time_ns() // 1000 % 10**9:09d}"
        self._rows = rows
        self._sealer = sealer
        self._roll_secs = roll_secs
        self._roll_rows = roll_rows
        self._health = Health(tell)
        self._queue: queue.SimpleQueue[Told | None] = queue.SimpleQueue()
        self.hand_over: Final[Callable[[Told], None]] = self._queue.put
        self._recorders: dict[LinkRecorder, None] = {}
        self._chunk = Chunk()
        self._chunk_began = 0.0
        self._file: OpenFile | None = None
        self._files = 0
        self._refused_until = 0.0
        self._thread = threading.Thread(target=self._run, name="capture", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout_secs: float) -> bool:
        """Write what was told before this call, and close. True when that was done in time."""
        self._queue.put(None)
        self._thread.join(timeout_secs)
        return not self._thread.is_alive()

    # Its own thread

    def _run(self) -> None:
        while True:
            try:
                told = self._queue.get(timeout=IDLE_SECS)
            except queue.Empty:
                self._look_after(idle=True)
                continue
            if told is None:
                break
            self._take(told)
            self._look_after()
        for recorder in self._recorders:
            self._add_gaps(recorder)
        self._flush()
        self._roll()

    def _take(self, told: Told) -> None:
        recorder = told.recorder
        self._recorders[recorder] = None
        self._add_gaps(recorder)
        for first in range(0, len(told.sequences), BREATH):
            last = first + BREATH
            self._add(recorder, told.sequences[first:last], partial(self._rows.add, told, first, last))
            time.sleep(0)
        recorder.taken(told)

    def _add_gaps(self, recorder: LinkRecorder) -> None:
        for gap in recorder.take_gaps():
            self._add(recorder, gap, partial(self._rows.add_gap, recorder, gap, time.time()))

    def _add(self, recorder: LinkRecorder, numbers: Sequence[int] | Uncaptured, make: Callable[[Chunk], None]) -> None:
        if not self._chunk.rows:
            self._chunk_began = time.monotonic()
        try:
            make(self._chunk)
        except Exception as bug:  # noqa: BLE001 - whatever an adapter put into an event, the others are kept
            self._lose([Owner(recorder, numbers)])
            self._health.refused(_not_made(bug), self._lost())
        if self._chunk.rows >= CHUNK:
            self._flush()

    def _look_after(self, *, idle: bool = False) -> None:
        """What is due by the clock."""
        now = time.monotonic()
        if idle and now >= self._refused_until:
            for recorder in self._recorders:
                self._add_gaps(recorder)
            if not self._chunk.rows:
                self._health.written(self._lost())
        if self._chunk.rows and now - self._chunk_began >= FLUSH_SECS:
            self._flush()
        if self._file is not None and now - self._file.began >= self._roll_secs:
            self._roll()

    def _flush(self) -> None:
        """Write the chunk, or let it go."""
        chunk, self._chunk = self._chunk, Chunk()
        if not chunk.rows:
            return
        if time.monotonic() < self._refused_until:
            self._lose(chunk.owners)
            return
        try:
            self._write(chunk)
        except OSError as trouble:
            self._refused_until = time.monotonic() + RETRY_SECS
            self._lose(chunk.owners)
            self._roll()  # behind a batch that was refused nothing can be written; what is before it is kept
            self._health.refused(_cannot_write(trouble), self._lost())
            return
        except Exception as bug:  # noqa: BLE001 - as above
            self._lose(chunk.owners)
            self._health.refused(_not_made(bug), self._lost())
            return
        for recorder, numbers in chunk.owners:
            if not isinstance(numbers, Uncaptured):
                recorder.captured += len(numbers)
        self._health.written(self._lost())

    def _write(self, chunk: Chunk) -> None:
        batch = chunk.to_batch()
        check_room(self._root, self._leave_free_bytes)
        now = time.time()
        if self._file is not None and self._file.folder != folder_of(now):
            self._roll()
        if self._file is None:
            self._files += 1
            self._file = OpenFile(self._root, f"{self._name}-{self._files:06d}", now)
        self._file.write(batch)
        if self._file.rows >= self._roll_rows:
            self._roll()

    def _lose(self, owners: Sequence[Owner]) -> None:
        for recorder, numbers in owners:
            if isinstance(numbers, Uncaptured):
                recorder.give_back_gaps([numbers])
            else:
                recorder.lose(numbers)

    def _lost(self) -> int:
        return sum(recorder.uncaptured for recorder in self._recorders)

    def _roll(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # its batches are whole; only the mark of its end is missing
                file.close()
            self._sealer.add(file.path)


def check_room(root: Path, leave_free_bytes: int) -> None:
    """Raises OSError."""
    if leave_free_bytes:
        disk = os.statvfs(root)
        if disk.f_bavail * disk.f_frsize < leave_free_bytes:
            raise OSError(
                errno.ENOSPC, f"less than the {leave_free_bytes} bytes of leave_free_bytes are free", str(root)
            )


def _cannot_write(trouble: OSError) -> CaptureError:
    return CaptureError(
        "CAP-WRITE",
        f"traffic passes and is not captured: {trouble.strerror or trouble}",
        path=str(trouble.filename or ""),
        hint="make room, or see to the rights of the folder; links are not held back, and what is missed is counted",
    )


def _not_made(bug: Exception) -> CaptureError:
    return CaptureError(
        "CAP-BUG",
        f"some events were not captured: unexpected {type(bug).__name__}: {' '.join(str(bug).split())[:200]}",
        hint="please report this; the others are captured, and what is missed is counted",
    )
