"""What is missing, by the numbers that a source gives its events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.links.numbered import LATE, MOST_SENDERS, Numbers
from mappings.idl_types import LONG, STRING, IdlType
from mappings.model import Message, MessageProperty, Property, StructuredEvent


class Heard:
    def __init__(self, *by: str) -> None:
        self.told: list[tuple[str, int, int]] = []
        self.numbers = Numbers("id", by, lambda sender, first, last: self.told.append((sender, first, last)))

    def see(self, *numbers: Any, sender: str = "ems", type_: IdlType = LONG) -> list[tuple[str, int, int]]:
        for number in numbers:
            fields = (Property("id", type_, number), Property("from", STRING, sender))
            self.numbers.see(StructuredEvent("d", "t", "", (), fields))
        return self.told


def test_numbers_in_a_row_say_nothing() -> None:
    assert Heard().see(*range(7, 500)) == []


def test_those_that_are_left_out_are_told_once() -> None:
    heard = Heard()
    assert heard.see(1, 2, 6, 7, 8, 10) == [("", 3, 5), ("", 9, 9)]
    assert heard.numbers.missing == 4


def test_each_sender_counts_for_itself() -> None:
    heard = Heard("from")
    for number in range(1, 4):
        heard.see(number, sender="a")
        heard.see(100 + number, sender="b")
    assert heard.told == []
    assert heard.see(6, sender="a") == [("a", 4, 5)]


def test_what_comes_again_or_late_is_not_told() -> None:
    heard = Heard()
    heard.see(5, 6, 6, 5, 9)
    assert heard.told == [("", 7, 8)]
    assert heard.see(7, 8, 10, 11) == [("", 7, 8)]


def test_a_sender_that_begins_anew_begins_a_new_count() -> None:
    heard = Heard()
    assert heard.see(5000, 5001, 1, 2, 3) == []
    assert heard.see(5) == [("", 4, 4)]


def test_a_dead_letter_of_long_ago_that_is_sent_again_does_not_disturb_the_count() -> None:
    heard = Heard()
    assert heard.see(99_999, 100_000, 17, 100_001, 18, 100_002) == []
    assert heard.see(100_004) == [("", 100_003, 100_003)]


def test_text_is_read_as_a_number_and_what_is_none_is_passed_over() -> None:
    """Over STOMP every property is text."""
    heard = Heard()
    for value in ("7", "x", None, True, "8", "10"):
        heard.numbers.see(Message(properties=(MessageProperty("id", "String", value),)))
    assert heard.told == [("", 9, 9)]


def test_an_event_without_a_number_is_passed_over() -> None:
    heard = Heard()
    heard.see(1)
    heard.numbers.see(StructuredEvent("d", "t", ""))
    assert heard.see(2) == []


def test_senders_that_come_and_go_do_not_fill_the_memory() -> None:
    heard = Heard("from")
    for n in range(MOST_SENDERS + 10):
        heard.see(1, sender=str(n))
    assert len(heard.numbers._counts) == MOST_SENDERS


@given(
    st.integers(0, 10**12),
    st.lists(st.tuples(st.integers(1, 5), st.integers(0, 4)), min_size=1, max_size=60),
)
def test_missing_is_what_an_oracle_counts(first: int, steps: list[tuple[int, int]]) -> None:
    """A run of numbers with gaps and repetitions of what came shortly before."""
    heard, number, missing = Heard(), first, 0
    heard.see(first)
    seen = [first]
    for step, back in steps:
        number += step
        missing += step - 1
        seen.append(number)
        heard.see(number)
        heard.see(seen[max(0, len(seen) - 1 - back)])
    assert heard.numbers.missing == missing
    assert sum(last - first + 1 for _, first, last in heard.told) == missing


@pytest.mark.parametrize("below", [1, LATE - 1])
def test_late_is_late(below: int) -> None:
    assert Heard().see(10_000, 10_000 - below, 10_001) == []
