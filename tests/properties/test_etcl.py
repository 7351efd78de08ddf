"""ETCL against a slow interpreter, on random expressions and events; and against arbitrary text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event as note
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from mappings.errors import FilterError
from mappings.filters import compile_etcl
from mappings.filters.etcl_text import write
from mappings.filters.etcl_tree import parse_etcl
from mappings.filters.parsing import MAX_DEPTH, MAX_LENGTH
from mappings.model import Event
from tests.properties.strategies import events
from tests.unit.filters.etcl_interpreter import NOW, matches
from tests.unit.filters.etcl_strategies import conditions_in, expressions, some_events, text_of

with_expression = some_events.flatmap(lambda event: st.tuples(st.just(event), expressions(event)))


@settings(max_examples=300, deadline=None)
@given(with_expression)
def test_it_agrees_with_the_slow_interpreter(case: tuple[Event, Any]) -> None:
    """On the whole expression, and on every condition in it: one that has no result says little about the rest."""
    event, expression = case
    refusal = _error(text_of(expression))
    if refusal is not None:
        assert refusal.code == "FLT-TYPE"
        reject()
    for condition in conditions_in(expression, event):
        text = text_of(condition)
        filter_ = compile_etcl(text, now=_now)
        expected = matches(condition, event)
        note(f"{type(event).__name__} {expected}")
        match, error = filter_.evaluate(event)
        assert (None if error is not None else match) is expected, text
        assert filter_.matches(event) is (expected is True)


def _now() -> int:
    return NOW


def _error(text: str) -> FilterError | None:
    try:
        compile_etcl(text)
    except FilterError as error:
        return error
    return None


@settings(max_examples=150, deadline=None)
@given(with_expression)
def test_a_tree_can_be_written_and_read_back(case: tuple[Event, Any]) -> None:
    tree = parse_etcl(text_of(case[1]))
    written = write(tree)
    assert parse_etcl(written) == tree
    assert write(parse_etcl(written)) == written


pieces = st.sampled_from(
    ["$", ".", "(", ")", "[", "]", "'", "\\", "+", "-", "*", "/", "%", "~", "==", "!=", "<", ">=", "and", "or", "not", "in",
     "exist", "default", "TRUE", "FALSE", "_length", "_d", "x", "type_name", "5", "0", ".5", "1e5", "'a'", " ", "\n", "ü", "\0"]
)  # fmt: skip
scraps = st.lists(pieces, max_size=15).map("".join) | st.lists(pieces, max_size=15).map(" ".join)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=30) | scraps)
def test_arbitrary_text_compiles_or_is_refused_with_a_place(text: str) -> None:
    error = _error(text)
    if error is not None:
        assert 0 <= error.position <= len(text)
        assert error.message


@settings(max_examples=100, deadline=None)
@given(with_expression, events)
def test_whatever_compiles_evaluates_on_any_event(case: tuple[Event, Any], event: Event) -> None:
    text = text_of(case[1])
    if _error(text) is not None:
        reject()
    match, error = compile_etcl(text).evaluate(event)
    assert match is compile_etcl(text).matches(event)
    assert not (match and error)


NESTED = {
    "parentheses": lambda depth: "(" * depth + "TRUE" + ")" * depth,
    "nots": lambda depth: "not (" * depth + "TRUE" + ")" * depth,
    "sums": lambda depth: "1 + (" * depth + "1" + ")" * depth,
    "comparisons": lambda depth: "TRUE == (" * depth + "TRUE" + ")" * depth,
    "unclosed": lambda depth: "(" * depth,
}


@pytest.mark.parametrize("shape", NESTED)
def test_nesting_is_bounded(shape: str) -> None:
    with pytest.raises(FilterError) as raised:
        compile_etcl(NESTED[shape](MAX_LENGTH // 12))
    assert raised.value.code == ("FLT-SYNTAX" if shape == "unclosed" else "FLT-LIMIT")


@pytest.mark.parametrize("shape", ["nots", "comparisons"])
@given(event=events)
@settings(max_examples=3, deadline=None)
def test_nesting_within_the_bound_evaluates(shape: str, event: Event) -> None:
    half = (MAX_DEPTH - 1) // 2  # a pair of parentheses and an operator each
    assert compile_etcl(NESTED[shape](half)).evaluate(event) == (shape == "comparisons" or half % 2 == 0, None)


@pytest.mark.parametrize(
    "text",
    ["x" * 1_000_000, "(" * 1_000_000, " or ".join(["TRUE"] * 125_000), "'" + "a" * 1_000_000, "\\" * 1_000_000, " " * 1_000_000],
    ids=["a word", "parentheses", "or", "a string", "backslashes", "blanks"],
)  # fmt: skip
def test_a_megabyte_is_too_long(text: str) -> None:
    with pytest.raises(FilterError) as raised:
        compile_etcl(text)
    assert raised.value.code == "FLT-LIMIT"


@pytest.mark.parametrize(
    "text",
    [" or ".join(["$x == 'a'"] * 7_000), "$" + ".a" * 49_000, "1" + " + 1" * 24_000 + " > 1", "1" + "*9" * 49_000 + " > 1"],
    ids=["or", "steps", "sum", "product"],
)  # fmt: skip
@given(event=events)
@settings(max_examples=3, deadline=None)
def test_what_is_just_short_enough_works(text: str, event: Event) -> None:
    assert len(text) <= MAX_LENGTH
    match, error = compile_etcl(text).evaluate(event)
    assert match is (error is None and not text.startswith("$"))
