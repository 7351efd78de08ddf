"""Keeps the vertices in an order in which every edge points forward, and so knows at once that most edges close no cycle.

The algorithm of Pearce and Kelly (A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs, 2006): an edge that points
forward costs nothing, one that points backward a search among the vertices between its ends. Taking edges away costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from gateway.domain.components import components, is_cyclic
from gateway.domain.graph import Graph, Neighbours


class TopologicalOrder:
    """Of a graph without cycles, which others change: they ask `admits` before each edge that they add.

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

    def admits(self, source: int, sink: int) -> bool:
        """Whether the edge closes no cycle; if so, the order is ready for it, and as right without it."""
        if source == sink:
            return False
        place = self._place
        first, last = place[sink], place[source]
        if last < first:
            return True
        later = self._between(sink, self._graph.after, first, last)
        if source in later:
            return False
        earlier = self._between(source, self._graph.before, first, last)
        self.work += len(earlier) + len(later)
        moved = [*sorted(earlier, key=place.__getitem__), *sorted(later, key=place.__getitem__)]
        for vertex, number in zip(moved, sorted(place[vertex] for vertex in moved), strict=True):
            place[vertex] = number
        return True

    def _between(self, start: int, edges: Mapping[int, Neighbours], first: int, last: int) -> set[int]:
        """What can be reached without leaving a stretch of the order."""
        place = self._place
        reached = {start}
        waiting = [start]
        while waiting:
            for vertex in edges[waiting.pop()]:
                if vertex not in reached and first <= place[vertex] <= last:
                    reached.add(vertex)
                    waiting.append(vertex)
        return reached
