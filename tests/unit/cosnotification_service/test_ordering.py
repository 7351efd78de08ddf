"""Order, discard and start/stop rules, with the vectors of RULES.md 1.6."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.cosnotification.service.engine.carried_event import CarriedAny
from adapters.cosnotification.service.engine.ordering import NEVER, Entry, Order, Ordering, Rules

PRIORITIES = {1: 0, 2: 0, 3: 0, 4: 2, 5: 2, 6: 0, 7: -1, 8: -1, 9: 0}
DEADLINES = {1: 9, 2: 8, 3: 7, 4: 3, 5: 2, 6: 5, 7: 4, 8: 6, 9: 1}
SOME_EVENT = CarriedAny(None)


def entry(number: int, priority: int = 0, deadline: int = NEVER, start: int = 0) -> Entry:
    return Entry(SOME_EVENT, number, priority, deadline, start)


def nine() -> Iterable[Entry]:
    return (entry(n, PRIORITIES[n], DEADLINES[n] * 10**8) for n in range(1, 10))


def drained(ordering: Ordering, now: int = 0) -> str:
    numbers = []
    while (found := ordering.pop(now)) is not None:
        numbers.append(found.number)
    return " ".join(map(str, numbers))


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (Order.FIFO, "1 2 3 4 5 6 7 8 9"),
        (Order.PRIORITY, "4 5 1 2 3 6 9 7 8"),
        (Order.ANY, "4 5 1 2 3 6 9 7 8"),
        (Order.DEADLINE, "9 5 4 7 6 8 3 2 1"),
    ],
)
def test_order_vectors(order: Order, expected: str) -> None:
    ordering = Ordering(Rules(order))
    for each in nine():
        ordering.add(each)
    assert drained(ordering) == expected


@pytest.mark.parametrize(
    ("discard", "fifo", "priority", "deadline"),
    [
        (Order.ANY, "1 2 3 4 5", "4 5 1 2 3", "5 4 3 2 1"),
        (Order.LIFO, "1 2 3 4 5", "4 5 1 2 3", "5 4 3 2 1"),
        (Order.FIFO, "5 6 7 8 9", "5 6 9 7 8", "9 5 7 6 8"),
        (Order.PRIORITY, "1 2 3 4 5", "4 5 1 2 3", "5 4 3 2 1"),
        (Order.DEADLINE, "1 2 3 6 8", "1 2 3 6 8", "6 8 3 2 1"),
    ],
)
def test_discard_vectors(discard: Order, fifo: str, priority: str, deadline: str) -> None:
    for order, expected in ((Order.FIFO, fifo), (Order.PRIORITY, priority), (Order.DEADLINE, deadline)):
        ordering = Ordering(Rules(order, discard, 5))
        for each in nine():
            ordering.add(each)
        assert (len(ordering), ordering.discarded) == (5, 4)
        assert drained(ordering) == expected


def test_start_and_stop_vectors() -> None:
    """E1 start +10 s stop +20 s; E2 start +30 s stop +10 s; E3 start +20 s stop +40 s."""
    ordering = Ordering(Rules(Order.FIFO))
    for number, start, stop in ((1, 10, 20), (2, 30, 10), (3, 20, 40)):
        ordering.add(entry(number, deadline=stop, start=start))
    assert drained(ordering, 0) == ""
    assert drained(ordering, 12) == "1"
    assert drained(ordering, 22) == "3"
    assert drained(ordering, 35) == ""
    assert (ordering.expired, len(ordering)) == (1, 0)


def test_rules_may_change_while_events_wait() -> None:
    ordering = Ordering(Rules(Order.FIFO))
    for each in nine():
        ordering.add(each)
    first = ordering.pop(0)
    assert first is not None
    assert first.number == 1
    ordering.change(Rules(Order.PRIORITY, Order.FIFO, 4))
    assert (len(ordering), ordering.discarded) == (4, 4)
    assert drained(ordering) == "6 9 7 8"


ENTRIES = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(1, 20), st.sampled_from([0, 0, 0, 5, 10])), max_size=40
)  # priority, deadline, start


@given(ENTRIES, st.sampled_from(list(Order)[:4]), st.sampled_from(Order), st.integers(0, 8), st.data())
def test_as_a_plain_list_would_do_it(
    specs: list[tuple[int, int, int]], order: Order, discard: Order, limit: int, data: st.DataObject
) -> None:
    """Adding and popping in turns, against a list that is searched."""
    deliver = {
        Order.FIFO: lambda e: e.number,
        Order.DEADLINE: lambda e: (e.deadline, e.number),
    }.get(order, lambda e: (-e.priority, e.number))
    victim = {
        Order.FIFO: lambda e: e.number,
        Order.PRIORITY: lambda e: (e.priority, -e.number),
        Order.DEADLINE: lambda e: (e.deadline, e.number),
    }.get(discard, lambda e: -e.number)
    ordering = Ordering(Rules(order, discard, limit))
    model: list[Entry] = []
    now = 0
    for number, (priority, deadline, start) in enumerate(specs):
        ordering.add(entry(number, priority, deadline, start))
        model.append(entry(number, priority, deadline, start))
        if limit and len(model) > limit:
            model.remove(min(model, key=victim))
        assert len(ordering) == len(model)
        if data.draw(st.booleans()):
            now += data.draw(st.integers(0, 3))
            due = sorted((e for e in model if e.start <= now), key=deliver)
            expected = None
            for candidate in due:
                model.remove(candidate)
                if candidate.deadline > now:
                    expected = candidate.number
                    break
            found = ordering.pop(now)
            assert (found.number if found else None) == expected
