"""How often an event arrives: against counting all paths, and in the shapes that people build."""

from __future__ import annotations

from itertools import pairwise
from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.domain.copies import Copies, copies_of
from gateway.domain.graph import Graph
from tests.unit.domain import brute_force

VERTICES = range(7)


def graph_of(edges: set[tuple[int, int]] | dict[tuple[int, int], int]) -> Graph:
    graph = Graph()
    for vertex in VERTICES:
        graph.add_vertex(vertex)
    for edge in edges:
        graph.add_edge(*edge)
    return graph


forward = st.tuples(st.sampled_from(VERTICES), st.sampled_from(VERTICES)).filter(lambda edge: edge[0] < edge[1])


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(forward, st.sampled_from([1, 1, 1, 2, 3]), max_size=15))
def test_each_route_brings_one_copy(ways: dict[tuple[int, int], int]) -> None:
    edges = frozenset(ways)
    found = copies_of(graph_of(ways), ways)
    assert found.complete
    told = {copies.sink: copies for copies in found.copies}
    for sink in VERTICES:
        numbers = {
            source: sum(prod(ways[step] for step in pairwise(path)) for path in paths)
            for source in VERTICES
            if source != sink and (paths := list(brute_force.simple_paths(edges, source, sink)))
        }
        most = max(numbers.values(), default=0)
        if most > 1:
            assert told[sink].number == most
            assert numbers[told[sink].source] == most
        else:
            assert sink not in told


@settings(max_examples=100, deadline=None)
@given(st.sets(st.tuples(st.sampled_from(VERTICES), st.sampled_from(VERTICES)), max_size=12))
def test_behind_a_cycle_there_is_no_end(edges: set[tuple[int, int]]) -> None:
    present = frozenset(edges)
    round_ = {vertex for cycle in brute_force.cycles(present) for vertex in cycle}
    endless = {sink for sink in VERTICES for vertex in round_ if any(brute_force.simple_paths(present, vertex, sink))}
    found = copies_of(graph_of(edges), {})
    assert {copies.sink for copies in found.copies if copies.number is None} == endless


def test_squares_in_a_row_double_the_copies() -> None:
    graph = graph_of({(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6)})
    assert copies_of(graph, {}).copies == (
        Copies(0, 3, 2),
        Copies(0, 4, 2),
        Copies(0, 5, 2),
        Copies(0, 6, 4),
    )


def test_counting_ends_and_says_so() -> None:
    graph = graph_of({(0, 1), (0, 2), (1, 3), (2, 3)})
    assert not copies_of(graph, {}, most_steps=2).complete
