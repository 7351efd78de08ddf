"""What a consumer that is behind reads from the store is nothing that it has had, whoever comes in between."""

from __future__ import annotations

from typing import Any

from adapters.cosnotification.service.engine.carried_event import CarriedEvent, CarriedStructured
from adapters.cosnotification.service.engine.event_queue import Batching, EventQueue, QueueRules
from adapters.cosnotification.service.store.backlog import Backlog
from adapters.cosnotification.service.store.ledger import Debt, Ledger

ROUTE = (1, 1)


def saved(number: int) -> CarriedStructured:
    event = CarriedStructured("d", "t", str(number), [], [], None)
    event.arrived = 0
    event.debt = Debt(number, {ROUTE})
    return event


class Rows:
    """A ledger of some rows, to read on."""

    def __init__(self, events: list[CarriedEvent]) -> None:
        self._events = events
        self.asked: list[int] = []

    def read_on(self, channel: str, route: Any, after: int) -> tuple[int, list[CarriedEvent], bool]:
        self.asked.append(after)
        found = [event for event in self._events if event.debt is not None and event.debt.number > after]
        return len(self._events), found, True


def test_an_event_that_is_offered_after_it_was_read_does_not_set_the_reading_back() -> None:
    events: list[CarriedEvent] = [saved(number) for number in range(1, 7)]
    rows, queue = Rows(events), EventQueue(QueueRules())
    backlog = Backlog(rows, "0", ROUTE, queue, queue.put)  # type: ignore[arg-type]
    backlog.most = 2
    got: list[str] = []

    def take_all() -> None:
        while taken := queue.take(Batching(10), 0.0):
            got.extend(event.structured.event_name for event in taken)
            queue.settle()

    backlog.offer(events[0])
    backlog.offer(events[1])
    assert backlog.behind
    taken = queue.take(Batching(10), 0.0)
    got.extend(event.structured.event_name for event in taken)
    queue.settle()
    assert queue.refill is not None
    queue.refill()  # reads the rest, while whoever has saved it is still offering it
    for event in events[2:]:
        backlog.offer(event)
    take_all()
    assert got == ["1", "2", "3", "4", "5", "6"]
    assert rows.asked == [2, 6], "each is read once"
    assert rows.asked[-1] > 2 or rows.asked == [2]


class Packed(CarriedStructured):
    def packed(self) -> tuple[str, bytes]:
        return "structured", b""


class Store:
    """Settles what is owed while its rows are being read: they are old when they arrive."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self.settle: Any = None

    def accept(self, rows: list[Any]) -> None:
        self.rows += rows

    def settled(self, debts: Any) -> None: ...

    def events(self, after: int, most: int, channel: str | None) -> list[Any]:
        rows = [row for row in self.rows if row.number > after]
        self.settle()
        return rows


def test_what_is_settled_while_its_row_is_read_is_owed_no_more() -> None:
    store = Store()
    ledger = Ledger(store)  # type: ignore[arg-type]
    event = Packed("d", "t", "1", [], [], None)
    event.arrived = 0
    held: list[Any] = [event]
    ledger.accept("0", [(event, {ROUTE})])

    def settle() -> None:
        ledger.settle(ROUTE, held)
        held.clear()

    store.settle = settle
    del event
    seen: list[Any] = []
    ledger._unpacked = seen.append  # type: ignore[method-assign,assignment,func-returns-value]
    assert ledger.read_on("0", ROUTE, 0) == (1, [], True)
    assert seen == [], "nobody looks at what is in it"
