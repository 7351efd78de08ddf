"""Looking at events while they pass (`isthmus tap`): live, lossy by design, never in the way.

A link spends one look at `LinkTap.listeners` per batch while nobody listens. What it hands over are references; choosing, writing
out and sending is left to whoever listens. A listener that is behind misses events, and is told how many.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Collection, Sequence
from typing import Final, Literal, NamedTuple

from adapters.base import Delivery, Outgoing, Payload

Stage = Literal["received", "translated", "sent"]
STAGES: Final[tuple[Stage, ...]] = ("received", "translated", "sent")
ROOM: Final = 2_000  # events that may wait for one listener


class Seen(NamedTuple):
    """One event at one stage. Nobody changes what it refers to."""

    link: str
    stage: Stage
    at: float
    delivery: Delivery
    payload: Payload | None


class Listener:
    """Links add, one reader takes. No lock: each of the two counts is changed by one side, and a deque does the rest."""

    def __init__(self, wanted: Collection[tuple[str, Stage]]) -> None:
        self.wanted = frozenset(wanted)
        self._waiting: deque[Seen] = deque()
        self._missed: deque[int] = deque()  # counts, which several links may add

    def add(self, seen: Sequence[Seen]) -> None:
        room = ROOM - len(self._waiting)
        if len(seen) > room:
            self._missed.append(len(seen) - max(0, room))
            seen = seen[: max(0, room)]
        self._waiting.extend(seen)

    def take(self, limit: int) -> tuple[list[Seen], int]:
        """What came since, and how many were missed."""
        taken = [self._waiting.popleft() for _ in range(min(limit, len(self._waiting)))]
        missed = sum(self._missed.popleft() for _ in range(len(self._missed)))
        return taken, missed


class LinkTap:
    """Of one link, which tells it what passes."""

    def __init__(self, link: str) -> None:
        self._link = link
        self.listeners: tuple[Listener, ...] = ()

    def received(self, deliveries: Sequence[Delivery]) -> None:
        now = time.time()
        self._tell([Seen(self._link, "received", now, delivery, delivery.payload) for delivery in deliveries])

    def translated(self, deliveries: Sequence[Delivery], batch: Sequence[Outgoing]) -> None:
        self._tell_of("translated", deliveries, batch)

    def sent(self, deliveries: Sequence[Delivery], batch: Sequence[Outgoing]) -> None:
        self._tell_of("sent", deliveries, batch)

    def _tell_of(self, stage: Stage, deliveries: Sequence[Delivery], batch: Sequence[Outgoing]) -> None:
        now = time.time()
        pairs = zip(deliveries, batch, strict=True)
        self._tell([Seen(self._link, stage, now, delivery, outgoing.payload) for delivery, outgoing in pairs])

    def _tell(self, seen: Sequence[Seen]) -> None:
        if seen:
            for listener in self.listeners:
                if (self._link, seen[0].stage) in listener.wanted:
                    listener.add(seen)


class Taps:
    """Those of a gateway; they outlive the links, which may be made anew."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taps: dict[str, LinkTap] = {}

    def of_link(self, link: str) -> LinkTap:
        with self._lock:
            return self._taps.setdefault(link, LinkTap(link))

    def join(self, listener: Listener) -> None:
        for link in {link for link, _ in listener.wanted}:
            tap = self.of_link(link)
            with self._lock:
                tap.listeners = (*tap.listeners, listener)

    def leave(self, listener: Listener) -> None:
        with self._lock:
            for tap in self._taps.values():
                tap.listeners = tuple(other for other in tap.listeners if other is not listener)
