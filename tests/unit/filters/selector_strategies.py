"""Hypothesis strategies for messages (as dicts) and selectors about them, as the tuples of `selector_interpreter`."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

names = st.sampled_from(["a", "b", "$c", "d_1", "missing"])
words = st.text("ab%_!'", max_size=4) | st.sampled_from(["1", "2.5", "-3", "true", "TRUE", " 1"])
numbers = st.integers(-3, 4) | st.sampled_from([0.0, 0.5, 2.5, 1e30, -(2**63), 2**63 - 1])
values: st.SearchStrategy[Any] = st.booleans() | numbers | words
properties = st.dictionaries(names.filter(lambda name: name != "missing"), values, max_size=4)

texts = st.builds(lambda value: ("literal", value), words)
number_literals = st.builds(lambda value: ("literal", value), numbers)
boolean_literals = st.builds(lambda value: ("literal", value), st.booleans())
named = st.builds(lambda name: ("name", name), names)


def _escaped(pattern: str) -> str:
    """Without an escape character at its end."""
    return pattern.rstrip("!")


number_expressions: st.SearchStrategy[Any] = st.recursive(
    number_literals | named,
    lambda inner: (
        st.tuples(
            st.just("arithmetic"), inner, st.lists(st.tuples(st.sampled_from("+-"), inner), min_size=1, max_size=3)
        )
        | st.tuples(
            st.just("arithmetic"), inner, st.lists(st.tuples(st.sampled_from("*/"), inner), min_size=1, max_size=3)
        )
        | st.tuples(st.just("sign"), st.sampled_from("+-"), inner)
    ),
    max_leaves=4,
)

_tests: st.SearchStrategy[Any] = (
    st.tuples(
        st.just("compare"), st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), number_expressions, number_expressions
    )
    | st.tuples(
        st.just("compare"), st.sampled_from(["=", "<>"]), named, texts | boolean_literals | named | number_literals
    )
    | st.tuples(st.just("compare"), st.sampled_from(["=", "<>"]), texts, named)
    | st.tuples(st.just("null"), named | number_expressions, st.booleans())
    | st.tuples(st.just("like"), named | texts, words, st.none(), st.booleans())
    | st.tuples(st.just("like"), named | texts, words.map(_escaped), st.just("!"), st.booleans())
    | st.tuples(st.just("in"), named | texts, st.lists(words, min_size=1, max_size=3), st.booleans())
    | st.tuples(st.just("between"), number_expressions, number_expressions, number_expressions, st.booleans())
)

conditions: st.SearchStrategy[Any] = st.recursive(
    _tests | named | boolean_literals,
    lambda inner: (
        st.tuples(st.just("not"), inner)
        | st.tuples(st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=4))
        | st.tuples(st.just("compare"), st.sampled_from(["=", "<>"]), inner, inner)
        | st.tuples(st.just("null"), inner, st.booleans())
    ),
    max_leaves=6,
)
