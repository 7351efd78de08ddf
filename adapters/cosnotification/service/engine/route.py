"""From the hub to one consumer's queue: filters, subscription, mapping filters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adapters.cosnotification.service.engine.carried_event import CarriedEvent
from adapters.cosnotification.service.engine.event_queue import EventQueue, Mapped
from adapters.cosnotification.service.engine.filter_set import Test
from adapters.cosnotification.service.engine.stage import Stage

Mapping = Callable[[CarriedEvent], int | None]
"""The Priority or Timeout that a mapping filter sets; None where none of its constraints matches."""


class Route:
    """`set` while events pass is fine: each event meets the old rules or the new ones."""

    def __init__(self, name: str, queue: EventQueue) -> None:
        self.queue = queue
        self._name = name
        self._stage: Stage | None = None
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

    offer: Callable[[CarriedEvent], None]
    offer_many: Callable[[Sequence[CarriedEvent]], None]

    @property
    def waiting(self) -> int:
        """Events that are not with the consumer yet."""
        stage = self._stage
        return len(self.queue) + (len(stage) if stage is not None else 0)

    def stop(self) -> None:
        if self._stage is not None:
            self._stage.stop(drop=True)

    def _consider(self, event: CarriedEvent) -> None:
        test, priority, timeout = self._test, self._priority, self._timeout
        if test is not None and not test(event):
            return
        if priority is None and timeout is None:
            self.queue.put(event)
        else:
            self.queue.put(Mapped(event, priority and priority(event), timeout and timeout(event)))

    def _consider_many(self, events: Sequence[CarriedEvent]) -> None:
        for event in events:
            self._consider(event)
