"""The links as a graph: no link twice, and no cycle or diamond where the domain forbids them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from gateway.domain.graph import Graph, Route, TooLarge
from gateway.settings.document import quoted
from gateway.settings.report import Report
from gateway.settings.settings import Settings
from gateway.settings.wires import address_of

_LONGEST_SHOWN: Final = 12


def check_domain(settings: Settings, report: Report) -> None:
    """A link that is not enabled is no part of the domain, nor is one whose channels do not exist."""
    known = frozenset(report.document.keys(("channels",)))
    vertices = Vertices(settings)
    graph = Graph()
    first: dict[tuple[str, str], str] = {}
    for id_, link in settings.links.items():
        if not link.enabled or not {link.source, link.sink} <= known:
            continue
        source, sink = vertices.of(link.source), vertices.of(link.sink)
        if (source, sink) in first:
            _duplicate(report, id_, first[source, sink])
            continue
        first[source, sink] = id_
        try:
            if not _makes_trouble(settings, report, graph, vertices, id_, source, sink):
                graph.add(source, sink)
        except TooLarge:
            report.warning(
                "DOM-NOT-CHECKED",
                ("links", id_),
                "the domain is too large to look for more cycles and diamonds, from this link on",
                "set domain.cycles or domain.diamonds to allow, or split the domain",
                at=report.key(("links", id_)),
            )
            return


class Vertices:
    """Entries that name the same channel of the far side are one vertex: a loop through it would go unseen otherwise."""

    def __init__(self, settings: Settings) -> None:
        by_address: dict[Hashable, str] = {}
        self._first: dict[str, str] = {}
        self._names: dict[str, list[str]] = {}
        for id_, channel in settings.channels.items():
            endpoint = settings.endpoints.get(channel.endpoint)
            address = address_of(endpoint, channel) if endpoint is not None else ("id", id_)
            self._first[id_] = by_address.setdefault(address, id_)
            self._names.setdefault(self._first[id_], []).append(id_)

    def of(self, channel: str) -> str:
        return self._first.get(channel, channel)

    def route(self, route: Route) -> str:
        shown = [" = ".join(map(str, self._names.get(vertex, [vertex]))) for vertex in route]
        if len(shown) > _LONGEST_SHOWN:
            half = _LONGEST_SHOWN // 2
            shown[half:-half] = [f"… ({len(shown) - 2 * half} more)"]
        return " → ".join(shown)


def _duplicate(report: Report, id_: str, other: str) -> None:
    path = ("links", id_)
    line = report.key(("links", other)).line
    report.error(
        "CFG-DUPLICATE-LINK",
        path,
        f"link {quoted(id_)} joins the same two channels as link {quoted(other)} in line {line}",
        "keep one, and join their filters with `or`",
        at=report.key(path),
    )


def _makes_trouble(
    settings: Settings, report: Report, graph: Graph, vertices: Vertices, id_: str, source: str, sink: str
) -> bool:
    path = ("links", id_)
    if settings.domain.cycles == "forbid":
        cycle = graph.cycle_with(source, sink)
        if cycle is not None:
            report.error(
                "DOM-CYCLE",
                path,
                f"link {quoted(id_)} closes a cycle: {vertices.route((*cycle, cycle[0]))}",
                "remove one of its links; with domain.cycles: allow, events go round",
                at=report.key(path),
            )
            return True
    if settings.domain.diamonds == "forbid":
        diamond = graph.diamond_with(source, sink)
        if diamond is not None:
            one, other = map(vertices.route, diamond)
            report.error(
                "DOM-DIAMOND",
                path,
                f"link {quoted(id_)} makes a second way between two channels: {one}, and {other}",
                "remove one of its links; with domain.diamonds: allow, events arrive twice",
                at=report.key(path),
            )
            return True
    return False
