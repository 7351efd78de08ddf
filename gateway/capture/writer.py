"""The thread that writes what links have told.

    recorders ─▶ queue ─▶ rows ─▶ chunks of 250 ─▶ open file ─▶ (after 30 s, 500 000 rows, or the hour) ─▶ sealer ─▶ Parquet

Small chunks and pauses in between let the links' threads run: one interpreter does one thing at a time. When the disk refuses a
chunk, its events are counted as not captured, and the next try waits a moment; links are never held back.
"""

from __future__ import annotations

import os
import queue
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from gateway.capture.open_file import OpenFile
from gateway.capture.recorder import LinkRecorder
from gateway.capture.rows import Row, Rows, to_batch, uncaptured_row
from gateway.capture.sealer import Sealer
from gateway.capture.told import Told, Uncaptured
from mappings.captures.errors import CaptureError
from mappings.captures.layout import folder_of

CHUNK: Final = 250  # rows in one batch: 10 000 made links wait for 12 to 45 ms, 250 for 2 ms
BREATH: Final = 10  # events between two offers to let other threads run
IDLE_SECS: Final = 0.25
FLUSH_SECS: Final = 1.0  # no row waits longer for its chunk to fill
RETRY_SECS: Final = 1.0  # after the disk has refused


class Writer:
    """`tell` hears a CaptureError when rows cannot be kept, and None when they can again."""

    def __init__(
        self,
        root: Path,
        name: str,
        rows: Rows,
        sealer: Sealer,
        roll_secs: float,
        roll_rows: int,
        tell: Callable[[CaptureError | None, int], None],
    ) -> None:
        self._root = root
        # No two writers name a file alike, also not two of one process within a second.
        self._name = f"{name}-{socket.gethostname()}-{os.getpid()}-{time.time_ns() // 1000 % 10**9:09d}"
        self._rows = rows
        self._sealer = sealer
        self._roll_secs = roll_secs
        self._roll_rows = roll_rows
        self._tell = tell
        self._queue: queue.SimpleQueue[Told | None] = queue.SimpleQueue()
        self.hand_over: Final[Callable[[Told], None]] = self._queue.put
        self._recorders: dict[LinkRecorder, None] = {}
        self._chunk: list[Row] = []
        self._owners: list[tuple[LinkRecorder, int | Uncaptured]] = []  # of the rows in the chunk
        self._chunk_began = 0.0
        self._file: OpenFile | None = None
        self._files = 0
        self._refused_until = 0.0
        self._refused = False
        self._lost_before = 0
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
                self._look_after()
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
        for count, (number, row) in enumerate(zip(told.sequences, self._rows.of(told), strict=True), 1):
            self._add(recorder, number, row)
            if count % BREATH == 0:
                time.sleep(0)
        recorder.taken(told)

    def _add_gaps(self, recorder: LinkRecorder) -> None:
        for gap in recorder.take_gaps():
            self._add(recorder, gap, uncaptured_row(recorder, gap, time.time()))

    def _add(self, recorder: LinkRecorder, what: int | Uncaptured, row: Row) -> None:
        if not self._chunk:
            self._chunk_began = time.monotonic()
        self._chunk.append(row)
        self._owners.append((recorder, what))
        if len(self._chunk) >= CHUNK:
            self._flush()

    def _look_after(self) -> None:
        """What is due by the clock."""
        now = time.monotonic()
        if self._chunk and now - self._chunk_began >= FLUSH_SECS:
            self._flush()
        elif not self._chunk and self._refused and now >= self._refused_until:
            for recorder in self._recorders:
                self._add_gaps(recorder)
        if self._file is not None and now - self._file.began >= self._roll_secs:
            self._roll()

    def _flush(self) -> None:
        """Write the chunk, or let it go."""
        rows, owners = self._chunk, self._owners
        self._chunk, self._owners = [], []
        if not rows:
            return
        try:
            if time.monotonic() < self._refused_until:
                self._lose(owners)
                return
            self._write(rows)
        except OSError as trouble:
            self._refused_until = time.monotonic() + RETRY_SECS
            self._lose(owners)
            self._abandon()
            if not self._refused:
                self._refused = True
                self._tell(_cannot_write(trouble), self._lost())
            return
        for recorder, what in owners:
            recorder.captured += isinstance(what, int)
        if self._refused:
            self._refused = False
            self._tell(None, self._lost())
        elif self._lost() > self._lost_before:
            self._tell(_behind(), self._lost())
        self._lost_before = self._lost()

    def _write(self, rows: list[Row]) -> None:
        now = time.time()
        if self._file is not None and self._file.folder != folder_of(now):
            self._roll()
        if self._file is None:
            self._files += 1
            self._file = OpenFile(self._root, f"{self._name}-{self._files:06d}", now)
        self._file.write(to_batch(rows))
        if self._file.rows >= self._roll_rows:
            self._roll()

    def _lose(self, owners: list[tuple[LinkRecorder, int | Uncaptured]]) -> None:
        for recorder, what in owners:
            if isinstance(what, int):
                recorder.lose([what])
            else:
                recorder.give_back_gaps([what])

    def _lost(self) -> int:
        return sum(recorder.uncaptured for recorder in self._recorders)

    def _roll(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # its batches are whole; only the mark of its end is missing
                file.close()
            self._sealer.add(file.path)

    def _abandon(self) -> None:
        """Behind a batch that was refused nothing can be written; what is before it is kept."""
        self._roll()


def _cannot_write(trouble: OSError) -> CaptureError:
    return CaptureError(
        "CAP-WRITE",
        f"traffic passes and is not captured: {trouble.strerror or trouble}",
        path=str(trouble.filename or ""),
        hint="make room, or see to the rights of the folder; links are not held back, and what is missed is counted",
    )


def _behind() -> CaptureError:
    return CaptureError(
        "CAP-BEHIND",
        "some events were not captured: they came faster than they could be written",
        hint="capture fewer links (links.….capture), or raise capture.queue_events if these are bursts",
    )
