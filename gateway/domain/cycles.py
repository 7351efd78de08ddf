"""The elementary cycles of a graph: closed paths that pass no vertex twice (Johnson's algorithm).

There can be exponentially many, but each costs no more than one walk over the graph, so a bounded number is always possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from gateway.domain.components import components, is_cyclic
from gateway.domain.graph import Graph, Route
from gateway.domain.steps import OutOfSteps, Steps

MOST_CYCLES: Final = 1_000
MOST_STEPS: Final = 2_000_000


class Cycles(NamedTuple):
    """Each begins with its lowest id; (v,) is a connection from a channel to itself."""

    cycles: tuple[Route, ...]
    complete: bool  # False: there are more, or there may be


def cycles_of(graph: Graph, most: int = MOST_CYCLES, most_steps: int = MOST_STEPS) -> Cycles:
    found: list[Route] = []
    try:
        for cycle in _elementary(graph, Steps(most_steps)):
            if len(found) == most:
                return Cycles(tuple(found), complete=False)
            found.append(cycle)
    except OutOfSteps:
        return Cycles(tuple(found), complete=False)
    return Cycles(tuple(sorted(found)), complete=True)


def _elementary(graph: Graph, steps: Steps) -> Iterator[Route]:
    """Those through the lowest vertex of a component first; then the same for what is left of it without that vertex."""
    waiting = sorted(
        (set(component) for component in components(graph, graph.after) if is_cyclic(graph, component)), key=min
    )
    waiting.reverse()
    while waiting:
        part = waiting.pop()
        start = min(part)
        yield from _through(graph, part, start, steps)
        part.remove(start)
        steps.take(sum(len(graph.after[vertex]) for vertex in part))
        waiting.extend(set(rest) for rest in components(graph, part) if is_cyclic(graph, rest))


def _through(graph: Graph, part: set[int], start: int, steps: Steps) -> Iterator[Route]:
    """The cycles through one vertex. A vertex from which no way was found back to it is blocked until one of those after it,
    which block it, is left."""
    path = [start]
    blocked = {start}
    blocks: dict[int, set[int]] = {}
    closed: set[int] = set()  # vertices of the path with a cycle through them
    walk = [sorted(graph.after[start].keys() & part, reverse=True)]
    while walk:
        vertex, following = path[-1], walk[-1]
        if following:
            steps.take()
            next_ = following.pop()
            if next_ == start:
                yield tuple(path)
                closed.update(path)
            elif next_ not in blocked:
                path.append(next_)
                blocked.add(next_)
                closed.discard(next_)
                walk.append(sorted(graph.after[next_].keys() & part, reverse=True))
            continue
        if vertex in closed:
            _unblock(vertex, blocked, blocks)
        else:
            for next_ in graph.after[vertex].keys() & part:
                steps.take()
                blocks.setdefault(next_, set()).add(vertex)
        walk.pop()
        path.pop()


def _unblock(vertex: int, blocked: set[int], blocks: dict[int, set[int]]) -> None:
    waiting = [vertex]
    while waiting:
        freed = waiting.pop()
        if freed in blocked:
            blocked.remove(freed)
            waiting.extend(blocks.pop(freed, ()))
