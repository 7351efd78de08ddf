"""The journal: what was appended is handed to every link, in order, until each has settled it, whatever happens in between.

    journal = Journal.open(folder, DeliveryCodec(), Options(), observer)
    journal.append(deliveries, on_safe=lambda: …)         # never waits for the disk
    cursor = journal.cursor("alarms", policy="block")     # one per link
    for entry in cursor.read(100, 1.0): …                 # in order, what is pending for this link
    cursor.settle([entry.sequence], "delivered")
    journal.close()

docs/journal.md tells the promises and the format; `board` tells the threads.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Generic, Literal, TypeVar, cast

from gateway.journal.board import Board, Group, OnSafe, Place
from gateway.journal.codec import Codec
from gateway.journal.committer import Committer
from gateway.journal.cursor import Cursor
from gateway.journal.cursor_file import CursorFile, close_all, open_cursor_files, remove_cursor
from gateway.journal.cursor_keeper import CursorKeeper
from gateway.journal.cursor_state import LARGEST_WINDOW, OUTCOMES, CursorState
from gateway.journal.disk import Disk, make_directory
from gateway.journal.disk_reader import DiskReader
from gateway.journal.envelope import Envelope
from gateway.journal.errors import JournalClosed, JournalError, JournalHeld, missing
from gateway.journal.format import HEAD_BYTES
from gateway.journal.lock import PATIENCE_SECS, JournalLock
from gateway.journal.observer import JournalObserver, SilentObserver
from gateway.journal.only import check_reach
from gateway.journal.options import Options, Policy
from gateway.journal.recovery import check_keys, recover
from gateway.journal.status import JournalStatus, LinkPlace
from gateway.journal.tail import Tail
from gateway.journal.writer import Appended, Writer

T = TypeVar("T")

_LOST: Final = OUTCOMES.index("lost")
_MOST_REPORTED: Final = 10_000  # different findings that are remembered, so that each is reported once


class Journal(Generic[T]):
    def __init__(
        self,
        directory: Path,
        codec: Codec[T],
        options: Options,
        observer: JournalObserver,
        disk: Disk,
        lock: JournalLock,
    ) -> None:
        """Use `open`."""
        self._directory = directory
        self._codec = codec
        self._options = options
        self._observer = observer
        self._disk = disk
        self._lock = lock
        self._reported: set[str] = set()
        self._cursors: dict[str, Cursor[T]] = {}
        recovered = recover(directory, disk)
        self._journal_id = recovered.journal_id
        self._envelope = Envelope(recovered.journal_id, options.compression, options.keys)
        check_keys(recovered, self._envelope, disk)
        files = open_cursor_files(directory, recovered.journal_id, disk)
        # A sequence that a link has settled is never used again, even where its record did not survive.
        last = max(recovered.last, *(file.state.highest for file in files.values() if file.state), 0)
        self._board: Board[T] = Board(
            last + 1, recovered.segments, Tail(last + 1, options.tail_records, options.tail_bytes)
        )
        self._cursor_files = CursorKeeper(cast("Board[object]", self._board), self._found)
        for finding in recovered.findings:
            self._found(finding)
        try:
            for link, file in files.items():
                self._place(link, file, "oldest")
        except OSError:
            close_all(files.values())
            raise
        self._committer = Committer(
            self._board,
            Writer(directory, self._journal_id, self._envelope, disk, options.usual_segment_bytes),
            self._cursor_files,
            options,
            disk,
            observer,
            self._found,
            directory.name,
        )
        self._committer.start()

    @classmethod
    def open(
        cls,
        directory: Path,
        codec: Codec[T],
        options: Options | None = None,
        observer: JournalObserver | None = None,
        *,
        disk: Disk | None = None,
        lock_patience_secs: float = PATIENCE_SECS,
    ) -> Journal[T]:
        """Lock the folder (made if it is missing), recover, and begin to write; what recovery finds is told to the observer.

        Raises JournalLocked, KeyMissing, another JournalError (a newer format, a missing library), and OSError.
        """
        disk = disk or Disk()
        make_directory(disk, directory)
        lock = JournalLock(directory, lock_patience_secs)
        try:
            return cls(directory, codec, options or Options(), observer or SilentObserver(), disk, lock)
        except BaseException:
            lock.release()
            raise

    def append(
        self, items: Sequence[T], *, durable: bool = True, on_safe: OnSafe | None = None, only: str | None = None
    ) -> range:
        """Take these, in this order; gives their sequences. From any thread; never waits for the disk.

        `on_safe` is called once, on the journal's thread, when they are safe: on disk (durable), or written and so safe from a
        crash of this process (not durable; synced soon after). It must not block. If the journal is closed while the disk cannot
        take them it is never called, and the source will deliver them again.

        With `only` they are for that link alone: for all others they count as duplicates, and are never handed out. Raises
        LinkBehind where another link is too far behind for that.

        Raises JournalHeld while too much waits to be written, and JournalClosed: then none of them was taken.
        """
        if not items:
            if on_safe is not None:
                on_safe()
            return range(0)
        encode = self._codec.encode
        payloads = [encode(item) for item in items]
        size = sum(map(len, payloads)) + HEAD_BYTES * len(payloads)
        board = self._board
        with board.lock:
            if board.closing:
                raise JournalClosed
            if board.queue_bytes and board.queue_bytes + size > self._options.queue_bytes:
                raise self._no_room()
            first = board.next_sequence
            if only is not None:
                check_reach(board, only, first + len(payloads) - 1)
            board.next_sequence = first + len(payloads)
            board.queue.append(Group(Appended(first, payloads, size), list(items), durable, on_safe, only))
            board.queue_bytes += size
            board.work.notify()
        return range(first, first + len(payloads))

    @property
    def held(self) -> JournalError | None:
        """Why appends are not being written right now; a source should not be asked for more until this is None again."""
        return self._board.held

    def await_room(self, timeout_secs: float) -> bool:
        """Wait until appends are being written and less than half of the queue is in use; False after the time-out."""
        deadline = time.monotonic() + timeout_secs
        board = self._board
        with board.lock:
            while board.held is not None or board.queue_bytes * 2 > self._options.queue_bytes:
                pause = deadline - time.monotonic()
                if pause <= 0 or board.closing:
                    return False
                board.news.wait(pause)
        return True

    def cursor(self, link: str, policy: Policy = "block", *, start: Literal["end", "oldest"] = "end") -> Cursor[T]:
        """The cursor of a link, which gets again what it has not settled. A link that is new here gets what is appended from now
        on, or everything that is still there. Raises JournalClosed, and OSError where the cursor's file cannot be made."""
        if self._board.closing:
            raise JournalClosed
        if link not in self._board.places:
            self._place(link, CursorFile(self._directory, link, self._journal_id, self._disk), start)
        place = self._board.places[link]
        if link not in self._cursors:
            reader = DiskReader(self._journal_id, self._envelope, self._disk)
            window = min(self._options.window, LARGEST_WINDOW)
            self._cursors[link] = Cursor(self._board, place, reader, self._codec, self._found, window)
        with self._board.lock:
            place.policy = policy
            place.overdue = 0
        cursor = self._cursors[link]
        cursor.rewind()
        return cursor

    def forget(self, link: str) -> None:
        """This link is no more: its cursor holds nothing back any longer, and is deleted."""
        with self._board.lock:
            self._board.places.pop(link, None)
            self._cursors.pop(link, None)
            self._board.settled_news = True
            self._board.work.notify()
        self._cursor_files.remove(link)
        remove_cursor(self._directory, link)

    def status(self) -> JournalStatus:
        with self._board.lock:
            board = self._board
            return JournalStatus(
                first=self._oldest,
                last=board.committed,
                segments=len(board.segments),
                size_bytes=sum(segment.size for segment in board.segments),
                queued_bytes=board.queue_bytes,
                held=board.held,
                links=[_link_place(place, board.committed) for place in board.places.values()],
            )

    def close(self, timeout_secs: float = 30.0) -> int:
        """Write what was taken, and the cursors; give the folder free. How many records could not be written: their `on_safe` was
        not called. Twice too."""
        with self._board.lock:
            self._board.closing = True
            self._board.work.notify()
            self._board.news.notify_all()
        if self._committer.join(timeout_secs):
            self._lock.release()  # else it is still writing, and nobody else may
        return self._committer.unwritten

    @property
    def _oldest(self) -> int:
        return self._board.segments[0].first if self._board.segments else self._board.committed + 1

    def _place(self, link: str, file: CursorFile, start: Literal["end", "oldest"]) -> None:
        """Put a link on the board: where its file says, or else where it starts. Raises OSError: then it is not there."""
        if file.finding is not None:
            self._found(file.finding)
            start = "oldest"  # it may have settled nothing of what is there: rather twice than never
        with self._board.lock:
            oldest = self._oldest
            state = file.state or CursorState(oldest - 1 if start == "oldest" else self._board.next_sequence - 1)
            first = state.position + 1
            lost = state.settle_through(oldest - 1, _LOST)
            self._board.places[link] = Place(link, state)
        if lost:
            self._found(missing(file.path, first, oldest - 1))
        try:
            file.write(state.copy(), sync=True)
        except OSError:
            with self._board.lock:
                del self._board.places[link]
            file.close()
            raise
        self._cursor_files.add(link, file)

    def _found(self, finding: JournalError) -> None:
        text = str(finding)
        if text not in self._reported and len(self._reported) < _MOST_REPORTED:
            self._reported.add(text)
            self._observer.found(finding)

    def _no_room(self) -> JournalHeld:
        """With the lock."""
        held = self._board.held
        return JournalHeld(
            "JNL-BACKLOG",
            f"{self._board.queue_bytes} bytes wait to be written" + (f": {held}" if held else ""),
            hint="come back when there is room; a source that is not asked keeps its events",
        )


def _link_place(place: Place, committed: int) -> LinkPlace:
    state = place.state
    settled = dict(zip(OUTCOMES, state.settled, strict=True))
    return LinkPlace(place.link, place.policy, state.base, state.position, state.pending(committed), settled)
