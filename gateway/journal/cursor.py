"""A link's view of a journal: what is pending for it, in order, and what it has settled.

One thread at a time uses a cursor (`wake` excepted). Records are handed out once; those that are neither settled nor released when
the link starts anew are handed out again after `rewind`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar

from gateway.journal.board import Board, Place
from gateway.journal.codec import Codec
from gateway.journal.cursor_state import OUTCOMES, CursorState
from gateway.journal.disk_reader import DiskReader, Part
from gateway.journal.errors import JournalClosed, JournalError, missing
from gateway.journal.segments import Segment, index_of

T = TypeVar("T")

_LOST: Final = OUTCOMES.index("lost")


class Entry(NamedTuple, Generic[T]):
    sequence: int
    item: T
    again: bool  # it was in the journal before this process was, so it may have been sent before


class Cursor(Generic[T]):
    """Made by `Journal.cursor`."""

    def __init__(
        self,
        board: Board[T],
        place: Place,
        reader: DiskReader,
        codec: Codec[T],
        found: Callable[[JournalError], None],
        window: int,
    ) -> None:
        self._board = board
        self._place = place
        self._reader = reader
        self._codec = codec
        self._found = found
        self._window = window
        self._new_from = board.next_sequence
        self._next = place.state.position + 1
        self._handed_out: set[int] = set()
        self._woken = False

    @property
    def link(self) -> str:
        return self._place.link

    def read(self, limit: int, timeout_secs: float) -> list[Entry[T]]:
        """The next pending records, in order, as soon as there is one; [] after the time-out or a wake.

        Nothing further than the window ahead of the oldest pending record is handed out: settle that one first. What is
        damaged is settled as lost, reported, and skipped. Raises JournalClosed; KeyMissing where the journal is encrypted.
        """
        deadline = time.monotonic() + timeout_secs
        while True:
            with self._board.lock:
                start, through = self._await_readable(deadline)
                if through < start:
                    return []
                from_disk = start < self._board.tail.first
                if from_disk:
                    segments, through = self._board.segments, min(through, self._board.synced)
                else:
                    items = self._board.tail.slice(start, min(limit, through - start + 1))
                    entries = self._hand_out(enumerate(items, start))
                    self._next = start + len(items)
            if from_disk:
                try:
                    part = self._reader.read(segments, start, through, limit)
                except FileNotFoundError as gone:
                    part = self._vanished(start, through, segments, Path(gone.filename))
                entries = self._take(start, part)
            if entries:
                return entries

    def settle(self, sequences: Collection[int], outcome: str = "delivered") -> int:
        """These have come to their end; how many of them were pending. Settling twice, or what was dropped, changes nothing."""
        number = OUTCOMES.index(outcome)
        with self._board.lock:
            count = self._place.state.settle(sequences, number)
            self._handed_out.difference_update(sequences)
            if count:
                self._board.changed(self._place)
        return count

    def release(self, sequences: Iterable[int]) -> None:
        """Not settled after all: they are handed out again."""
        with self._board.lock:
            for sequence in sequences:
                self._handed_out.discard(sequence)
                self._next = min(self._next, sequence)
            self._board.news.notify_all()

    def rewind(self) -> None:
        """Everything that is pending is handed out again: for a link that starts anew."""
        with self._board.lock:
            self._handed_out.clear()
            self._next = self._place.state.position + 1

    def wake(self) -> None:
        """Make a blocked read() return soon, or the next one at once. From any thread."""
        with self._board.lock:
            self._woken = True
            self._board.news.notify_all()

    @property
    def pending(self) -> int:
        with self._board.lock:
            return self._place.state.pending(self._board.committed)

    @property
    def overdue(self) -> int:
        """With the policy dead_letter: dead-letter everything pending up to this sequence, the journal is full. 0: nothing."""
        with self._board.lock:
            return self._place.overdue if self._place.overdue > self._place.state.position else 0

    def state(self) -> CursorState:
        """A copy: position, what is settled beyond it, and the counts by outcome."""
        with self._board.lock:
            return self._place.state.copy()

    def _await_readable(self, deadline: float) -> tuple[int, int]:
        """Where to read from and up to where; the second is lower when there is nothing. With the lock."""
        board, state = self._board, self._place.state
        while True:
            if board.closing:
                raise JournalClosed
            self._next = max(self._next, state.position + 1)  # records may have been dropped
            through = min(board.committed, state.position + self._window)
            if self._woken or self._next <= through:
                break
            pause = deadline - time.monotonic()
            if pause <= 0:
                break
            board.news.wait(pause)
        if self._woken:
            self._woken = False
            return self._next, self._next - 1
        return self._next, through

    def _hand_out(self, records: Iterable[tuple[int, T]]) -> list[Entry[T]]:
        """With the lock."""
        is_settled, handed_out, new_from = self._place.state.is_settled, self._handed_out, self._new_from
        entries = [
            Entry(sequence, item, sequence < new_from)
            for sequence, item in records
            if sequence not in handed_out and not is_settled(sequence)
        ]
        handed_out.update([entry[0] for entry in entries])
        return entries

    def _vanished(self, start: int, through: int, segments: Sequence[Segment], path: Path) -> Part:
        """A segment is not there any more: we have deleted it, and its records are settled; or somebody else has."""
        following = index_of(segments, start) + 1
        last = min(through, segments[following].first - 1) if following < len(segments) else through
        with self._board.lock:
            is_ours = all(segment.path != path for segment in self._board.segments)
        return Part([], last, [] if is_ours else [missing(path, start, last)])

    def _take(self, start: int, part: Part) -> list[Entry[T]]:
        for finding in part.findings:
            self._found(finding)
        records = [(sequence, self._codec.decode(payload)) for sequence, payload in part.payloads]
        present = {sequence for sequence, _ in part.payloads}
        with self._board.lock:
            gone = [
                sequence
                for sequence in range(start, part.through + 1)
                if sequence not in present and sequence not in self._handed_out
            ]
            if gone and self._place.state.settle(gone, _LOST):
                self._board.changed(self._place)
            self._next = part.through + 1
            return self._hand_out(records)
