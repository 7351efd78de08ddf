"""What the threads of a journal share, under one lock.

    producers   append: put into `queue`, never wait
    committer   takes `queue`, writes, then publishes `segments`, `synced`, `committed` and the tail
    links       read what is committed, settle their cursors
    anybody     asks for the status

There is one lock and nobody waits for a disk while holding it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from gateway.journal.cursor_state import CursorState
from gateway.journal.errors import JournalError
from gateway.journal.options import Policy
from gateway.journal.segments import Segment
from gateway.journal.tail import Tail
from gateway.journal.writer import Appended

T = TypeVar("T")

OnSafe = Callable[[], None]


@dataclass(slots=True, eq=False)
class Group(Generic[T]):
    """What one append brought."""

    appended: Appended
    items: Sequence[T]
    durable: bool
    on_safe: OnSafe | None
    only: str | None = None  # the one link that it is for


@dataclass(slots=True, eq=False)
class Place:
    """Where a link stands, and what the journal does about it when it is full."""

    link: str
    state: CursorState
    policy: Policy = "block"
    overdue: int = 0  # with the policy dead_letter: the link must dead-letter what is pending up to this sequence
    dirty: bool = True  # changed since it was written
    unsynced: bool = True


class Board(Generic[T]):
    def __init__(self, next_sequence: int, segments: Sequence[Segment], tail: Tail[T]) -> None:
        self.lock = threading.Lock()
        self.work = threading.Condition(self.lock)  # for the committer: something to write, or to look after
        self.news = threading.Condition(self.lock)  # for links: something to read, or a wake-up
        self.queue: deque[Group[T]] = deque()
        self.queue_bytes = 0
        self.next_sequence = next_sequence
        self.committed = next_sequence - 1  # links may read up to here
        self.synced = next_sequence - 1  # … and find it on disk up to here
        self.segments: tuple[Segment, ...] = tuple(segments)  # up to their last synced byte
        self.tail = tail
        self.places: dict[str, Place] = {}
        self.settled_news = True  # a cursor has changed since the committer looked, or this is the start
        self.held: JournalError | None = None
        self.closing = False

    def settled_by_all(self) -> int:
        """Every link has settled everything up to here. Without links: nothing is settled."""
        return min((place.state.position for place in self.places.values()), default=0)

    def changed(self, place: Place) -> None:
        """Call with the lock, after a settlement."""
        place.dirty = place.unsynced = True
        if not self.settled_news:
            self.settled_news = True
            self.work.notify()
