"""The accounts of a link: every event that came in is in exactly one place.

    received = delivered + filtered + looped + expired + duplicate + dead-lettered + dropped + lost + pending

Each movement changes two columns at once, under one lock, so that the sum holds in every snapshot. Only a journal drops (by the
link's policy, when it is full) and loses (what is damaged on disk); it keeps the accounts of its links itself.
"""

from __future__ import annotations

import threading
from typing import Literal, NamedTuple

Outcome = Literal["delivered", "filtered", "looped", "expired", "duplicate", "dead_lettered"]


class Balance(NamedTuple):
    """A consistent snapshot."""

    received: int = 0
    delivered: int = 0
    filtered: int = 0
    expired: int = 0
    duplicate: int = 0
    dead_lettered: int = 0
    looped: int = 0
    dropped: int = 0
    lost: int = 0
    pending: int = 0

    @property
    def holds(self) -> bool:
        return self.received == sum(self[1:])


class Accounts:
    """Counts; the link's thread writes, anybody reads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._received = 0
        self._pending = 0
        self._settled: dict[Outcome, int] = {
            "delivered": 0, "filtered": 0, "expired": 0, "duplicate": 0, "dead_lettered": 0, "looped": 0,
        }  # fmt: skip

    def received(self, count: int) -> None:
        with self._lock:
            self._received += count
            self._pending += count

    def settled(self, outcome: Outcome, count: int = 1) -> None:
        with self._lock:
            self._settled[outcome] += count
            self._pending -= count

    def give_back(self) -> None:
        """What is pending is left to whoever comes next, and will be received there: it was not received here after all."""
        with self._lock:
            self._received -= self._pending
            self._pending = 0

    def balance(self) -> Balance:
        with self._lock:
            return Balance(received=self._received, pending=self._pending, **self._settled)
