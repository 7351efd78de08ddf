"""What a supplier has on offer for a peer that pulls.

An event that a pull has returned may be lost on its way: the peer has it for sure when it calls again. Until then it counts as
unsettled, and comes again after a lost connection.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from adapters.cosnotification.kinds.kind import Wanted
from adapters.cosnotification.stubs import CORBA, CosEventComm

Item = tuple[Any, Callable[[], None] | None, Callable[[], None]]
"""What the peer gets; called just before it is given away alone, where it must be; called when the peer has it."""


class OfferShelf:
    """Threads of the ORB call `wait`, `look` and `disconnected`; the sender's thread calls the rest."""

    def __init__(self, hold_secs: float, on_disconnect: Callable[[], None]) -> None:
        self._hold_secs = hold_secs
        self._on_disconnect = on_disconnect
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._items: deque[Item] = deque()
        self._given: list[Callable[[], None]] = []  # what the peer has when it calls again
        self._open = True

    def put(self, items: Sequence[Item]) -> None:
        with self._lock:
            self._items.extend(items)
            self._changed.notify_all()

    def close(self) -> None:
        """Nothing is given any more; a pull that waits hears of it."""
        with self._lock:
            self._open = False
            self._items.clear()
            self._changed.notify_all()

    # What the peer does

    def wait(self, most: int, wanted: Wanted | None = None) -> list[Any]:
        deadline = time.monotonic() + self._hold_secs
        self._settle()
        with self._lock:
            while self._open and not self._is_next(wanted):
                if not self._changed.wait(deadline - time.monotonic()):
                    raise CORBA.TRANSIENT(0, CORBA.COMPLETED_NO)
            return self._take(most, wanted)

    def look(self, most: int, wanted: Wanted | None = None) -> list[Any]:
        self._settle()
        with self._lock:
            return self._take(most, wanted)

    def disconnected(self) -> None:
        self._settle()
        self._on_disconnect()

    def _settle(self) -> None:
        with self._lock:
            given, self._given = self._given, []
        for taken in given:
            taken()

    def _is_next(self, wanted: Wanted | None) -> bool:
        return bool(self._items) and (wanted is None or wanted(self._items[0][0]))

    def _take(self, most: int, wanted: Wanted | None) -> list[Any]:
        if not self._open:
            raise CosEventComm.Disconnected
        events: list[Any] = []
        while len(events) < most and self._is_next(wanted):
            event, announce, taken = self._items[0]
            if announce is not None and events:
                break
            self._items.popleft()
            self._given.append(taken)
            events.append(event)
            if announce is not None:
                announce()
                break
        if events and wanted is not None:
            self._changed.notify_all()  # others may wait for what is next now
        return events
