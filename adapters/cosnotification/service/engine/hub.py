"""The middle of a channel: what suppliers send goes to the queue of every connected consumer whose filters pass it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from adapters.cosnotification.service.engine.carried_event import CarriedEvent
from adapters.cosnotification.service.engine.route import Route


class Full(Exception):
    """The channel takes no event now."""


class Hub:
    """Sending on takes no lock: it walks tuples that are replaced, never changed."""

    def __init__(self) -> None:
        self.accepted = 0
        self.reject_over = 0  # MaxQueueLength where RejectNewEvents is set; 0: never
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
        """One StructuredEvent of the ORB. Raises Full."""
        self.send(CarriedEvent(structured))

    def send(self, event: CarriedEvent) -> None:
        """Raises Full."""
        if self.reject_over:
            self._check_room()
        self.accepted += 1
        for route in self._routes:
            route.offer(event)

    def send_many(self, events: Sequence[CarriedEvent]) -> None:
        """All in order, or none: raises Full."""
        if self.reject_over:
            self._check_room()
        self.accepted += len(events)
        for route in self._routes:
            route.offer_many(events)

    @property
    def is_full(self) -> bool:
        return bool(self.reject_over) and any(len(route.queue) >= self.reject_over for route in self._routes)

    def _check_room(self) -> None:
        if self.is_full:
            raise Full
