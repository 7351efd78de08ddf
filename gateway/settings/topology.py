"""The graph of a configuration: its members, and what leads from one to another, foreign links included."""

from __future__ import annotations

from typing import NamedTuple

from gateway.domain.copies import copies_of
from gateway.domain.graph import Graph
from gateway.settings.members import Members
from gateway.settings.settings import Settings


class RoutedEdge(NamedTuple):
    """A rule of a link sends messages to another channel than the link's own: of both a message takes one."""

    link: str
    rule: int
    source: int
    sink: int


class ConfiguredGraph(NamedTuple):
    graph: Graph
    ways: dict[tuple[int, int], int]  # how many links lead from one member to another
    members: Members


def routed_edges(settings: Settings, members: Members) -> list[RoutedEdge]:
    """Of links that are enabled and valid, with rules that lead elsewhere than the link does."""
    found: list[RoutedEdge] = []
    for id_, link in settings.links.items():
        if link.enabled and {link.source, link.sink} <= settings.channels.keys():
            ends = members.of(link.source), members.of(link.sink)
            for rule, sink in members.routed(link):
                edge = RoutedEdge(id_, rule, ends[0], sink)
                if sink != ends[1] and all((id_, sink) != (other.link, other.sink) for other in found):
                    found.append(edge)
    return found


def graph_of(settings: Settings) -> ConfiguredGraph:
    """Of links that are enabled and valid."""
    members = Members(settings)
    graph, ways = Graph(), dict[tuple[int, int], int]()
    for member in range(len(members.names)):
        graph.add_vertex(member)
    ends = [(link.source, link.sink) for link in settings.foreign_links.values()]
    ends += [(link.source, link.sink) for link in settings.links.values() if link.enabled]
    for source, sink in ends:
        if {source, sink} <= settings.channels.keys():
            pair = members.of(source), members.of(sink)
            ways[pair] = ways.get(pair, 0) + 1
            if ways[pair] == 1:
                graph.add_edge(*pair)
    return ConfiguredGraph(graph, ways, members)


def copies_at(settings: Settings) -> dict[str, float]:
    """How many copies of an event arrive at most, by channel, where that is not one; infinite where a cycle is on the way."""
    graph, ways, members = graph_of(settings)
    counted = copies_of(graph, ways).copies
    return {
        name: float("inf") if each.number is None else each.number
        for each in counted
        for name in members.names[each.sink]
    }
