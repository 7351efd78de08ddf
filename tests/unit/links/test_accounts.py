from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.settings_base import BackOff
from gateway.links.accounts import Accounts, Balance
from gateway.links.back_off import Pauses

OUTCOMES = ("delivered", "filtered", "expired", "duplicate", "dead_lettered")


@given(st.lists(st.tuples(st.sampled_from(OUTCOMES), st.integers(1, 9))))
def test_each_movement_keeps_the_sum(movements: list[tuple[str, int]]) -> None:
    accounts = Accounts()
    for outcome, count in movements:
        accounts.received(count + 1)
        assert accounts.balance().holds
        accounts.settled(outcome, count)  # type: ignore[arg-type]
        assert accounts.balance().holds
    balance = accounts.balance()
    assert balance.pending == len(movements)
    assert balance.delivered == sum(count for outcome, count in movements if outcome == "delivered")


def test_a_balance_that_does_not_add_up_says_so() -> None:
    assert not Balance(received=3, delivered=1, pending=1).holds


@pytest.mark.parametrize("attempt", [0, 1, 5, 40, 10_000])
def test_pauses_double_up_to_the_longest_and_vary_by_a_half(attempt: int) -> None:
    pauses = Pauses(BackOff(first_ms=100, longest_ms=5_000))
    pauses.attempts = attempt
    whole = min(0.1 * 2 ** min(attempt, 30), 5.0)
    assert whole / 2 <= pauses.next_secs() <= whole
