"""Diamonds where a link sends to one of several channels, against brute force."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.alternatives import KeyedEdge, two_ways
from gateway.domain.steps import Steps
from tests.unit.domain.brute_force import simple_paths

VERTICES = range(6)
links = st.lists(  # from a channel to one or several others
    st.tuples(st.sampled_from(VERTICES), st.sets(st.sampled_from(VERTICES), min_size=1, max_size=3)), max_size=8
)


def brute_force(edges: set[KeyedEdge]) -> set[tuple[int, int]]:
    """Two routes without a common channel on the way, whose first steps can be taken by different links."""
    plain = frozenset((edge.source, edge.sink) for edge in edges)
    found = set()
    for start in VERTICES:
        for end in VERTICES:
            if start == end:
                continue
            paths = list(simple_paths(plain, start, end))
            for one in paths:
                for other in paths:
                    first, second = (
                        {edge.key for edge in edges if (edge.source, edge.sink) == path[:2]} for path in (one, other)
                    )
                    different = any(key != its for key in first for its in second)
                    apart = not set(one[1:-1]) & set(other[1:-1])
                    if different and apart:
                        found.add((start, end))
    return found


@given(links=links)
def test_two_ways_that_one_event_can_take(links: list[tuple[int, set[int]]]) -> None:
    edges = [KeyedEdge(source, sink, key) for key, (source, sinks) in enumerate(links) for sink in sorted(sinks)]
    present = sorted({vertex for edge in edges for vertex in edge[:2]})
    found = list(two_ways(edges, present, Steps(10**9)))
    plain = frozenset((edge.source, edge.sink) for edge in edges)
    for one, other in found:
        assert (one[0], one[-1]) == (other[0], other[-1])
        assert one in set(simple_paths(plain, one[0], one[-1]))
    ends = [(one[0], one[-1]) for one, _ in found]
    assert len(ends) == len(set(ends)), "each pair once"
    assert set(ends) == brute_force(set(edges))
