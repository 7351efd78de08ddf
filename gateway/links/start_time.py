"""StartTime: an event is not delivered before it. Where the wire to the sink knows no delay, the link holds it (OC-VAR-4)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from adapters.base import DeadLetterError, Delivery, Outgoing
from gateway.links.step import Filtered, NotYet, PatientStep, Step
from mappings.model import StructuredEvent
from mappings.translate import quality

_EPOCH_SECS: Final = quality.EPOCH_TICKS / 10_000_000  # 1582 to 1970


def starts_at(delivery: Delivery) -> float:
    """Seconds since 1970; 0 where the event says nothing."""
    payload = delivery.payload
    if not isinstance(payload, StructuredEvent):
        return 0.0
    ticks = quality.time_field(payload.variable_header, quality.START_TIME)
    return 0.0 if ticks is None else ticks / 10_000_000 - _EPOCH_SECS


def holding(step: Step, longest_secs: float, clock: Callable[[], float] = time.time) -> PatientStep:
    """The same step, but for what passes it and has its StartTime still to come."""

    def held(delivery: Delivery) -> Outgoing | Filtered | NotYet:
        made = step(delivery)
        if not isinstance(made, Outgoing) or (start := starts_at(delivery)) <= (now := clock()):
            return made
        if start - now > longest_secs:
            raise DeadLetterError(
                "LNK-START-TIME",
                f"the StartTime of the event is {start - now:.0f} s ahead, and it may be held for {longest_secs:.0f} s",
                hint="raise delivery.hold_secs, or send it again later: isthmus dlq retry",
            )
        return NotYet(start)

    return held


class WaitingRoom:
    """What a link holds, in the order of arrival."""

    def __init__(self) -> None:
        self._until: dict[Delivery, float] = {}
        self._first = 0.0  # the earliest of them

    def __len__(self) -> int:
        return len(self._until)

    @property
    def deliveries(self) -> Sequence[Delivery]:
        return tuple(self._until)

    def add(self, delivery: Delivery, until: float) -> None:
        self._first = min(self._first, until) if self._until else until
        self._until[delivery] = until

    def wait_secs(self, most: float) -> float:
        """Until the first is due."""
        return max(0.0, min(most, self._first - time.time())) if self._until else most

    def take_due(self) -> list[Delivery]:
        """Those whose time has come, by it."""
        now = time.time()
        if not self._until or now < self._first:
            return []
        due = sorted(
            (until, place, delivery) for place, (delivery, until) in enumerate(self._until.items()) if until <= now
        )
        return self._take([delivery for _, _, delivery in due])

    def take(self, count: int) -> list[Delivery]:
        """The first to have come."""
        return self._take(list(self._until)[:count])

    def _take(self, deliveries: list[Delivery]) -> list[Delivery]:
        for delivery in deliveries:
            del self._until[delivery]
        self._first = min(self._until.values(), default=0.0)
        return deliveries
