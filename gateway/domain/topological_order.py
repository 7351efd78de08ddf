"""Keeps the vertices in an order in which every edge points forward, and so knows at once that most edges close no cycle.

The algorithm of Pearce and Kelly (A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs, 2006): an edge that points
forward costs nothing, one that points backward a search among the vertices between its ends. Taking edges away costs nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from gateway.domain.components import components, is_cyclic
from gateway.domain.graph import Graph, Neighbours, Route, backwards


class TopologicalOrder:
    """Of a graph without cycles, which others change: they ask `way_back` before each edge that they add.

    `work` counts the vertices that were looked at.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._place: dict[int, int] = {}
        self._next = 0
        self.work = 0
        found = list(components(graph, graph.after))
        for component in reversed(found):
            if is_cyclic(graph, component):
                raise ValueError("a graph with cycles has no topological order")
            self.vertex_added(component[0])

    def vertex_added(self, vertex: int) -> None:
        self._place[vertex] = self._next
        self._next += 1

    def vertex_removed(self, vertex: int) -> None:
        del self._place[vertex]

    def way_back(self, source: int, sink: int) -> Route | None:
        """The shortest path from the sink to the source, which the edge would close to a cycle. None: there is none, and the order
        is ready for the edge, and as right without it."""
        place = self._place
        first, last = place[sink], place[source]
        if last < first:
            return None
        later = self._between(sink, self._graph.after, first, last, source)
        if source in later:
            return backwards(source, later)
        earlier = self._between(source, self._graph.before, first, last, sink)
        moved = [*sorted(earlier, key=place.__getitem__), *sorted(later, key=place.__getitem__)]
        for vertex, number in zip(moved, sorted(place[vertex] for vertex in moved), strict=True):
            place[vertex] = number
        return None

    def _between(
        self, start: int, edges: Mapping[int, Neighbours], first: int, last: int, wanted: int
    ) -> dict[int, int]:
        """What can be reached without leaving a stretch of the order, and from where; until the wanted vertex is reached."""
        place = self._place
        came_from = {start: start}
        waiting = deque([start])
        while waiting and wanted not in came_from:
            before = waiting.popleft()
            for vertex in edges[before]:
                if vertex not in came_from and first <= place[vertex] <= last:
                    came_from[vertex] = before
                    waiting.append(vertex)
        self.work += len(came_from)
        return came_from
