"""The diamonds of a graph: pairs of vertices that are joined by two paths with no vertex in common on the way (RULES.md 4.3).

For one source, the sinks of all its diamonds are found in one walk. A vertex *dominates* another if every path from the source to
that one passes it. Where nothing but the source itself dominates a sink, no single vertex cuts the two off from each other, and by
Menger's theorem there are two disjoint paths, unless the only one is the direct edge. Dominators: Cooper, Harvey and Kennedy
(A Simple, Fast Dominance Algorithm, 2001).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from gateway.domain.graph import Graph, Route
from gateway.domain.routes import simple_routes
from gateway.domain.steps import OutOfSteps, Steps

MOST_DIAMONDS: Final = 1_000
MOST_ROUTES: Final = 16
MOST_STEPS: Final = 2_000_000


class Diamond(NamedTuple):
    """All simple routes from the first channel to the last, the shortest first; only some of them where there are too many."""

    routes: tuple[Route, ...]
    complete: bool = True

    @property
    def ends(self) -> tuple[int, int]:
        return self.routes[0][0], self.routes[0][-1]


class Diamonds(NamedTuple):
    """In the order of their ends."""

    diamonds: tuple[Diamond, ...]
    complete: bool  # False: there are more, or there may be


def diamonds_of(
    graph: Graph, most: int = MOST_DIAMONDS, most_routes: int = MOST_ROUTES, most_steps: int = MOST_STEPS
) -> Diamonds:
    found: list[Diamond] = []
    steps = Steps(most_steps)
    try:
        for source, sink in _pairs(graph, steps):
            if len(found) == most:
                return Diamonds(tuple(found), complete=False)
            found.append(diamond_between(graph, source, sink, most_routes, steps))
    except OutOfSteps:
        return Diamonds(tuple(found), complete=False)
    return Diamonds(tuple(found), complete=True)


def diamond_between(graph: Graph, source: int, sink: int, most_routes: int, steps: Steps) -> Diamond:
    routes = tuple(islice(simple_routes(graph, source, sink, steps), most_routes + 1))
    return Diamond(routes[:most_routes], complete=len(routes) <= most_routes)


def _pairs(graph: Graph, steps: Steps) -> Iterator[tuple[int, int]]:
    for source in sorted(graph.after):
        if len(graph.after[source]) > 1:
            yield from ((source, sink) for sink in sorted(sinks_of(graph, source, steps)))


def sinks_of(graph: Graph, source: int, steps: Steps) -> list[int]:
    order = _reverse_postorder(graph, source, steps)
    number = {vertex: index for index, vertex in enumerate(order)}
    before = [[number[p] for p in graph.before[vertex] if p in number and p != vertex] for vertex in order]
    if all(len(entries) == 1 for entries in before[1:]):
        return []  # a tree: one path to each
    above = _dominators(before, steps)
    first = list(range(len(order)))  # the vertex right below the source that dominates each
    for index in range(1, len(order)):
        if above[index] != 0:
            first[index] = first[above[index]]
    direct = graph.after[source]
    return [
        vertex
        for index, vertex in enumerate(order)
        if index and not above[index]
        and (vertex not in direct or any(entry and first[entry] != index for entry in before[index]))
    ]  # fmt: skip


def _reverse_postorder(graph: Graph, source: int, steps: Steps) -> list[int]:
    met = {source}
    order: list[int] = []
    walk = [(source, iter(graph.after[source]))]
    while walk:
        vertex, following = walk[-1]
        for next_ in following:
            if next_ not in met:
                met.add(next_)
                walk.append((next_, iter(graph.after[next_])))
                break
        else:
            walk.pop()
            order.append(vertex)
            steps.take(len(graph.after[vertex]))
    order.reverse()
    return order


def _dominators(before: list[list[int]], steps: Steps) -> list[int]:
    """Of each vertex the nearest other that dominates it. Vertices are numbers in reverse postorder, 0 is the source."""
    unknown = -1
    above = [0] + [unknown] * (len(before) - 1)
    changed = True
    while changed:
        changed = False
        for vertex in range(1, len(before)):
            nearest = unknown
            for entry in before[vertex]:
                steps.take()
                if above[entry] == unknown:
                    continue
                if nearest == unknown:
                    nearest = entry
                other = entry
                while nearest != other:
                    if nearest > other:
                        nearest = above[nearest]
                    else:
                        other = above[other]
            if above[vertex] != nearest:
                above[vertex] = nearest
                changed = True
    return above
