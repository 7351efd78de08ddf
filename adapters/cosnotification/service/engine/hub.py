"""The middle of a channel: what suppliers send goes to the queue of every connected consumer whose filters pass it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from adapters.cosnotification.service.engine.carried_event import CarriedEvent
from adapters.cosnotification.service.engine.route import Route

if TYPE_CHECKING:
    from adapters.cosnotification.service.store.ledger import Ledger


MOST_TYPES: Final = 10_000  # counted each for itself: suppliers may make up ever new ones
OTHERS: Final = ("*", "*")


class Full(Exception):
    """The channel takes no event now."""


class Hub:
    """Sending on takes no lock: it walks tuples that are replaced, never changed."""

    def __init__(self, channel: str = "") -> None:
        self.accepted = 0
        self.passed: dict[tuple[str, str], int] = {}  # events by type; of two threads at once one may go uncounted
        self.reject_over = 0  # MaxQueueLength where RejectNewEvents is set; 0: never
        self.ledger: Ledger | None = None  # set where the channel's connections are Persistent
        self.persistent = False  # EventReliability of events that say none
        self._channel = channel
        self._routes: tuple[Route, ...] = ()
        self._lock = threading.Lock()

    @property
    def routes(self) -> tuple[Route, ...]:
        return self._routes

    def add(self, route: Route) -> None:
        with self._lock:
            self._routes = (*self._routes, route)

    def remove(self, route: Route) -> None:
        with self._lock:
            self._routes = tuple(other for other in self._routes if other is not route)

    def publish(self, structured: Any) -> None:
        """One StructuredEvent of the ORB: `send` in one step, for the usual case. Raises Full, StoreFailed."""
        event = CarriedEvent(structured)
        if self.reject_over or self.ledger is not None:
            self.send(event)
            return
        self.accepted += 1
        type_ = structured.header.fixed_header.event_type
        try:
            self.passed[type_.domain_name, type_.type_name] += 1
        except KeyError:
            self._count(event)
        for route in self._routes:
            route.offer(event)

    def send(self, event: CarriedEvent) -> None:
        """Raises Full, StoreFailed."""
        if self.reject_over:
            self._check_room()
        if self.ledger is not None:
            self._save_and_send([event], self.ledger)
            return
        self.accepted += 1
        self._count(event)
        for route in self._routes:
            route.offer(event)

    def send_many(self, events: Sequence[CarriedEvent]) -> None:
        """All in order, or none: raises Full, StoreFailed."""
        if self.reject_over:
            self._check_room()
        if self.ledger is not None:
            self._save_and_send(events, self.ledger)
            return
        self.accepted += len(events)
        for event in events:
            self._count(event)
        for route in self._routes:
            route.offer_many(events)

    @property
    def is_full(self) -> bool:
        return bool(self.reject_over) and any(route.waiting >= self.reject_over for route in self._routes)

    def _save_and_send(self, events: Sequence[CarriedEvent], ledger: Ledger) -> None:
        """No consumer gets a persistent event before it is on disk, and then every one that it is owed to will."""
        routes, default = self._routes, self.persistent
        puts = []
        saved = []
        for event in events:
            owing = set()
            is_persistent = default if event.persistent is None else event.persistent
            for route in routes:
                put = route.plan(event)
                if put is not None:
                    puts.append(put)
                    if is_persistent and route.kept:
                        owing.add(route.id)
            if owing:
                saved.append((event, owing))
        if saved:
            ledger.accept(self._channel, saved)
        self.accepted += len(events)
        for event in events:
            self._count(event)
        for put in puts:
            put()

    def _count(self, event: CarriedEvent) -> None:
        passed, type_ = self.passed, event.event_type
        try:
            passed[type_] += 1
        except KeyError:
            if len(passed) >= MOST_TYPES:
                type_ = OTHERS
            passed[type_] = passed.get(type_, 0) + 1

    def _check_room(self) -> None:
        if self.is_full:
            raise Full
