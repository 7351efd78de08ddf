"""Persistent events: each is on disk from before its push returns until every consumer that it is owed to has it."""

from __future__ import annotations

import marshal
import threading
from collections.abc import Iterable, Sequence
from typing import Final
from weakref import WeakValueDictionary

from adapters.cosnotification.service.engine.carried_event import UNPACKED, CarriedEvent
from adapters.cosnotification.service.store.database import RouteId, SavedEvent, Store

READ_AT_ONCE: Final = 500


class Debt:
    """What one event is owed to: routes of connected consumers whose connection is Persistent."""

    __slots__ = ("__weakref__", "number", "owing", "placed")

    def __init__(self, number: int, owing: set[RouteId]) -> None:
        self.number = number
        self.owing = owing
        self.placed: set[RouteId] = set()  # routes whose queue has it, or had it


class Ledger:
    """One for all channels of a service."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._next = 1
        self._debts: WeakValueDictionary[int, Debt] = WeakValueDictionary()  # those that somebody still holds
        self.unreadable = 0

    def accept(self, channel: str, events: Sequence[tuple[CarriedEvent, set[RouteId]]]) -> None:
        """Returns when they are on disk. Raises StoreFailed, or an exception of CORBA where one cannot be marshalled."""
        rows = []
        with self._lock:
            first = self._next
            self._next += len(events)
        for number, (event, owing) in enumerate(events, first):
            form, content = event.packed()
            head = marshal.dumps((form, event.arrived, event.priority, event.timeout))
            rows.append(SavedEvent(number, channel, head, content, set(owing)))
            event.debt = self._debts[number] = Debt(number, owing)
        self._store.accept(rows)

    def settle(self, route: RouteId, events: Iterable[CarriedEvent]) -> None:
        """The consumer behind the route has got them, or never will. What is not in the store is passed over."""
        debts = [event.debt for event in events if event.debt is not None]
        if debts:
            for debt in debts:
                debt.owing.discard(route)
            self._store.settled(debts)

    def read(self, routes: dict[str, set[RouteId]]) -> Iterable[tuple[str, CarriedEvent]]:
        """At the start: all that is still owed to one of these routes (by channel), in order. What is owed to nobody is forgotten;
        what cannot be read stays where it is, and is counted."""
        after = 0
        while saved := self._store.events(after, READ_AT_ONCE, None):
            for row in saved:
                after = row.number
                debt = Debt(row.number, row.owing & routes.get(row.channel, set()))
                if not debt.owing:
                    self._store.settled([debt])
                    continue
                event = self._unpacked(row)
                if event is None:
                    self.unreadable += 1
                    continue
                event.debt = self._debts[row.number] = debt
                yield row.channel, event
        self._next = after + 1

    def read_on(self, channel: str, route: RouteId, after: int) -> tuple[int, list[CarriedEvent], bool]:
        """Up to where it was read, what of that is owed to this route, and whether that is all there is."""
        alive = [
            debt() for debt in self._debts.valuerefs()
        ]  # what is settled while we read is known by its debt, not by its row
        saved = self._store.events(after, READ_AT_ONCE, channel)
        events = []
        for row in saved:
            after = row.number
            debt = self._debts.get(row.number)
            if debt is None:
                debt = self._debts[row.number] = Debt(row.number, row.owing)
            if route in debt.owing and (event := self._unpacked(row)) is not None:
                event.debt = debt
                events.append(event)
        del alive
        return after, events, len(saved) < READ_AT_ONCE

    def _unpacked(self, row: SavedEvent) -> CarriedEvent | None:
        try:
            form, arrived, priority, timeout = marshal.loads(row.head)
            event = UNPACKED[form](row.content)
        except Exception:  # noqa: BLE001 - one that cannot be read must not keep the service from starting
            return None
        event.arrived = arrived
        event.set_defaults(priority, timeout)
        return event
