"""When a log is on duty: inside its interval, and inside its week mask where it has one. Times of day are UTC."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

UNIX_EPOCH: Final = 0x01B21DD213814000  # as TimeBase::TimeT
_DAYS: Final = (2, 4, 8, 16, 32, 64, 1)  # Monday first, as Python counts
_ALL_DAYS: Final = 127

Span = tuple[int, int]  # minutes of the day, from and up to, the last one excluded


class Mask(NamedTuple):
    days: int
    spans: tuple[Span, ...]


class Duty(NamedTuple):
    """`start` and `stop` in TimeT; 0: no such bound."""

    start: int = 0
    stop: int = 0
    masks: tuple[Mask, ...] = ()

    def covers(self, now: int) -> bool:
        if now < self.start or (self.stop and now >= self.stop):
            return False
        if not self.masks:
            return True
        at = datetime.fromtimestamp((now - UNIX_EPOCH) / 1e7, UTC)
        day, minute = _DAYS[at.weekday()], at.hour * 60 + at.minute
        return any(
            mask.days & day and (not mask.spans or any(begin <= minute < end for begin, end in mask.spans))
            for mask in self.masks
        )

    def to_json(self) -> Any:
        return [self.start, self.stop, [[mask.days, [list(span) for span in mask.spans]] for mask in self.masks]]


def duty_from_json(form: Any) -> Duty:
    start, stop, masks = form
    return Duty(start, stop, tuple(Mask(days, tuple((begin, end) for begin, end in spans)) for days, spans in masks))


def is_valid_days(days: int) -> bool:
    return 0 < days <= _ALL_DAYS
