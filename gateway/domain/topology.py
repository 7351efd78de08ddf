"""A graph that keeps to its rules: every edge is checked before it is there, at a cost that hardly grows with the graph.

| cycles    | diamonds  | an edge is checked by                                     |
|-----------|-----------|-----------------------------------------------------------|
| forbidden | forbidden | SinglePaths, which knows what reaches what                |
| allowed   | forbidden | SinglePaths                                               |
| forbidden | allowed   | TopologicalOrder                                          |
| allowed   | allowed   | nothing                                                   |
"""

from __future__ import annotations

from gateway.domain.components import components, is_cyclic
from gateway.domain.errors import CycleCreationForbidden, DiamondCreationForbidden
from gateway.domain.graph import Graph
from gateway.domain.qos import Rules
from gateway.domain.single_paths import SinglePaths, single_paths_of
from gateway.domain.topological_order import TopologicalOrder


class Topology:
    def __init__(self, rules: Rules) -> None:
        self.graph = Graph()
        self.rules = rules
        self._watch: SinglePaths | TopologicalOrder | None = None
        self.set_rules(rules)

    @property
    def work(self) -> int:
        """Grows with what checking has cost so far."""
        return self._watch.work if self._watch is not None else 0

    def has_cycle(self) -> bool:
        if self.rules.forbid_cycles:
            return False
        return any(is_cyclic(self.graph, component) for component in components(self.graph, self.graph.after))

    def has_diamond(self) -> bool:
        return not self.rules.forbid_diamonds and single_paths_of(self.graph) is None

    def set_rules(self, rules: Rules) -> None:
        """The graph must have nothing that they forbid."""
        if rules.forbid_diamonds:
            if not isinstance(self._watch, SinglePaths):
                paths = single_paths_of(self.graph)
                if paths is None:
                    raise ValueError("the graph has diamonds")
                self.graph, self._watch = paths.graph, paths
        elif not rules.forbid_cycles:
            self._watch = None
        elif not isinstance(self._watch, TopologicalOrder):
            self._watch = TopologicalOrder(self.graph)
        self.rules = rules

    def check(self, source: int, sink: int) -> None:
        """Whether an edge that is not there may be there. Raises CycleCreationForbidden or else DiamondCreationForbidden."""
        watch = self._watch
        if self.rules.forbid_cycles and watch is not None:
            if source == sink:
                raise CycleCreationForbidden((source, sink))
            path = watch.way_back(source, sink)
            if path is not None:
                raise CycleCreationForbidden(path)
        if isinstance(watch, SinglePaths):
            routes = watch.conflict(source, sink)
            if routes is not None:
                raise DiamondCreationForbidden(tuple(sorted(routes, key=lambda route: (len(route), route))))

    def add_vertex(self, vertex: int) -> None:
        self.graph.add_vertex(vertex)
        if self._watch is not None:
            self._watch.vertex_added(vertex)

    def remove_vertex(self, vertex: int) -> None:
        """Its edges must be gone."""
        self.graph.remove_vertex(vertex)
        if self._watch is not None:
            self._watch.vertex_removed(vertex)

    def add_edge(self, source: int, sink: int) -> None:
        """Must have been checked, and nothing changed since."""
        self.graph.add_edge(source, sink)
        if isinstance(self._watch, SinglePaths):
            self._watch.edge_added(source, sink)

    def remove_edge(self, source: int, sink: int) -> None:
        self.graph.remove_edge(source, sink)
        if isinstance(self._watch, SinglePaths):
            self._watch.edge_removed(source, sink)
