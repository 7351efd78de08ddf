"""The bare graph of an event domain: vertices and directed edges, no rules.

Everything is walked in the order of adding, so that answers are always the same. No walk is recursive: a chain of ten thousand
channels is a chain, not a stack overflow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

Route = tuple[int, ...]
"""Vertices in the order in which an event passes them."""

Neighbours = Mapping[int, None]  # a dict for its order


class Graph:
    """At most one edge from one vertex to another; an edge may lead from a vertex to itself."""

    def __init__(self) -> None:
        self.after: dict[int, dict[int, None]] = {}
        self.before: dict[int, dict[int, None]] = {}

    def add_vertex(self, vertex: int) -> None:
        self.after[vertex] = {}
        self.before[vertex] = {}

    def remove_vertex(self, vertex: int) -> None:
        """Its edges must be gone."""
        if self.after[vertex] or self.before[vertex]:
            raise ValueError(f"vertex {vertex} still has edges")
        del self.after[vertex], self.before[vertex]

    def add_edge(self, source: int, sink: int) -> None:
        self.after[source][sink] = None
        self.before[sink][source] = None

    def remove_edge(self, source: int, sink: int) -> None:
        del self.after[source][sink]
        del self.before[sink][source]

    def has_edge(self, source: int, sink: int) -> bool:
        return sink in self.after[source]

    def edges(self) -> Iterator[tuple[int, int]]:
        return ((source, sink) for source, sinks in self.after.items() for sink in sinks)

    def downstream(self, vertex: int) -> set[int]:
        """What can be reached from a vertex, the vertex itself left out, even where a cycle leads back to it."""
        return self._reached(vertex, self.after)

    def upstream(self, vertex: int) -> set[int]:
        """From where a vertex can be reached, the vertex itself left out."""
        return self._reached(vertex, self.before)

    def path(self, start: int, end: int) -> Route | None:
        """A shortest path; (v,) where both are the same vertex."""
        came_from: dict[int, int] = {start: start}
        waiting = deque([start])
        while waiting:
            vertex = waiting.popleft()
            if vertex == end:
                return backwards(vertex, came_from)
            for following in self.after[vertex]:
                if following not in came_from:
                    came_from[following] = vertex
                    waiting.append(following)
        return None

    @staticmethod
    def _reached(vertex: int, edges: Mapping[int, Neighbours]) -> set[int]:
        reached = {vertex}
        waiting = [vertex]
        while waiting:
            fresh = edges[waiting.pop()].keys() - reached
            reached |= fresh
            waiting.extend(fresh)
        return reached - {vertex}


def backwards(vertex: int, came_from: Mapping[int, int]) -> Route:
    """The path that led to a vertex; its start came from itself."""
    path = [vertex]
    while (before := came_from[path[-1]]) != path[-1]:
        path.append(before)
    return tuple(reversed(path))
