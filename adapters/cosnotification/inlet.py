"""Where pushed events wait until the link asks for them, and where pushes wait until their event is safe.

    ORB threads ── offer ─▶ waiting ── take ─▶ handed to the link ── acknowledge ─▶ forgotten
                    ▲                                │
                    └── a persistent event's push returns only here, or is told to come again

- A best-effort event is accepted when it is in the buffer. While the buffer is full its push is held: the channel feels it.
- A persistent event's push is held until the link has acknowledged the event. A channel that pushes one event at a time therefore
  waits for the far side each time; sequences and several suppliers share the waits.
- No push is held longer than `hold_secs`: then it fails with NotTaken, and the channel tries again. Where the link has the event
  already, that second push *joins* the first instead of becoming a second event.
- What was taken in and not acknowledged stays here when the connection ends, and comes again after the next one: a channel forgets
  what it has handed over, so nobody else has it.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import deque
from collections.abc import Iterable
from typing import Any

from adapters.base import DeadLetterError, Delivery, ReconnectError
from mappings.model import StructuredEvent

REMEMBERED = 1000  # settled events whose push had given up, to know their retry by


class NotTaken(Exception):
    """The event is not with us: whoever pushed it must push it again."""


class Entry:
    """One event, from its first push to its acknowledgement."""

    __slots__ = ("error", "hold", "id", "original", "payload", "persistent", "place", "received_at", "redelivered")

    def __init__(
        self,
        id_: str,
        payload: StructuredEvent | None,
        error: DeadLetterError | None,
        original: bytes | None,
        persistent: bool,
    ) -> None:
        self.id = id_
        self.payload = payload
        self.error = error
        self.original = original
        self.persistent = persistent
        self.received_at = time.time()
        self.redelivered = False
        self.place = "waiting"  # or "handed" to the link, or "settled"
        self.hold: threading.Event | None = None  # set when the place changes to settled, or the inlet closes

    def delivery(self) -> Delivery:
        return Delivery(
            self.payload, self.id, self.received_at, self.persistent, self.redelivered, self.original, self.error, self
        )


class Inlet:
    """ORB threads call `offer`, the link's thread all the rest; one lock guards everything."""

    def __init__(self, capacity: int, hold_secs: float) -> None:
        self._capacity = capacity
        self._hold_secs = hold_secs
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        self._room = threading.Condition(self._lock)
        self._waiting: deque[Entry] = deque()
        self._handed: dict[Entry, None] = {}  # in the order in which they were handed over
        self._given_up: deque[Entry] = deque()  # persistent, their push failed, the channel will push them again
        self._taking = False
        self._woken = False
        self._open = False
        self._failure: ReconnectError | None = None
        self._prefix = uuid.uuid4().hex[:12]
        self._count = 0

    # ORB threads

    def offer(
        self,
        payload: StructuredEvent | None,
        error: DeadLetterError | None = None,
        original: bytes | None = None,
        *,
        persistent: bool = False,
    ) -> None:
        """Returns when the event is safe with us, by its own reliability. Raises NotTaken."""
        deadline = time.monotonic() + self._hold_secs
        with self._lock:
            if not self._open:
                raise NotTaken
            entry = self._retried(payload) if self._given_up and persistent else None
            if entry is None:
                self._wait_for_room(deadline)
                self._count += 1
                entry = Entry(f"{self._prefix}-{self._count}", payload, error, original, persistent)
                self._waiting.append(entry)
                if self._taking:
                    self._arrived.notify()
            if not persistent or entry.place == "settled":
                return
            entry.hold = hold = threading.Event()
        hold.wait(deadline - time.monotonic())
        with self._lock:
            if entry.place == "settled":
                return
            entry.hold = None
            if entry.place == "waiting" and self._open and not entry.redelivered:
                self._waiting.remove(entry)  # nobody has seen it: its retry is a new event
            else:
                self._remember(entry)
        raise NotTaken

    def _wait_for_room(self, deadline: float) -> None:
        while len(self._waiting) >= self._capacity:
            if not self._room.wait(deadline - time.monotonic()) or not self._open:
                raise NotTaken

    def _retried(self, payload: StructuredEvent | None) -> Entry | None:
        """The event whose push had given up, if this is its retry."""
        for entry in self._given_up:
            if entry.payload == payload and entry.hold is None:
                self._given_up.remove(entry)
                return entry
        return None

    def _remember(self, entry: Entry) -> None:
        if len(self._given_up) >= REMEMBERED:
            settled = next((old for old in self._given_up if old.place == "settled"), None)
            if settled is not None:
                self._given_up.remove(settled)
        self._given_up.append(entry)

    # The link's thread

    def open(self) -> None:
        with self._lock:
            self._open = True
            self._failure = None

    def take(self, limit: int, timeout_secs: float) -> list[Delivery]:
        """Raises the ReconnectError of `fail` when there is nothing left to give."""
        deadline = time.monotonic() + timeout_secs
        with self._lock:
            while not self._waiting:
                if self._failure is not None:
                    raise self._failure
                remaining = deadline - time.monotonic()
                if self._woken or remaining <= 0:
                    self._woken = False
                    return []
                self._taking = True
                self._arrived.wait(remaining)
                self._taking = False
            full = len(self._waiting) >= self._capacity
            taken = [self._waiting.popleft() for _ in range(min(limit, len(self._waiting)))]
            for entry in taken:
                entry.place = "handed"
                self._handed[entry] = None
            if full:
                self._room.notify(len(taken))
        return [entry.delivery() for entry in taken]

    def acknowledge(self, tokens: Iterable[Any]) -> None:
        """Entries that are back among the waiting count too: they are the same event, whatever connection brought it."""
        with self._lock:
            for entry in tokens:
                if entry.place == "handed":
                    del self._handed[entry]
                elif entry.place == "waiting":
                    self._waiting.remove(entry)
                entry.place = "settled"
                if entry.hold is not None:
                    entry.hold.set()

    def release(self, tokens: Iterable[Any]) -> None:
        with self._lock:
            self._give_back([entry for entry in tokens if entry in self._handed])

    def _give_back(self, entries: list[Entry]) -> None:
        for entry in reversed(entries):
            del self._handed[entry]
            entry.place = "waiting"
            entry.redelivered = True
            self._waiting.appendleft(entry)

    def fail(self, error: ReconnectError) -> None:
        """From any thread: the connection is broken."""
        with self._lock:
            self._failure = self._failure or error
            self._arrived.notify_all()

    def wake(self) -> None:
        """From any thread."""
        with self._lock:
            self._woken = True
            self._arrived.notify_all()

    def close(self) -> None:
        """Every push that is held fails; every event stays."""
        with self._lock:
            self._open = False
            self._give_back(list(self._handed))
            for entry in self._waiting:
                if entry.hold is not None:
                    entry.hold.set()
            self._room.notify_all()
