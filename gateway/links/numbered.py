"""Sources that number their events tell by a number that is left out that an event is missing.

The numbers of each sender are looked at for themselves. What comes again, or late, is not told: a step may see an event twice. A
sender that begins anew leaves two counts behind, the old one and the new; so does a dead letter of long ago that is sent again, and
then the old one goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from adapters.base import Delivery, Outgoing, Payload
from gateway.links.fields import values_of
from gateway.links.step import Filtered, NotYet, PatientStep

LATE: Final = 1_000
"""A number that is less than so much below the last one of a count came late, or again."""

MOST_COUNTS: Final = 3  # of one sender

MOST_SENDERS: Final = 10_000  # that are known; of more, those that came first are forgotten

Tell = Callable[[str, int, int], object]
"""Hears the sender, and the first and the last of the numbers that are missing."""


class Numbers:
    """Of the events of one link. Used by one thread; others may read `missing`."""

    def __init__(self, field: str, by: Sequence[str], tell: Tell) -> None:
        self._names: Final = (field, *by)
        self._tell = tell
        self._counts: dict[
            tuple[str, ...], list[int]
        ] = {}  # by sender: the last number of each, the one that goes on first
        self.missing = 0

    def see(self, payload: Payload) -> None:
        value, *by = values_of(payload, self._names)
        number = _number(value)
        if number is None:
            return
        sender = tuple(map(str, by))
        counts = self._counts.get(sender)
        if counts is None:
            if len(self._counts) >= MOST_SENDERS:
                del self._counts[next(iter(self._counts))]
            self._counts[sender] = [number]
        elif counts[0] == number - 1:  # nearly always
            counts[0] = number
        elif number - 1 in counts:
            counts.remove(number - 1)
            counts.insert(0, number)
        elif not any(0 <= last - number < LATE for last in counts):
            before = max((last for last in counts if last < number), default=None)
            if before is not None:
                counts.remove(before)
                self.missing += number - before - 1
                self._tell(", ".join(sender), before + 1, number - 1)
            counts.insert(0, number)
            del counts[MOST_COUNTS:]


def watching(step: PatientStep, numbers: Numbers) -> PatientStep:
    """The same step, which looks at the numbers of what it is given."""

    def watched(delivery: Delivery) -> Outgoing | Filtered | NotYet:
        if delivery.payload is not None:
            numbers.see(delivery.payload)
        return step(delivery)

    return watched


def _number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit():  # over STOMP every property is text
        return int(value)
    return None
