"""What a consumer that is far behind has not got, and memory need not hold: it stays in the store, and is read back in order.

Without it a consumer that is away for a week would cost either its events or the memory of the service.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from adapters.cosnotification.service.engine.carried_event import CarriedEvent
from adapters.cosnotification.service.engine.event_queue import EventQueue

if TYPE_CHECKING:
    from adapters.cosnotification.service.store.database import RouteId
    from adapters.cosnotification.service.store.ledger import Ledger


class Backlog:
    """Between the ledger and one consumer's queue. Nothing is put twice: a debt knows the routes where it was."""

    def __init__(
        self, ledger: Ledger, channel: str, route: RouteId, queue: EventQueue, put: Callable[[CarriedEvent], None]
    ) -> None:
        self.most = 0  # events in memory; 0: however many, a limit of the consumer's own keeps them few
        self.left = 0  # in the store alone
        self._ledger = ledger
        self._channel = channel
        self._route = route
        self._queue = queue
        self._put = put
        self._behind = False
        self._position = 0  # up to here the store was read
        self._lock = threading.Lock()

    def offer(self, event: CarriedEvent) -> None:
        """One that is in the store, and owed to this consumer."""
        debt = event.debt
        assert debt is not None
        with self._lock:
            if self._behind and debt.number > self._position:
                self.left += 1
                return
            self._place(event)
            if not self._behind and self.most and len(self._queue) >= self.most:
                self._behind = True
                self._position = max(
                    self._position, debt.number
                )  # what was read beyond it is in the queue already, or was
                self._queue.refill = self._refill

    @property
    def behind(self) -> bool:
        return self._behind

    def abandon(self) -> None:
        """Nobody will take them: they are owed no more. What fails now is found out at the next start."""
        with suppress(sqlite3.Error):
            while self._behind:
                self._read(lambda event: self._ledger.settle(self._route, [event]))

    def _refill(self) -> None:
        """By whoever takes from the queue."""
        with suppress(sqlite3.Error):  # the next who takes tries again
            while self._behind and len(self._queue) <= self.most // 2:
                self._read(self._place)

    def _read(self, take: Callable[[CarriedEvent], None]) -> None:
        """With the lock held also while reading: whoever was turned away by then is in what is read."""
        with self._lock:
            self._position, events, at_end = self._ledger.read_on(self._channel, self._route, self._position)
            for event in events:
                take(event)
            self.left = 0 if at_end else max(0, self.left - len(events))
            if at_end:
                self._behind = False
                self._queue.refill = None

    def _place(self, event: CarriedEvent) -> None:
        debt = event.debt
        assert debt is not None
        if self._route not in debt.placed:
            debt.placed.add(self._route)
            self._put(event)
