"""When a log is on duty."""

from __future__ import annotations

from datetime import UTC, datetime

from adapters.cosnotification.logs.duty import UNIX_EPOCH, Duty, Mask, duty_from_json


def at(*when: int) -> int:
    return UNIX_EPOCH + int(datetime(*when, tzinfo=UTC).timestamp()) * 10_000_000  # type: ignore[arg-type,misc]


WEDNESDAY, THURSDAY = 8, 16


def test_without_bounds_it_always_is() -> None:
    assert Duty().covers(at(2026, 11, 18))


def test_an_interval_excludes_its_end() -> None:
    duty = Duty(at(2026, 1, 1), at(2026, 2, 1))
    assert [duty.covers(at(*when)) for when in ((2025, 12, 31), (2026, 1, 1), (2026, 1, 31), (2026, 2, 1))] == [
        False,
        True,
        True,
        False,
    ]


def test_a_mask_names_days_and_times_of_day() -> None:
    duty = Duty(masks=(Mask(WEDNESDAY, ((8 * 60, 12 * 60),)), Mask(THURSDAY, ())))
    wednesday, thursday, friday = (2026, 11, 18), (2026, 11, 19), (2026, 11, 20)
    assert duty.covers(at(*wednesday, 8, 0))
    assert duty.covers(at(*wednesday, 11, 59))
    assert not duty.covers(at(*wednesday, 12, 0))
    assert not duty.covers(at(*wednesday, 7, 59))
    assert duty.covers(at(*thursday, 23, 59))
    assert not duty.covers(at(*friday, 9, 0))
    assert duty_from_json(duty.to_json()) == duty
