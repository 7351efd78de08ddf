"""A thread between the hub and a queue, where filters live in other processes: only their own consumer waits for them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from adapters.cosnotification.service.engine.carried_event import CarriedEvent

MOST_WAITING: Final = 100_000
IDLE_SECS: Final = 5.0


class Stage:
    """`consider` sees the events in order, one at a time.

    Over MOST_WAITING new events are discarded, and counted, but for those that are owed to the consumer by the store.
    """

    def __init__(self, name: str, consider: Callable[[CarriedEvent], None]) -> None:
        self.discarded = 0
        self._consider = consider
        self._events: deque[CarriedEvent] = deque()
        self._wake = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name=f"filter-{name}", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        return len(self._events)

    def put(self, event: CarriedEvent) -> None:
        if len(self._events) >= MOST_WAITING and event.debt is None:
            self.discarded += 1
            return
        self._events.append(event)
        self._wake.set()

    def put_many(self, events: Iterable[CarriedEvent]) -> None:
        for event in events:
            self.put(event)

    def stop(self, *, drop: bool = False) -> None:
        """Ends when what waits has been considered, or is dropped."""
        self._stopping = True
        if drop:
            self._events.clear()
        self._wake.set()

    def _run(self) -> None:
        while True:
            while self._events:
                self._consider(self._events.popleft())
            if self._stopping:
                return
            self._wake.wait(IDLE_SECS)
            self._wake.clear()
