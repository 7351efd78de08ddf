"""From the hub to one consumer's queue: filters, subscription, mapping filters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from adapters.cosnotification.service.engine.carried_event import CarriedEvent
from adapters.cosnotification.service.engine.event_queue import EventQueue, Mapped, QueueRules
from adapters.cosnotification.service.engine.filter_set import Test
from adapters.cosnotification.service.engine.stage import Stage
from adapters.cosnotification.service.store.backlog import Backlog

if TYPE_CHECKING:
    from adapters.cosnotification.service.store.database import RouteId
    from adapters.cosnotification.service.store.ledger import Ledger

Mapping = Callable[[CarriedEvent], int | None]
"""The Priority or Timeout that a mapping filter sets; None where none of its constraints matches."""


class Route:
    """`set` while events pass is fine: each event meets the old rules or the new ones."""

    def __init__(self, id_: RouteId, name: str, ledger: Ledger | None = None, channel: str = "") -> None:
        self.id = id_
        self.queue = EventQueue(QueueRules(), over=None if ledger is None else self._over)
        self.takes_octets = False  # as they came
        self.kept = False  # the consumer's connection outlives this process: persistent events are owed to it
        self._ledger = ledger
        self.backlog = (
            None
            if ledger is None
            else Backlog(ledger, channel, id_, self.queue, lambda event: self.queue.put(self._mapped(event)))
        )
        self._closed = False
        self._name = name
        self._stage: Stage | None = None
        self._discarded = 0  # by stages before the one that there is
        self.set(None, None, None)

    def set(self, test: Test | None, priority: Mapping | None, timeout: Mapping | None, *, slow: bool = False) -> None:
        """`slow`: something in it calls other processes. Then a thread of its own asks it, and nobody else has to wait."""
        stage, self._stage = self._stage, None
        self._test, self._priority, self._timeout = test, priority, timeout
        plain = test is None and priority is None and timeout is None
        if slow and not plain:
            self._stage = stage or Stage(self._name, self._consider)
            self.offer = self._stage.put
            self.offer_many = self._stage.put_many
            return
        if plain:
            self.offer = self.queue.put
            self.offer_many = self.queue.put_many
        else:
            self.offer = self._consider
            self.offer_many = self._consider_many
        if stage is not None:
            stage.stop()
            self._discarded += stage.discarded

    @property
    def discarded(self) -> int:
        """Events that nobody has looked at, because too many waited for that."""
        stage = self._stage
        return self._discarded + (0 if stage is None else stage.discarded)

    offer: Callable[[CarriedEvent], None]
    offer_many: Callable[[Sequence[CarriedEvent]], None]

    @property
    def waiting(self) -> int:
        """Events that are not with the consumer yet."""
        stage = self._stage
        left = self.backlog.left if self.backlog is not None else 0
        return len(self.queue) + left + (len(stage) if stage is not None else 0)

    def stop(self) -> None:
        """Nobody will take what waits."""
        self._closed = True
        if self._stage is not None:
            self._stage.stop(drop=True)
        self.queue.clear()

    # For events that may have to be saved before anybody gets them

    def plan(self, event: CarriedEvent) -> Callable[[], None] | None:
        """Decides; what it gives puts the event where it belongs. None: this consumer does not get it."""
        stage = self._stage
        if stage is not None:
            return lambda: self._late(stage.put, event)
        test = self._test
        if test is not None and not test(event):
            return None
        return lambda: self._late(self._place, event)

    def again(self, event: CarriedEvent) -> None:
        """An event that was owed to this consumer when the process before us ended."""
        self._place(event)

    def _place(self, event: CarriedEvent) -> None:
        if self.backlog is not None and event.debt is not None and self.id in event.debt.owing:
            self.backlog.offer(event)
        else:
            self.queue.put(self._mapped(event))

    def _late(self, put: Callable[[CarriedEvent], None], event: CarriedEvent) -> None:
        put(event)
        if self._closed:
            self.queue.clear()

    def _consider(self, event: CarriedEvent) -> None:
        test = self._test
        if test is not None:
            if not test(event):
                if event.debt is not None:
                    self._over([event])
                return
            event.parted()
        self._place(event)
        if self._closed:
            self.queue.clear()

    def _mapped(self, event: CarriedEvent) -> CarriedEvent | Mapped:
        priority, timeout = self._priority, self._timeout
        if priority is None and timeout is None:
            return event
        return Mapped(event, priority and priority(event), timeout and timeout(event))

    def _consider_many(self, events: Sequence[CarriedEvent]) -> None:
        for event in events:
            self._consider(event)

    def _over(self, events: Iterable[CarriedEvent]) -> None:
        if self._ledger is not None:
            self._ledger.settle(self.id, events)
