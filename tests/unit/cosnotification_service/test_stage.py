"""Where filters live in other processes: too much that waits for them is discarded and counted, but never what the store owes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import cast

import pytest

from adapters.cosnotification.service.engine import stage as stage_module
from adapters.cosnotification.service.engine.carried_event import CarriedEvent, CarriedStructured
from adapters.cosnotification.service.engine.event_queue import Batching
from adapters.cosnotification.service.engine.route import Route
from adapters.cosnotification.service.store.ledger import Debt

PATIENCE_SECS = 10.0


def event(number: int, *, owed: bool = False) -> CarriedStructured:
    made = CarriedStructured("d", "t", str(number), [], [], None)
    made.arrived = 0
    if owed:
        made.debt = cast(Debt, object())
    return made


class Rig:
    """A route whose filter hangs until it is let go."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.asked = threading.Event()
        self.route = Route((0, 0), "test")
        self.route.set(self._test, None, None, slow=True)

    def _test(self, event: CarriedEvent) -> bool:
        self.asked.set()
        return self.go_on.wait(PATIENCE_SECS)

    def got(self) -> list[int]:
        self.go_on.set()
        self.route.set(None, None, None)  # what waits is still asked about
        return [int(event.structured.event_name) for event in iter(self._take, None)]

    def _take(self) -> CarriedEvent | None:
        events = self.route.queue.take(Batching(), 1.0)
        return events[0] if events else None


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    monkeypatch.setattr(stage_module, "MOST_WAITING", 3)
    rig = Rig()
    rig.route.offer(event(0))
    assert rig.asked.wait(PATIENCE_SECS)  # this one is with the filter, and waits no more
    yield rig
    rig.go_on.set()
    rig.route.stop()


def test_what_is_too_much_is_discarded_and_counted_also_when_the_filter_has_gone(rig: Rig) -> None:
    for number in range(1, 6):
        rig.route.offer(event(number))
    assert rig.route.discarded == 2
    assert rig.got() == [0, 1, 2, 3]
    assert rig.route.discarded == 2


def test_what_the_store_owes_is_kept(rig: Rig) -> None:
    for number in range(1, 6):
        rig.route.offer(event(number, owed=number > 3))
    assert rig.route.discarded == 0
    assert rig.got() == [0, 1, 2, 3, 4, 5]
