"""How many copies of an event arrive where there is more than one way: one for each route, without end where a cycle is on the way.

Nobody gets more copies than from a channel at the very start (what leads to a channel leads wherever that leads to), so for each
channel only those need to be looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import Final, NamedTuple

from gateway.domain.components import components, is_cyclic
from gateway.domain.graph import Graph
from gateway.domain.steps import OutOfSteps, Steps

MOST_STEPS: Final = 2_000_000


class Copies(NamedTuple):
    source: int
    sink: int
    number: int | None  # None: again and again


class AllCopies(NamedTuple):
    """Of each channel that gets an event more than once: from where it gets the most copies. In the order of the channels."""

    copies: tuple[Copies, ...]
    complete: bool


def copies_of(graph: Graph, ways: Mapping[tuple[int, int], int], most_steps: int = MOST_STEPS) -> AllCopies:
    """`ways` says of an edge how many connections it stands for, where that is not one."""
    found = list(components(graph, graph.after))
    found.reverse()  # what leads to a component comes before it
    place = {vertex: index for index, component in enumerate(found) for vertex in component}
    most: dict[int, tuple[float, int]] = {}  # of each component: the number of copies, and from where
    complete = True
    try:
        for start, counts in _from_each_start(graph, ways, found, place, Steps(most_steps)):
            for index, count in counts.items():
                if count > most.get(index, (1, 0))[0]:
                    most[index] = count, start
    except OutOfSteps:
        complete = False
    copies = (
        Copies(most[place[vertex]][1], vertex, None if most[place[vertex]][0] == inf else int(most[place[vertex]][0]))
        for vertex in graph.after
        if place[vertex] in most
    )
    return AllCopies(tuple(copies), complete)


def _from_each_start(
    graph: Graph,
    ways: Mapping[tuple[int, int], int],
    found: list[list[int]],
    place: Mapping[int, int],
    steps: Steps,
) -> Iterator[tuple[int, dict[int, float]]]:
    """For each component that nothing leads to: one of its vertices, and the number of routes to each component."""
    for first, component in enumerate(found):
        if any(place[vertex] != first for member in component for vertex in graph.before[member]):
            continue
        counts: dict[int, float] = {first: 1}
        for index in range(first, len(found)):
            if index not in counts:
                steps.take()
                continue
            if is_cyclic(graph, found[index]):
                counts[index] = inf
            for vertex in found[index]:
                for following in graph.after[vertex]:
                    steps.take()
                    if place[following] != index:
                        more = counts[index] * ways.get((vertex, following), 1)
                        counts[place[following]] = counts.get(place[following], 0) + more
        yield min(component), counts
