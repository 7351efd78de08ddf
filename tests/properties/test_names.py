"""Naming profiles: `strict` and `mq` can be read back for every path, and their names are legal wherever they go."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mappings.errors import MappingError
from mappings.translate.names import BORLAND, MQ, PROFILES, STRICT, Profile, TakenNames

LEGAL = {"strict": re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*"), "mq": re.compile(r"[A-Za-z_][A-Za-z0-9_]*")}
KEYWORDS = {"NULL", "TRUE", "FALSE", "NOT", "AND", "OR", "BETWEEN", "LIKE", "IN", "IS", "ESCAPE"}

components = st.one_of(
    st.text(max_size=8),
    st.text(alphabet="_$sdu.#0123ab", max_size=8),
    st.sampled_from(["", "_d", "$_", "_s", "$u000020", "NULL", "JMSType"]),
)
paths = st.lists(components, min_size=1, max_size=4).map(tuple)
both = st.sampled_from([STRICT, MQ])


@given(both, paths)
def test_names_can_be_read_back_and_are_legal(profile: Profile, path: tuple[str, ...]) -> None:
    """OC-NAME-4, OC-NAME-5, OC-NAME-6, SE-FIX-4."""
    name = profile.encode(path)
    assert profile.decode(name) == path
    assert LEGAL[profile.name].fullmatch(name)
    assert name.upper() not in KEYWORDS
    assert not name.startswith("JMS")


@given(both, paths, paths)
def test_two_paths_have_two_names(profile: Profile, one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert (profile.encode(one) == profile.encode(other)) == (one == other)


@given(st.sampled_from(list(PROFILES.values())), paths)
def test_a_name_is_the_same_whole_or_step_by_step(profile: Profile, path: tuple[str, ...]) -> None:
    name = profile.root(path[0])
    for component in path[1:]:
        name = profile.below(name, component)
    assert name == profile.encode(path)


@given(both, st.text(max_size=12) | st.text(alphabet="$_su0123456789abcdef", max_size=16))
def test_any_text_is_a_name_of_exactly_one_path_or_of_none(profile: Profile, text: str) -> None:
    try:
        path = profile.decode(text)
    except MappingError:
        return
    assert profile.encode(path) == text


@given(st.lists(st.sampled_from(["a", "b", "a.#2", "a.#3", "b.#2"]), max_size=30))
def test_every_name_is_given_once_and_given_back_as_if_it_had_never_been(names: list[str]) -> None:
    """OC-NAME-3, OC-NAME-7."""
    taken = TakenNames(BORLAND)
    half = len(names) // 2
    first = [taken.take(f"${name}") for name in names[:half]]
    mark = taken.mark()
    second = [taken.take(f"${name}") for name in names[half:]]
    assert len({*first, *second}) == len(names)
    taken.give_back(mark)
    assert [taken.take(f"${name}") for name in names[half:]] == second


@pytest.mark.parametrize(
    ("profile", "path", "name"),
    [
        (BORLAND, ("Fd1", "AlarmName"), "$Fd1.AlarmName"),
        (BORLAND, ("domain_type",), "$domain_type"),
        (STRICT, ("Fd1", "AlarmName"), "$Fd1$_AlarmName"),
        (STRICT, ("domain_type",), "$domain_type"),
        (MQ, ("Fd1", "AlarmName"), "_sFd1_dAlarmName"),
        (MQ, ("domain_type",), "_sdomain__type"),
        (STRICT, ("x", "#2"), "$x$_$u0000232"),
        (MQ, ("\U0010ffff",), "_s_u10ffff"),
    ],
)
def test_the_examples_of_the_table(profile: Profile, path: tuple[str, ...], name: str) -> None:
    """RULES.md 5.3."""
    assert profile.encode(path) == name
    assert profile.decode(name) == path
