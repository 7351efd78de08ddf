"""Cycles and diamonds: the scenarios of RULES.md 4.8, and random graphs against a plain enumeration of all paths."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.domain import graph as graph_module
from gateway.domain.graph import Graph, TooLarge

Edge = tuple[str, str]


def graph_of(*edges: Edge) -> Graph:
    graph = Graph()
    for source, sink in edges:
        graph.add(source, sink)
    return graph


ERLANG = ("24", "41", "13", "36", "59", "91", "47", "78")
"""The connections C1 to C8 of the Erlang suite, supplier and consumer."""


@pytest.fixture
def erlang() -> Graph:
    return graph_of(*[(edge[0], edge[1]) for edge in ERLANG])


def test_the_connections_of_the_erlang_suite_make_neither_cycle_nor_diamond() -> None:
    graph = Graph()
    for source, sink in ERLANG:
        assert graph.cycle_with(source, sink) is None
        assert graph.diamond_with(source, sink) is None
        graph.add(source, sink)


def test_c9_closes_the_cycle_of_step_16(erlang: Graph) -> None:
    assert erlang.cycle_with("8", "4") == ("4", "7", "8")


@pytest.mark.parametrize(
    ("edge", "routes"),
    [
        ("46", {("4", "6"), ("4", "1", "3", "6")}),
        ("54", {("5", "4", "1"), ("5", "9", "1")}),
        ("86", {("4", "7", "8", "6"), ("4", "1", "3", "6")}),
    ],
)
def test_c10_to_c12_make_the_diamonds_of_step_25(erlang: Graph, edge: str, routes: set[tuple[str, ...]]) -> None:
    assert erlang.cycle_with(*edge) is None
    diamond = erlang.diamond_with(*edge)
    assert diamond is not None
    assert set(diamond) == routes


def test_the_domain_of_the_paper_has_one_diamond_and_one_cycle() -> None:
    graph = graph_of(("2", "0"), ("2", "3"), ("3", "1"))
    diamond = graph.diamond_with("1", "0")
    assert diamond is not None
    assert set(diamond) == {("2", "0"), ("2", "3", "1", "0")}
    graph.add("5", "4")
    assert graph.cycle_with("4", "5") == ("5", "4")
    assert graph.diamond_with("4", "5") is None, "two channels that feed each other are a cycle, not a diamond"


def test_a_link_from_a_channel_to_itself_is_a_cycle() -> None:
    assert Graph().cycle_with("v", "v") == ("v",)


def test_a_long_chain_that_is_closed_is_found_without_recursion() -> None:
    graph = graph_of(*[(str(number), str(number + 1)) for number in range(10_000)])
    cycle = graph.cycle_with("10000", "0")
    assert cycle is not None
    assert len(cycle) == 10_001


def test_the_search_gives_up_where_it_would_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_module, "MOST_STEPS", 50)
    graph = graph_of(*[(str(number), str(number + 1)) for number in range(100)])
    with pytest.raises(TooLarge):
        graph.cycle_with("100", "0")


VERTICES = "abcdef"
edges = st.tuples(st.sampled_from(VERTICES), st.sampled_from(VERTICES)).filter(lambda edge: edge[0] != edge[1])


@settings(deadline=None)
@given(st.lists(edges, max_size=12, unique=True), st.booleans())
def test_every_answer_agrees_with_an_enumeration_of_all_paths(wanted: list[Edge], allow_cycles: bool) -> None:
    graph, present = Graph(), set[Edge]()
    for source, sink in wanted:
        cycle = graph.cycle_with(source, sink)
        ways_back = list(simple_paths(present, sink, source))
        assert (cycle is None) == (not ways_back)
        if cycle is not None:
            assert cycle in ways_back
            if not allow_cycles:
                continue
        with_edge = present | {(source, sink)}
        diamond = graph.diamond_with(source, sink)
        assert (diamond is None) == (not has_diamond(with_edge))
        if diamond is not None:
            one, other = diamond
            assert one != other
            assert (one[0], one[-1]) == (other[0], other[-1])
            assert {one, other} <= set(simple_paths(with_edge, one[0], one[-1]))
            assert not set(one[1:-1]) & set(other[1:-1])
            continue
        graph.add(source, sink)
        present.add((source, sink))


def has_diamond(present: set[Edge]) -> bool:
    for start in VERTICES:
        for end in VERTICES:
            paths = list(simple_paths(present, start, end)) if start != end else []
            if any(not set(one[1:-1]) & set(other[1:-1]) for one in paths for other in paths if one != other):
                return True
    return False


def simple_paths(present: set[Edge], start: str, end: str, passed: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    path = (*passed, start)
    if start == end:
        yield path
        return
    for source, sink in present:
        if source == start and sink not in path:
            yield from simple_paths(present, sink, end, path)
