"""Strongly connected components (Tarjan): the groups of vertices that all lead to each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gateway.domain.graph import Graph


def components(graph: Graph, among: Collection[int]) -> Iterator[list[int]]:
    """Of the part of a graph that has these vertices only. What a component leads to comes before it."""
    part = among if isinstance(among, set | frozenset | dict) else set(among)
    number: dict[int, int] = {}  # in the order of meeting
    low: dict[int, int] = {}
    open_: dict[int, None] = {}  # met, and not yet in a component
    for root in among:
        if root in number:
            continue
        number[root] = low[root] = len(number)
        open_[root] = None
        walk = [(root, iter(graph.after[root]))]
        while walk:
            vertex, following = walk[-1]
            for next_ in following:
                if next_ not in part:
                    continue
                if next_ not in number:
                    number[next_] = low[next_] = len(number)
                    open_[next_] = None
                    walk.append((next_, iter(graph.after[next_])))
                    break
                if next_ in open_:
                    low[vertex] = min(low[vertex], number[next_])
            else:
                walk.pop()
                if walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[vertex])
                if low[vertex] == number[vertex]:
                    component: list[int] = []
                    while not component or component[-1] != vertex:
                        component.append(open_.popitem()[0])
                    yield component


def is_cyclic(graph: Graph, component: list[int]) -> bool:
    return len(component) > 1 or graph.has_edge(component[0], component[0])
