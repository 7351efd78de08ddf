"""The graph of an event domain: channels are its vertices, links its edges.

A **cycle** is a closed path: an event would go round for ever. A **diamond** is a pair of channels with two paths between them that
share no channel on the way (a direct link counts): an event would arrive twice. These are the definitions of the OMG's
Management of Event Domains, as far as they can be told from its implementations (RULES.md 4.3).

Asking is bounded: both can be exponentially many, so we look for the first one only, and give up after `MOST_STEPS`.
"""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

MOST_STEPS: Final = 1_000_000
"""Edges that one graph looks at in all its answers: a few seconds."""

Route = tuple[str, ...]


class Diamond(NamedTuple):
    """Two routes with the same first and last channel, and no other in common."""

    one: Route
    other: Route


class TooLarge(Exception):
    """The answer would take too long."""


class Graph:
    """Grows by one edge at a time; the questions are about an edge that is not in it yet."""

    def __init__(self) -> None:
        self._after: dict[str, dict[str, None]] = {}  # in the order of adding, so that answers are always the same
        self._before: dict[str, dict[str, None]] = {}
        self._cluster: dict[str, str] = {}  # union-find: which vertices hang together, whatever the direction
        self._steps = 0

    def add(self, source: str, sink: str) -> None:
        self._after.setdefault(source, {})[sink] = None
        self._before.setdefault(sink, {})[source] = None
        self._cluster[self._root(source)] = self._root(sink)

    def has(self, source: str, sink: str) -> bool:
        return sink in self._after.get(source, ())

    def cycle_with(self, source: str, sink: str) -> Route | None:
        """The shortest path from sink to source, which the edge would close to a cycle; (v,) where it joins v to itself."""
        if source == sink:
            return (source,)
        if not self._joined(source, sink):
            return None
        return self._path(sink, source)

    def diamond_with(self, source: str, sink: str) -> Diamond | None:
        """A diamond that the edge would make. There must be none in the graph yet."""
        if not self._joined(source, sink):
            return None
        upstream = list(self._reach([source], self._before))
        downstream = set(self._reach([sink], self._after))
        if downstream.isdisjoint(self._reach(upstream, self._after)):
            return None
        for start in upstream:
            diamond = self._second_path(start, source, sink)
            if diamond is not None:
                return diamond
        return None

    def _second_path(self, start: str, source: str, sink: str) -> Diamond | None:
        """Walk all simple paths from a vertex, with the new edge in place, until one ends where another has ended.

        As long as that does not happen there is one path to each vertex, so the walk is no longer than the graph is large.
        """
        came_from: dict[str, str | None] = {start: None}
        path = {start: None}  # a dict for its order
        walk = [iter(self._next(start, source, sink))]
        while walk:
            vertex = next(walk[-1], None)
            if vertex is None:
                walk.pop()
                path.popitem()
                continue
            self._step()
            if vertex in path:
                continue
            if vertex in came_from:
                return _diamond(_backwards(vertex, came_from), (*path, vertex))
            came_from[vertex] = next(reversed(path))
            path[vertex] = None
            walk.append(iter(self._next(vertex, source, sink)))
        return None

    def _next(self, vertex: str, source: str, sink: str) -> list[str]:
        following = list(self._after.get(vertex, ()))
        return [*following, sink] if vertex == source and sink not in following else following

    def _path(self, start: str, end: str) -> Route | None:
        came_from: dict[str, str | None] = {start: None}
        waiting = deque([start])
        while waiting:
            vertex = waiting.popleft()
            if vertex == end:
                return _backwards(vertex, came_from)
            for following in self._after.get(vertex, ()):
                self._step()
                if following not in came_from:
                    came_from[following] = vertex
                    waiting.append(following)
        return None

    def _reach(self, starts: list[str], edges: dict[str, dict[str, None]]) -> dict[str, None]:
        """The vertices that can be reached, nearest first, the starts among them."""
        reached = dict.fromkeys(starts)
        waiting = deque(starts)
        while waiting:
            for vertex in edges.get(waiting.popleft(), ()):
                self._step()
                if vertex not in reached:
                    reached[vertex] = None
                    waiting.append(vertex)
        return reached

    def _joined(self, one: str, other: str) -> bool:
        """Whether there is any way between two vertices, against the arrows too; if not, an edge makes no cycle or diamond."""
        return self._root(one) == self._root(other)

    def _root(self, vertex: str) -> str:
        while (above := self._cluster.setdefault(vertex, vertex)) != vertex:
            self._cluster[vertex] = vertex = self._cluster[above]
        return vertex

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise TooLarge


def _backwards(vertex: str, came_from: dict[str, str | None]) -> Route:
    path = [vertex]
    while (before := came_from[path[-1]]) is not None:
        path.append(before)
    return tuple(reversed(path))


def _diamond(one: Route, other: Route) -> Diamond:
    """From where two paths part to where they first meet again."""
    parting = next(index for index, (left, right) in enumerate(zip(one, other, strict=False)) if left != right) - 1
    rest = other[parting:]
    end = next(index for index, vertex in enumerate(one[parting + 1 :], parting + 1) if vertex in rest)
    return Diamond(one[parting : end + 1], rest[: rest.index(one[end]) + 1])
