"""The middle of a channel: what suppliers send goes to the queue of every connected consumer whose filters pass it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, final

from adapters.cosnotification.service.engine.carried_event import CarriedEvent
from adapters.cosnotification.service.engine.route import Route

if TYPE_CHECKING:
    from adapters.cosnotification.service.store.ledger import Ledger


MOST_TYPES: Final = 10_000  # counted each for itself: suppliers may make up ever new ones
OTHERS: Final = ("*", "*")


Record = Callable[[Sequence[CarriedEvent]], bool]


class Full(Exception):
    """The channel takes no event now."""


@final
class Hub:
    """Sending on takes no lock: it walks tuples that are replaced, never changed.

    What a channel may do to events before they are sent on is set, not overridden: `record`, `ledger`, `reject_over`. Where
    none is, one look is all that they cost.
    """

    def __init__(self, channel: str = "") -> None:
        self.accepted = 0
        self.passed: dict[tuple[str, str], int] = {}  # events by type; of two threads at once one may go uncounted
        self.persistent = False  # EventReliability of events that say none
        self._channel = channel
        self._reject_over = 0
        self._ledger: Ledger | None = None
        self._record: Record | None = None
        self._checked = False  # one of these is set
        self._routes: tuple[Route, ...] = ()
        self.relays = True  # it pays to take octets: somebody gets them as they are, or nobody gets anything
        self._lock = threading.Lock()

    @property
    def reject_over(self) -> int:
        """MaxQueueLength where RejectNewEvents is set; 0: never."""
        return self._reject_over

    @reject_over.setter
    def reject_over(self, value: int) -> None:
        self._reject_over = value
        self._note()

    @property
    def ledger(self) -> Ledger | None:
        """Set where the channel's connections are Persistent."""
        return self._ledger

    @ledger.setter
    def ledger(self, value: Ledger | None) -> None:
        self._ledger = value
        self._note()

    @property
    def record(self) -> Record | None:
        """Sees all events first, and says whether they are passed on."""
        return self._record

    @record.setter
    def record(self, value: Record | None) -> None:
        self._record = value
        self._note()

    def _note(self) -> None:
        self._checked = bool(self._reject_over) or self._ledger is not None or self._record is not None

    @property
    def routes(self) -> tuple[Route, ...]:
        return self._routes

    def add(self, route: Route) -> None:
        with self._lock:
            self._routes = (*self._routes, route)
        self.consider_octets()

    def remove(self, route: Route) -> None:
        with self._lock:
            self._routes = tuple(other for other in self._routes if other is not route)
        self.consider_octets()

    def consider_octets(self) -> None:
        """After every change of a route's `takes_octets`."""
        with self._lock:
            self.relays = not self._routes or any(route.takes_octets for route in self._routes)

    @property
    def is_checked(self) -> bool:
        """Something is done to events before they are sent on."""
        return self._checked

    def send(self, event: CarriedEvent) -> None:
        """Raises Full, StoreFailed."""
        if self._checked:
            self._send_checked((event,))
            return
        self.accepted += 1
        try:
            self.passed[event.domain_name, event.type_name] += 1
        except KeyError:
            self._count(event.type_key, 1)
        for route in self._routes:
            route.offer(event)

    def send_many(self, events: Sequence[CarriedEvent]) -> None:
        """All in order, or none: raises Full, StoreFailed."""
        if self._checked:
            self._send_checked(events)
            return
        self._count_all(events)
        for route in self._routes:
            route.offer_many(events)

    def _send_checked(self, events: Sequence[CarriedEvent]) -> None:
        if self._reject_over and self.is_full:
            raise Full
        if self._record is not None and not self._record(events):
            return
        if self._ledger is not None:
            self._save_and_send(events, self._ledger)
            return
        self._count_all(events)
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
        self._count_all(events)
        for put in puts:
            put()

    def _count_all(self, events: Sequence[CarriedEvent]) -> None:
        """Mostly they are of one type: each run of equal ones is counted at once."""
        self.accepted += len(events)
        domain_name = type_name = None
        run = 0
        for event in events:
            if event.type_name == type_name and event.domain_name == domain_name:
                run += 1
                continue
            if run:
                self._count((domain_name, type_name), run)  # type: ignore[arg-type]
            domain_name, type_name = event.domain_name, event.type_name
            run = 1
        if run:
            self._count((domain_name, type_name), run)  # type: ignore[arg-type]

    def _count(self, type_: tuple[str, str], count: int) -> None:
        passed = self.passed
        try:
            passed[type_] += count
        except KeyError:
            if len(passed) >= MOST_TYPES:
                type_ = OTHERS
            passed[type_] = passed.get(type_, 0) + count
