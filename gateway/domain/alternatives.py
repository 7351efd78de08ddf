"""Diamonds where some edges are alternatives: of those with the same key an event takes one (a link that routes by content).

Two routes that leave their first channel by alternatives of one key are no two ways of one event. Anywhere else both routes of a
diamond may take the same key once at the most, since they share no channel on the way. So it is enough to look, for each first
channel, at the graph in which the alternatives that leave it do so by way of a vertex of their own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import combinations, islice
from typing import Final, NamedTuple

from gateway.domain.diamonds import MOST_ROUTES, sinks_of
from gateway.domain.graph import Graph, Route
from gateway.domain.routes import simple_routes
from gateway.domain.steps import Steps


class KeyedEdge(NamedTuple):
    source: int
    sink: int
    key: Hashable


_JUNCTION: Final = -1  # ids of vertices between a first channel and its alternatives go down from here


def two_ways(edges: Iterable[KeyedEdge], first: Iterable[int], steps: Steps) -> Iterator[tuple[Route, Route]]:
    """For each pair of channels with two routes that one event may take both, two such routes, the shorter first; of those that
    begin at the channels of `first`. Raises OutOfSteps."""
    graph, keys = _graph_of(edges)
    for source in first:
        junctions = _split(graph, source, keys)
        try:
            for sink in sorted(sinks_of(graph, source, steps)):
                if sink >= 0:
                    yield _disjoint(graph, source, sink, steps)
        finally:
            _join(graph, source, junctions)


def _graph_of(edges: Iterable[KeyedEdge]) -> tuple[Graph, dict[tuple[int, int], list[Hashable]]]:
    graph = Graph()
    keys: dict[tuple[int, int], list[Hashable]] = {}
    for source, sink, key in edges:
        for vertex in (source, sink):
            if vertex not in graph.after:
                graph.add_vertex(vertex)
        known = keys.setdefault((source, sink), [])
        if not known:
            graph.add_edge(source, sink)
        if key not in known:
            known.append(key)
    return graph, keys


def _split(graph: Graph, source: int, keys: dict[tuple[int, int], list[Hashable]]) -> dict[int, list[int]]:
    """What leaves a channel goes by way of a junction for its key, unless key and sink have nothing but each other: then the edge
    says the same. Which sinks, by junction."""
    by_key: dict[Hashable, list[int]] = {}
    for sink in graph.after[source]:
        if sink != source:
            for key in keys[source, sink]:
                by_key.setdefault(key, []).append(sink)
    junctions: dict[int, list[int]] = {}
    for sinks in by_key.values():
        if len(sinks) > 1 or len(keys[source, sinks[0]]) > 1:
            junctions[_JUNCTION - len(junctions)] = sinks
    for sink in {sink for sinks in junctions.values() for sink in sinks}:
        graph.remove_edge(source, sink)
    for junction, sinks in junctions.items():
        graph.add_vertex(junction)
        graph.add_edge(source, junction)
        for sink in sinks:
            graph.add_edge(junction, sink)
    return junctions


def _join(graph: Graph, source: int, junctions: dict[int, list[int]]) -> None:
    for junction, sinks in junctions.items():
        graph.remove_edge(source, junction)
        for sink in sinks:
            graph.remove_edge(junction, sink)
            if not graph.has_edge(source, sink):
                graph.add_edge(source, sink)
        graph.remove_vertex(junction)


def _disjoint(graph: Graph, source: int, sink: int, steps: Steps) -> tuple[Route, Route]:
    routes = list(islice(simple_routes(graph, source, sink, steps), MOST_ROUTES))
    for one, other in combinations(routes, 2):
        if not set(one[1:-1]) & set(other[1:-1]):
            return _without_junctions(one), _without_junctions(other)
    return _without_junctions(routes[0]), _without_junctions(routes[1])


def _without_junctions(route: Route) -> Route:
    return tuple(vertex for vertex in route if vertex >= 0)
