"""RULES.md 1.8: event types, wildcards, special names."""

from __future__ import annotations

import pytest

from mappings.filters.event_types import EventTypes, dominates


@pytest.mark.parametrize(
    ("types", "domain", "type_", "covered"),
    [
        ([], "Telecom", "Alarm", True),
        ([("", "")], "Telecom", "Alarm", True),
        ([("*", "*")], "", "", True),
        ([("", "*")], "Telecom", "Alarm", True),
        ([("*", "")], "Telecom", "Alarm", True),
        ([("", "%ALL")], "Telecom", "Alarm", True),
        ([("*", "%ALL")], "Telecom", "Alarm", True),
        ([("Telecom", "%ALL")], "Telecom", "Alarm", True),
        ([("Telecom", "%ALL")], "Finance", "Alarm", False),
        ([("Telecom", "Alarm")], "Telecom", "Alarm", True),
        ([("Telecom", "Alarm")], "Telecom", "alarm", False),
        ([("Telecom", "")], "Telecom", "", True),
        ([("", "Alarm")], "", "Alarm", True),
        ([("Tele*", "*Alarm")], "Telecom", "CommunicationsAlarm", True),
        ([("Tele*", "*Alarm")], "Telecom", "AlarmCleared", False),
        ([("T*e*m", "A")], "Telecom", "A", True),
        ([("T*m*m", "A")], "Telecom", "A", False),  # a character is used once
        ([("a*a", "A")], "a", "A", False),
        ([("a*a", "A")], "aa", "A", True),
        ([("Tele.om", "A")], "Telecom", "A", False),  # no other character means anything but itself
        ([("Tele.om", "A")], "Tele.om", "A", True),
        ([("+([", "A*")], "+([", "A", True),
        ([("", "%ANY")], "", "%ANY", True),
        ([("", "%ANY")], "", "%TYPED", False),
        ([("*", "%TYPED")], "", "%TYPED", True),
        ([("Telecom", "Alarm")], "", "%ANY", False),
        ([("A", "B"), ("C", "D")], "C", "D", True),
        ([("A", "B"), ("C", "D")], "A", "D", False),
    ],
)
def test_covers(types: list[tuple[str, str]], domain: str, type_: str, covered: bool) -> None:
    assert EventTypes(types).covers(domain, type_) is covered


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (("", "%ALL"), ("Telecom", "Alarm"), True),
        (("*", "*"), ("", "%ALL"), True),
        (("", "Alarm"), ("Telecom", "Alarm"), True),
        (("*", "Alarm"), ("Telecom", "Call"), False),
        (("Telecom", "%ALL"), ("Telecom", "Alarm"), True),
        (("Telecom", "*"), ("Telecom", "Alarm"), True),
        (("Telecom", "Alarm"), ("Telecom", "Alarm"), True),
        (("Telecom", "Alarm"), ("Telecom", "%ALL"), False),
        (("Telecom", "Alarm"), ("", "Alarm"), False),
        (("Tele*", "*"), ("Telecom*", "A*"), True),
        (("Telecom*", "*"), ("Tele*", "*"), False),
    ],
)
def test_dominates(first: tuple[str, str], second: tuple[str, str], expected: bool) -> None:
    assert dominates(first, second) is expected
