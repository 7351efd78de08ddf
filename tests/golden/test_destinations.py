"""Every row that RULES section 10 gives for hierarchical topics, and the properties of matching."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mappings.destinations import Part, Pattern, PatternError, Wildcard, has_wildcard

FIVE = ("ABC", "ABC.1", "ABC.2", "ABC.1.1", "ABC.1.1.1")


@pytest.mark.parametrize(
    ("pattern", "existing", "matching"),
    [
        ("ABC.*", ("ABC", "ABC.1", "ABC.2", "ABC.1.1", "ABC.1.2"), ("ABC", "ABC.1", "ABC.2", "ABC.1.1", "ABC.1.2")),
        ("ABC.*", ("ABD", "ABCD.1", "X.ABC", "X.ABC.1"), ()),
        ("ABC.*.1", FIVE, ("ABC.1.1", "ABC.1.1.1")),
        ("ABC.*.1", ("ABC.2.1", "ABC.1.2", "ABC.1"), ("ABC.2.1",)),
        ("ABC.#", FIVE, ("ABC.1", "ABC.2")),
        ("ABC. #", FIVE, ("ABC.1", "ABC.2")),
        ("ABC.#.1", ("ABC.1.1", "ABC.2.1", "ABC.3.1", "ABC.1", "ABC.1.1.1"), ("ABC.1.1", "ABC.2.1", "ABC.3.1")),
        ("ABC.#.*", ("ABC", "ABC.1", "ABC.1.1", "ABC.2", "ABC.2.1"), ("ABC.1.1", "ABC.2.1")),
        ("ABC.#.*", ("ABC.1.1.1",), ("ABC.1.1.1",)),
        ("abc.*", ("ABC", "Abc.x", "AB"), ("ABC", "Abc.x")),
        (" ABC .*", ("ABC", "ABC . 1"), ("ABC", "ABC . 1")),
        ("*", FIVE, FIVE),
        ("#", ("ABC", "ABC.1"), ("ABC",)),
        ("*.1", FIVE, ("ABC.1", "ABC.1.1", "ABC.1.1.1")),
        ("A.*.B.*", ("A.B", "A.x.B", "A.x.B.y", "A.x.y.B.z.z"), ("A.x.B.y", "A.x.y.B.z.z")),
        ("A.B", ("A.B", "A", "A.B.C"), ("A.B",)),
    ],
)
def test_rows(pattern: str, existing: Sequence[str], matching: Sequence[str]) -> None:
    compiled = Pattern(pattern)
    assert tuple(name for name in existing if compiled.matches(name)) == tuple(matching)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("ABC.*.#", "behind"),
        ("ABC.*.1.#", "behind"),
        ("A.B*.1", "whole level"),
        ("ABC#.1", "whole level"),
        ("A.**", "whole level"),
        ("A..B.*", "empty"),
        ("A. .*", "empty"),
        (".*", "empty"),
        ("A.*.", "empty"),
        ("", "empty"),
    ],
)
def test_what_is_no_pattern(pattern: str, reason: str) -> None:
    with pytest.raises(PatternError, match=reason):
        Pattern(pattern)


@pytest.mark.parametrize("name", ["ABC.*", "ABC.#", "ABC.1*", "ABC..1", "ABC."])
def test_what_no_topic_is_called_matches_nothing(name: str) -> None:
    assert not Pattern("ABC.*").matches(name)


def test_case_counts_where_it_is_asked_to() -> None:
    pattern = Pattern("Abc.*.x")
    assert pattern.matches("ABC.1.X")
    assert not pattern.matches("ABC.1.x", case=True)
    assert pattern.matches("Abc.1.x", case=True)


def test_a_name_with_a_wildcard_is_known() -> None:
    assert has_wildcard("a.*")
    assert has_wildcard("a#")
    assert not has_wildcard("a.b")


levels = st.sampled_from(["a", "b", "1"])
names = st.lists(levels, min_size=1, max_size=6).map(".".join)
patterns = st.lists(levels | st.sampled_from("*#"), min_size=1, max_size=6).map(".".join)


def slow(parts: tuple[Part, ...], rest: tuple[str, ...]) -> bool:
    """Tries everything."""
    if not parts:
        return not rest
    head, tail = parts[0], parts[1:]
    lengths = {Wildcard.ONE: range(1, 2), Wildcard.SOME: range(1, 99), Wildcard.ANY: range(99)}
    if isinstance(head, Wildcard):
        return any(slow(tail, rest[n:]) for n in lengths[head] if n <= len(rest))
    return bool(rest) and rest[0] == head and slow(tail, rest[1:])


@given(patterns, names)
def test_the_matcher_agrees_with_one_that_tries_everything(text: str, name: str) -> None:
    try:
        pattern = Pattern(text)
    except PatternError:
        assert "#" in text[text.index("*") :]
        return
    assert pattern.matches(name) is slow(pattern.parts, tuple(name.split(".")))
