"""What a graph has, found by writing down all simple paths: right beyond doubt, and far too slow for more than eight vertices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Edge = tuple[int, int]
Route = tuple[int, ...]


def simple_paths(edges: frozenset[Edge], start: int, end: int, passed: Route = ()) -> Iterator[Route]:
    path = (*passed, start)
    if start == end:
        yield path
        return
    for source, sink in edges:
        if source == start and sink not in path:
            yield from simple_paths(edges, sink, end, path)


def cycles(edges: frozenset[Edge]) -> set[Route]:
    """Every elementary cycle once, from its lowest vertex."""
    return {
        path for sink, source in edges for path in simple_paths(edges, source, sink) if path[0] == min(path)
    }  # fmt: skip


def diamonds(edges: frozenset[Edge], vertices: Iterable[int]) -> dict[Edge, set[Route]]:
    """The pairs with two paths that share no vertex on the way, each with all its paths."""
    found = {}
    vertices = list(vertices)
    for start in vertices:
        for end in vertices:
            paths = set(simple_paths(edges, start, end)) if start != end else set()
            if any(not set(one[1:-1]) & set(other[1:-1]) for one in paths for other in paths if one != other):
                found[start, end] = paths
    return found


def reached(edges: frozenset[Edge], start: int, vertices: Iterable[int]) -> list[int]:
    return sorted(end for end in vertices if end != start and any(simple_paths(edges, start, end)))
