"""All simple routes between two channels, the shortest first (Yen's algorithm). There can be exponentially many; each takes
polynomial time, so asking for the first few is always possible."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush

from gateway.domain.graph import Graph, Route, backwards
from gateway.domain.steps import Steps


def simple_routes(graph: Graph, start: int, end: int, steps: Steps) -> Iterator[Route]:
    """By length, and by ids where that is the same. Raises OutOfSteps."""
    if start == end:
        return
    found: list[Route] = []
    waiting: list[tuple[int, Route, int]] = []  # with where it left the route that it was made from
    _put(waiting, _shortest(graph, (), start, end, set(), steps), 0)
    while waiting:
        _, route, parting = heappop(waiting)
        yield route
        found.append(route)
        # Every other route parts from one that was found. Before `parting` this one has been looked at already (Lawler).
        for index in range(parting, len(route) - 1):
            common = route[: index + 1]
            taken = {other[index + 1] for other in found if other[: index + 1] == common}
            steps.take(len(found))
            _put(waiting, _shortest(graph, common[:-1], route[index], end, taken, steps), index)


def _put(waiting: list[tuple[int, Route, int]], route: Route | None, parting: int) -> None:
    if route is not None:
        heappush(waiting, (len(route), route, parting))


def _shortest(graph: Graph, before: Route, start: int, end: int, taken: set[int], steps: Steps) -> Route | None:
    """The shortest route that begins with `before` and start, does not go on to what is taken, and passes nothing twice.

    Of several the one with the lowest ids: neighbours are met in the order of their ids, so it is the first.
    """
    if end in graph.after[start] and end not in taken:
        return (*before, start, end)
    entries = graph.before[end]
    came_from = {start: start}
    passed = {*before, *taken}
    waiting = deque([start])
    while waiting:
        vertex = waiting.popleft()
        steps.take(len(graph.after[vertex]))
        for next_ in sorted(graph.after[vertex]):
            if next_ not in came_from and next_ not in passed:
                came_from[next_] = vertex
                if next_ in entries:
                    return before + backwards(next_, came_from) + (end,)
                waiting.append(next_)
        if vertex == start:
            passed = set(before)  # what is taken may be passed later on
    return None
