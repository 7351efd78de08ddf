"""Watches over a graph without diamonds: between any two vertices there is at most one simple path.

That is the same as "no two vertices are joined by two paths that share no vertex on the way": such a pair lies where two simple
paths part, and where they first meet again. And it makes everything exact and cheap. For each vertex we keep what it reaches, as
the bits of a number, so that joining or comparing whole sets is one operation on numbers.

- An edge source → sink makes a diamond where something upstream of the source already reaches something downstream of the
  sink: one AND for each vertex upstream (see `conflict` for the case that it also closes a cycle).
- A new edge adds all that the sink reaches to everything upstream of the source.
- Taking an edge away that is in no cycle takes exactly the same away again: since there was one path only, nothing that
  was reached over the edge is reached otherwise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import pairwise

from gateway.domain.components import components
from gateway.domain.graph import Graph, Route, backwards


class SinglePaths:
    """Of a graph without diamonds, which others change: they ask `conflict` before each edge, and tell of every change after it.

    `work` counts what was done, in sets of about two thousand vertices that were joined or compared.
    """

    def __init__(self, graph: Graph) -> None:
        """The graph must have no edges yet; see `single_paths_of`."""
        self.graph = graph
        self.work = 0
        self._bit: dict[int, int] = {}
        self._reach: dict[int, int] = {}  # the bits of all that is reached, the vertex among it
        self._at: list[int] = []  # the vertex of each bit
        self._free: list[int] = []  # bits of vertices that are gone
        for vertex in graph.after:
            self.vertex_added(vertex)

    def vertex_added(self, vertex: int) -> None:
        if self._free:
            index = self._free.pop()
            self._at[index] = vertex
        else:
            index = len(self._at)
            self._at.append(vertex)
        self._bit[vertex] = self._reach[vertex] = 1 << index

    def vertex_removed(self, vertex: int) -> None:
        del self._reach[vertex]
        self._free.append(self._bit.pop(vertex).bit_length() - 1)

    def edge_added(self, source: int, sink: int) -> None:
        """There was no conflict."""
        if source != sink:
            reached = self._reach[sink]
            for vertex in self._upstream(source):
                self._reach[vertex] |= reached

    def edge_removed(self, source: int, sink: int) -> None:
        if source == sink:
            return
        if self.reaches(sink, source):
            self._look_again(self._upstream(source))
        else:
            kept = ~self._reach[sink]
            for vertex in self._upstream(source):
                self._reach[vertex] &= kept

    def reaches(self, start: int, end: int) -> bool:
        return bool(self._reach[start] & self._bit[end])

    def way_back(self, source: int, sink: int) -> Route | None:
        """The path from the sink to the source, which the edge would close to a cycle."""
        return self.path(sink, source) if self.reaches(sink, source) else None

    def conflict(self, source: int, sink: int) -> tuple[Route, Route] | None:
        """The two routes that an edge would make a diamond of; they share their ends only, and there is no third."""
        if source == sink:
            return None
        if not self.reaches(sink, source):
            return self._conflict_above(source, sink, source, ())
        if self.reaches(source, sink):
            return (source, sink), self.path(source, sink)
        return self._conflict_in_cycle(source, sink, self.path(sink, source))

    def path(self, start: int, end: int) -> Route:
        """The only simple path. The end must be reached."""
        wanted = self._bit[end]
        came_from = {start: start}
        waiting = deque([start])
        while (vertex := waiting.popleft()) != end:
            for following in self.graph.after[vertex]:
                if following not in came_from and self._reach[following] & wanted:
                    came_from[following] = vertex
                    waiting.append(following)
        return backwards(end, came_from)

    def _conflict_in_cycle(self, source: int, sink: int, path: Route) -> tuple[Route, Route] | None:
        """The edge closes a cycle: path is the rest of it, from the sink to the source.

        A second cycle may share one vertex with it, and no edge. What comes in at a vertex of the cycle could not go to the
        vertices before it so far, and now can: those vertices, and what is reached from them alone, must be new to it.
        """
        for index, (one, next_) in enumerate(pairwise(path)):
            if self.reaches(next_, one):
                return self._parted(path[index + 1 :] + path[: index + 1], self.path(next_, one))
        conflicts = (self._conflict_above(source, sink, entry, path) for entry in reversed(path[1:]))
        return next((found for found in conflicts if found is not None), None)

    def _conflict_above(self, source: int, sink: int, entry: int, cycle: Route) -> tuple[Route, Route] | None:
        """What is upstream of the entry, not by way of the cycle, comes to the source from there. The edge would lead it to all
        that the sink reaches, but for what a cycle has led it to before."""
        news = self._reach[sink]
        if cycle:
            news &= ~self._reach[entry]
        for vertex in self._upstream(entry, cycle):
            both = self._reach[vertex] & news
            if both:
                end = self._at[(both & -both).bit_length() - 1]
                new_way = self.path(vertex, source) + self.path(sink, end)
                return self._parted(new_way, self.path(vertex, end))
        return None

    @staticmethod
    def _parted(one: Route, other: Route) -> tuple[Route, Route]:
        """From where two routes part to where they first meet again."""
        parting = next(index for index, (left, right) in enumerate(zip(one, other, strict=False)) if left != right) - 1
        rest = other[parting:]
        end = next(index for index in range(parting + 1, len(one)) if one[index] in rest)
        return one[parting : end + 1], rest[: rest.index(one[end]) + 1]

    def _upstream(self, vertex: int, without: Iterable[int] = ()) -> Iterator[int]:
        """From where a vertex can be reached, nearest first, the vertex among it; not by way of the others."""
        cost = 1 + len(self._at) // 2_000
        before = self.graph.before
        found = [vertex]
        met = {vertex, *without}
        for reached in found:
            self.work += cost
            yield reached
            for earlier in before[reached]:
                if earlier not in met:
                    met.add(earlier)
                    found.append(earlier)

    def _look_again(self, vertices: Iterable[int]) -> None:
        """Find anew what these reach; everything else that they lead to must be right."""
        affected = set(vertices)
        for component in components(self.graph, affected):
            inside = set(component)
            reached = 0
            for vertex in component:
                reached |= self._bit[vertex]
                for following in self.graph.after[vertex]:
                    if following not in inside:
                        reached |= self._reach[following]
            for vertex in component:
                self._reach[vertex] = reached


def single_paths_of(graph: Graph) -> SinglePaths | None:
    """Watches over a copy of a graph; None where it has a diamond."""
    copy = Graph()
    for vertex in graph.after:
        copy.add_vertex(vertex)
    paths = SinglePaths(copy)
    for source, sink in graph.edges():
        if paths.conflict(source, sink) is not None:
            return None
        copy.add_edge(source, sink)
        paths.edge_added(source, sink)
    return paths
