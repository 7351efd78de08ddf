"""The events that wait for one consumer, oldest first.

Any number of threads put, one takes. Putting takes no lock: a deque's ends are safe, and the taker is woken only when it sleeps.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any


class EventQueue:
    def __init__(self, limit: int) -> None:
        self.limit = limit  # 0: none
        self.discarded = 0
        self._events: deque[Any] = deque()
        self._sleeping = False
        self._wake = threading.Event()

    def __len__(self) -> int:
        return len(self._events)

    def put(self, event: Any) -> None:
        """Over the limit the newest event is discarded, and counted (DiscardPolicy AnyOrder)."""
        if self.limit and len(self._events) >= self.limit:
            self.discarded += 1
            return
        self._events.append(event)
        if self._sleeping:
            self._wake.set()

    def peek(self, timeout_secs: float) -> Any | None:
        """The oldest event, which stays; None after the time-out or a nudge."""
        try:
            return self._events[0]
        except IndexError:
            pass
        deadline = time.monotonic() + timeout_secs
        self._sleeping = True
        try:
            if not self._events:  # put may have missed that we sleep
                self._wake.wait(deadline - time.monotonic())
        finally:
            self._sleeping = False
            self._wake.clear()
        return self._events[0] if self._events else None

    def pop(self) -> None:
        """Remove what `peek` has shown."""
        self._events.popleft()

    def nudge(self) -> None:
        """End a `peek` that waits."""
        self._wake.set()

    def clear(self) -> None:
        self._events.clear()
