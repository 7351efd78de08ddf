"""Selectors against a slow interpreter, on random expressions and messages; and against arbitrary text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event as note
from hypothesis import given, settings
from hypothesis import strategies as st

from mappings.errors import FilterError
from mappings.filters import compile_selector
from mappings.filters.parsing import MAX_DEPTH, MAX_LENGTH
from mappings.filters.selector_text import write
from mappings.filters.selector_tree import parse_selector
from mappings.filters.wildcards import ONE, RUN, compile_wildcards
from mappings.model import Message, MessageProperty
from tests.properties.strategies import messages
from tests.unit.filters.selector_interpreter import evaluate, like, text_of
from tests.unit.filters.selector_strategies import conditions, properties


@settings(max_examples=300, deadline=None)
@given(conditions, properties, st.booleans())
def test_it_agrees_with_the_slow_interpreter(expression: Any, values: dict[str, Any], converting: bool) -> None:
    text = ("convert_string_expressions:" if converting else "") + text_of(expression)
    selector = compile_selector(text)
    expected = evaluate(expression, values, converting=converting)
    if expected is not None and not isinstance(expected, bool):
        expected = False  # a property that is no boolean, where a condition belongs
    note(str(expected))
    message = Message(properties=tuple(MessageProperty(name, _type(value), value) for name, value in values.items()))
    assert selector.evaluate(message) is expected, text
    assert selector.matches(message) is (expected is True)
    assert selector.evaluate_values(values.get) is expected
    assert selector.matches_values(values.get) is (expected is True)


def _type(value: Any) -> str:
    return {bool: "boolean", int: "long", float: "double", str: "String"}[type(value)]


@settings(max_examples=200, deadline=None)
@given(conditions)
def test_a_tree_can_be_written_and_read_back(expression: Any) -> None:
    tree = parse_selector(text_of(expression))
    written = write(tree)
    assert parse_selector(written) == tree
    assert write(parse_selector(written)) == written


@settings(max_examples=200, deadline=None)
@given(st.text("ab*_", max_size=8), st.text("ab", max_size=10))
def test_wildcards_agree_with_trying_every_way(pattern: str, text: str) -> None:
    tokens = [{"*": RUN, "_": ONE}.get(character, character) for character in pattern]
    assert compile_wildcards(tokens)(text) is like(text, pattern.replace("*", "%"), None)


pieces = st.sampled_from(
    ["(", ")", ",", "'", '"', "+", "-", "*", "/", "=", "<>", "<", ">=", "AND", "or", "Not", "in", "LIKE", "escape", "between",
     "IS", "NULL", "TRUE", "false", "a", "$b", "JMSPriority", "JMSType", "5", "0x", "017", ".5", "1E5", "'a'", "'%'", " ", "ü",
     "\0", "convert_string_expressions:"]
)  # fmt: skip
scraps = st.lists(pieces, max_size=12).map("".join) | st.lists(pieces, max_size=12).map(" ".join)


def _error(text: str) -> FilterError | None:
    try:
        compile_selector(text)
    except FilterError as error:
        return error
    return None


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=30) | scraps)
def test_arbitrary_text_compiles_or_is_refused_with_a_place(text: str) -> None:
    error = _error(text)
    if error is not None:
        assert 0 <= error.position <= len(text)
        assert error.message


@settings(max_examples=100, deadline=None)
@given(conditions.map(text_of), messages)
def test_whatever_compiles_evaluates_on_any_message(text: str, message: Message) -> None:
    selector = compile_selector(text)
    assert selector.matches(message) is (selector.evaluate(message) is True)


NESTED = {
    "parentheses": lambda depth: "(" * depth + "TRUE" + ")" * depth,
    "nots": lambda depth: "NOT " * depth + "TRUE",
    "signs": lambda depth: "-" * depth + "a = 1",
    "equalities": lambda depth: "TRUE" + " = TRUE" * depth,
    "likes": lambda depth: "a" + " LIKE 'b'" * depth,
    "unclosed": lambda depth: "(" * depth,
}


@pytest.mark.parametrize("shape", NESTED)
def test_nesting_is_bounded(shape: str) -> None:
    error = _error(NESTED[shape](MAX_LENGTH // 12))
    assert error is not None
    assert error.code == ("FLT-SYNTAX" if shape == "unclosed" else "FLT-LIMIT")


@pytest.mark.parametrize("shape", ["parentheses", "nots", "equalities"])
def test_nesting_within_the_bound_evaluates(shape: str) -> None:
    deepest = MAX_DEPTH - 1
    assert compile_selector(NESTED[shape](deepest)).evaluate(Message()) is (shape != "nots" or deepest % 2 == 0)


@pytest.mark.parametrize(
    "text", ["x" * 1_000_000, "(" * 1_000_000, " OR ".join(["TRUE"] * 125_000), "'" + "a" * 1_000_000, " " * 1_000_000],
    ids=["a word", "parentheses", "or", "a string", "blanks"],
)  # fmt: skip
def test_a_megabyte_is_too_long(text: str) -> None:
    error = _error(text)
    assert error is not None
    assert error.code == "FLT-LIMIT"


def test_a_hostile_pattern_takes_no_longer_than_its_length_times_that_of_the_text() -> None:
    """`.*a.*a…` as a regular expression would take longer than the universe lasts."""
    selector = compile_selector("a LIKE '" + "%a" * 2_000 + "%b'")
    assert selector.matches_values({"a": "a" * 20_000}.get) is False
    assert selector.matches_values({"a": "a" * 20_000 + "b"}.get) is True
