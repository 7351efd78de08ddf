"""The graph that keeps to its rules: edges switched on and off at random on few vertices, so that cycles come, touch and go."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.domain.errors import CycleCreationForbidden, DiamondCreationForbidden, DomainError
from gateway.domain.graph import Graph
from gateway.domain.qos import Rules
from gateway.domain.single_paths import SinglePaths
from gateway.domain.topology import Topology
from tests.unit.domain import brute_force
from tests.unit.domain.refusal import refusal

VERTICES = range(6)
Edge = tuple[int, int]
switches = st.lists(st.tuples(st.sampled_from(VERTICES), st.sampled_from(VERTICES)), max_size=40)


def topology_of(rules: Rules, *edges: Edge) -> Topology:
    topology = Topology(rules)
    for vertex in range(10):
        topology.add_vertex(vertex)
    for edge in edges:
        topology.check(*edge)
        topology.add_edge(*edge)
    return topology


@pytest.mark.parametrize("rules", [Rules(False, True), Rules(True, True), Rules(True, False)])
@settings(max_examples=100, deadline=None)
@given(switched=switches)
def test_every_answer_is_right_after_any_change(rules: Rules, switched: list[Edge]) -> None:
    topology = topology_of(rules)
    edges: frozenset[Edge] = frozenset()
    for edge in switched:
        if edge in edges:
            topology.remove_edge(*edge)
            edges -= {edge}
            continue
        source, sink = edge
        with_edge = edges | {edge}
        back = set(brute_force.simple_paths(edges, sink, source))
        diamonds = brute_force.diamonds(with_edge, VERTICES) if rules.forbid_diamonds else {}
        expected = (
            CycleCreationForbidden if rules.forbid_cycles and back else DiamondCreationForbidden if diamonds else None
        )
        refused = refusal(topology.check, source, sink)
        assert (None if refused is None else type(refused)) is expected
        if isinstance(refused, CycleCreationForbidden):
            assert refused.cycle in (back if source != sink else {(source, source)})
        elif isinstance(refused, DiamondCreationForbidden):
            one, other = refused.diamond
            assert {one, other} == diamonds[one[0], one[-1]]
        else:
            topology.add_edge(source, sink)
            edges = with_edge


@settings(max_examples=150, deadline=None)
@given(switches)
def test_single_paths_know_what_reaches_what(switched: list[Edge]) -> None:
    graph = Graph()
    for vertex in VERTICES:
        graph.add_vertex(vertex)
    paths = SinglePaths(graph)
    for source, sink in switched:
        if graph.has_edge(source, sink):
            graph.remove_edge(source, sink)
            paths.edge_removed(source, sink)
        elif paths.conflict(source, sink) is None:
            graph.add_edge(source, sink)
            paths.edge_added(source, sink)
        edges = frozenset(graph.edges())
        for start in VERTICES:
            for end in VERTICES:
                assert paths.reaches(start, end) == any(brute_force.simple_paths(edges, start, end))


LOOSE = Rules(forbid_cycles=False, forbid_diamonds=True)

CONFLICTS: list[tuple[str, list[Edge], Edge, set[tuple[int, ...]]]] = [
    ("a second cycle over the same edge", [(0, 1), (1, 0), (1, 2)], (2, 0), {(1, 0), (1, 2, 0)}),
    (
        "a second cycle over an edge in the middle",
        [(0, 1), (1, 2), (2, 1), (2, 3)],
        (3, 0),
        {(2, 1), (2, 3, 0, 1)},
    ),
    ("a shortcut inside a cycle", [(0, 1), (1, 2), (2, 0)], (0, 2), {(0, 2), (0, 1, 2)}),
    ("who enters a cycle late and reaches what hangs on its start", [(0, 1), (0, 3), (2, 1), (2, 3)], (1, 0),
     {(2, 3), (2, 1, 0, 3)}),
    ("the same further along", [(0, 1), (1, 2), (1, 3), (4, 2), (4, 3)], (2, 0), {(4, 3), (4, 2, 0, 1, 3)}),
    ("the same from further up", [(0, 1), (0, 3), (5, 2), (2, 1), (5, 3)], (1, 0), {(5, 3), (5, 2, 1, 0, 3)}),
]  # fmt: skip


@pytest.mark.parametrize(("edges", "new", "routes"), [row[1:] for row in CONFLICTS], ids=[row[0] for row in CONFLICTS])
def test_cycles_that_make_diamonds_are_refused(edges: list[Edge], new: Edge, routes: set[tuple[int, ...]]) -> None:
    with pytest.raises(DiamondCreationForbidden) as refused:
        topology_of(LOOSE, *edges).check(*new)
    assert set(refused.value.diamond) == routes


@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1), (1, 0), (1, 2), (2, 1)],  # two cycles with one channel in common
        [(0, 1), (1, 2), (2, 0), (3, 1), (0, 4)],  # in here, out there
        [(0, 1), (1, 0), (2, 3), (3, 2), (1, 2)],  # from one cycle to another
        [(0, 0), (0, 1), (1, 1)],
    ],
)
def test_cycles_that_make_none_are_taken(edges: list[Edge]) -> None:
    topology_of(LOOSE, *edges)


def test_a_cycle_that_is_opened_reaches_no_further_than_it_does() -> None:
    topology = topology_of(LOOSE, (0, 1), (1, 2), (2, 0), (3, 0))
    topology.remove_edge(2, 0)
    topology.check(2, 3)
    topology.add_edge(2, 3)
    with pytest.raises(DomainError):
        topology.check(3, 1)
