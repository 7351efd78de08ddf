"""Enumerations end, however many cycles, diamonds and routes there are: and they say when they left something out."""

from __future__ import annotations

from itertools import pairwise
from math import factorial

import pytest

from gateway.domain.cycles import cycles_of
from gateway.domain.diamonds import diamonds_of
from gateway.domain.graph import Graph, Route

Edges = list[tuple[int, int]]


def graph_of(edges: Edges) -> Graph:
    graph = Graph()
    for vertex in dict.fromkeys(vertex for edge in edges for vertex in edge):
        graph.add_vertex(vertex)
    for edge in edges:
        graph.add_edge(*edge)
    return graph


def complete(count: int) -> Graph:
    return graph_of([(source, sink) for source in range(count) for sink in range(count) if source != sink])


def ladder(count: int) -> Graph:
    """Squares in a row, each with two ways through it: 2 ** count routes from 0 to 3 * count."""
    edges: Edges = []
    for start in range(0, 3 * count, 3):
        edges += [(start, start + 1), (start, start + 2), (start + 1, start + 3), (start + 2, start + 3)]
    return graph_of(edges)


def trap(count: int) -> Graph:
    """From 0 to 1 directly and through 2; and behind 2 a clique that every route may enter and from which none gets out."""
    clique = range(3, 3 + count)
    edges: Edges = [(0, 1), (0, 2), (2, 1), *((2, vertex) for vertex in clique)]
    edges += [(source, sink) for source in clique for sink in clique if source != sink]
    edges += [(vertex, 2) for vertex in clique]
    return graph_of(edges)


def assert_is_cycle(graph: Graph, cycle: Route) -> None:
    assert len(set(cycle)) == len(cycle)
    assert cycle[0] == min(cycle)
    assert all(graph.has_edge(source, sink) for source, sink in pairwise((*cycle, cycle[0])))


@pytest.mark.parametrize("count", range(2, 7))
def test_all_cycles_of_a_complete_graph_are_found(count: int) -> None:
    found = cycles_of(complete(count))
    expected = sum(factorial(count) // (factorial(count - length) * length) for length in range(2, count + 1))
    assert found.complete
    assert len(found.cycles) == len(set(found.cycles)) == expected


def test_exactly_as_many_as_asked_for_is_complete() -> None:
    assert cycles_of(complete(3), most=5).complete
    assert not cycles_of(complete(3), most=4).complete
    assert len(cycles_of(complete(3), most=4).cycles) == 4


def test_k28_gives_a_thousand_cycles_and_says_that_there_are_more() -> None:
    graph = complete(28)
    found = cycles_of(graph)
    assert not found.complete
    assert len(set(found.cycles)) == len(found.cycles) == 1_000
    for cycle in found.cycles:
        assert_is_cycle(graph, cycle)


def test_k28_has_a_diamond_between_any_two_and_more_routes_than_can_be_told() -> None:
    found = diamonds_of(complete(28))
    assert found.complete
    assert [diamond.ends for diamond in found.diamonds] == [(s, t) for s in range(28) for t in range(28) if s != t]
    for diamond in found.diamonds:
        assert not diamond.complete
        assert len(set(diamond.routes)) == 16
        assert diamond.routes[0] == diamond.ends
        assert {len(route) for route in diamond.routes[1:]} == {3}, "the shortest come first"


def test_diamonds_end_where_enough_were_found() -> None:
    found = diamonds_of(complete(28), most=10)
    assert not found.complete
    assert len(found.diamonds) == 10


def test_a_ladder_has_a_diamond_in_every_square_and_none_between_squares() -> None:
    """All routes meet where squares meet, so the 2 ** 300 routes from end to end are no diamond."""
    found = diamonds_of(ladder(300))
    assert found.complete
    assert [diamond.ends for diamond in found.diamonds] == [(start, start + 3) for start in range(0, 900, 3)]
    assert all(diamond.complete and len(diamond.routes) == 2 for diamond in found.diamonds)


def test_exponentially_many_routes_are_cut_short() -> None:
    graph = ladder(60)
    graph.add_edge(0, 180)
    found = diamonds_of(graph, most_routes=50)
    (widest,) = [diamond for diamond in found.diamonds if diamond.ends == (0, 180)]
    assert not widest.complete
    assert len(set(widest.routes)) == 50
    assert widest.routes[0] == (0, 180)


def test_blind_alleys_do_not_hold_up_the_search_for_routes() -> None:
    graph = trap(20)
    found = diamonds_of(graph, most_routes=1_000)
    (diamond,) = [diamond for diamond in found.diamonds if diamond.ends == (0, 1)]
    assert diamond == (((0, 1), (0, 2, 1)), True)


def test_blind_alleys_do_not_hold_up_the_search_for_cycles() -> None:
    """0 and 1 feed each other. All that leaves 1 otherwise comes back to 1 after sixty squares, by 2 ** 60 ways."""
    squares = [(source + 2, sink + 2) for source, sink in ladder(60).edges()]
    graph = graph_of([(0, 1), (1, 0), (1, 2), (182, 1), *squares])
    found = cycles_of(graph, most=2, most_steps=10_000)
    assert found.cycles[0] == (0, 1)
    assert len(found.cycles[1]) == 122
    assert not found.complete


def test_work_ends_even_where_nothing_is_found() -> None:
    assert cycles_of(complete(28), most_steps=0) == ((), False)
    assert diamonds_of(complete(28), most_steps=50) == ((), False)


def test_what_was_found_until_then_is_told() -> None:
    graph = complete(28)
    found = cycles_of(graph, most_steps=50)
    assert not found.complete
    assert 0 < len(found.cycles) < 50
    for cycle in found.cycles:
        assert_is_cycle(graph, cycle)


def test_a_large_ring_of_rings_is_no_problem() -> None:
    """2000 rings of three that hang on one large ring: 2001 cycles, each found once."""
    edges: Edges = []
    for number in range(2_000):
        edges += [(number, (number + 1) % 2_000), (number, 2_000 + 2 * number)]
        edges += [(2_000 + 2 * number, 2_001 + 2 * number), (2_001 + 2 * number, number)]
    found = cycles_of(graph_of(edges), most=10_000)
    assert found.complete
    assert sorted(map(len, found.cycles)) == [3] * 2_000 + [2_000]
