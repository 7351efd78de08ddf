"""The links as an event domain: no link twice, and no cycle or diamond where the domain forbids them.

Bridges that others run (`foreign_links`) are there before our links. A link that is not enabled is no part of the domain, nor is
one whose channels do not exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from gateway.domain.alternatives import KeyedEdge, two_ways
from gateway.domain.connection import Connection
from gateway.domain.diamonds import MOST_STEPS
from gateway.domain.errors import AlreadyExists, CycleCreationForbidden, DiamondCreationForbidden
from gateway.domain.event_domain import EventDomain
from gateway.domain.graph import Graph, Route
from gateway.domain.qos import Rules
from gateway.domain.steps import OutOfSteps, Steps
from gateway.settings.checks.domain_copies import note_copies
from gateway.settings.checks.domain_words import RouteWords
from gateway.settings.document import quoted
from gateway.settings.links import LinkSettings
from gateway.settings.members import Members
from gateway.settings.nodes import Path
from gateway.settings.report import Report
from gateway.settings.settings import ForeignLink, Settings
from gateway.settings.topology import RoutedEdge, routed_edges

MOST_WORK: Final = 50_000_000
"""What checking one file may cost: some seconds."""


def check_domain(settings: Settings, report: Report) -> None:
    check = DomainCheck(settings, report)
    foreign = (check.add(("foreign_links", id_), link) for id_, link in settings.foreign_links.items())
    own = (check.add(("links", id_), link) for id_, link in settings.links.items() if link.enabled)
    if all(foreign) and all(own):
        check.look_at_rules_that_route()
        if settings.domain.diamonds == "allow":
            note_copies(check.domain.graph, check.ways, check.words, report)


class DomainCheck:
    """Takes connections one by one, in the order of the file, and reports those that the domain refuses."""

    def __init__(self, settings: Settings, report: Report) -> None:
        self.domain: EventDomain[None] = EventDomain(
            Rules(settings.domain.cycles == "forbid", settings.domain.diamonds == "forbid")
        )
        self.ways: dict[tuple[int, int], int] = {}  # how many links lead from one member to another
        self.words = RouteWords(Members(settings))
        self._settings = settings
        self._report = report
        self._links_between: dict[tuple[int, int], list[str]] = {}
        self._known = frozenset(report.document.keys(("channels",)))
        self._first: dict[
            tuple[int, int], Path
        ] = {}  # where the first link from one member to another stands, refused or not

    def add(self, path: Path, link: LinkSettings | ForeignLink) -> bool:
        """False where no more can be looked at."""
        if not {link.source, link.sink} <= self._known:
            return True
        if self.domain.work > MOST_WORK:
            self._too_large(path)
            return False
        source, sink = self.words.members.of(link.source), self.words.members.of(link.sink)
        while len(self.domain.members) < len(self.words.members.names):
            self.domain.add_channel(None)
        if path[0] == "foreign_links":
            self.words.foreign.add((source, sink))
        self._links_between.setdefault((source, sink), []).append(".".join(map(str, path)))
        if (source, sink) in self._first:
            self._twice(path, self._first[source, sink], (source, sink))
            return True
        self._first[source, sink] = path
        try:
            self.domain.add_connection(Connection(source, sink))
        except CycleCreationForbidden as error:
            self._cycle(path, error.cycle)
        except DiamondCreationForbidden as error:
            self._diamond(path, error.diamond)
        self.ways[source, sink] = 1
        return True

    def look_at_rules_that_route(self) -> None:
        """A rule that sends elsewhere leads somewhere too."""
        members = self.words.members
        edges = routed_edges(self._settings, members)
        while len(self.domain.members) < len(members.names):
            self.domain.add_channel(None)
        if edges and self.domain.rules.forbid_cycles:
            self._look_for_cycles(edges)
        if edges and self.domain.rules.forbid_diamonds:
            try:
                self._look_for_diamonds(edges)
            except OutOfSteps:
                self._too_large(("links", edges[0].link))

    def _look_for_cycles(self, edges: Sequence[RoutedEdge]) -> None:
        everything = self._with_diamonds()
        for link, rule, source, sink in edges:
            try:
                everything.add_connection(Connection(source, sink))
            except AlreadyExists:
                continue
            except CycleCreationForbidden as error:
                self._cycle(("links", link, "rules", rule, "route"), error.cycle)

    def _look_for_diamonds(self, routed: Sequence[RoutedEdge]) -> None:
        """Of a link and its rules a message takes one way, so these alone make no diamond; with another link they may."""
        own = [KeyedEdge(*ends, key) for ends, keys in self._links_between.items() for key in keys]
        keyed = [KeyedEdge(edge.source, edge.sink, f"links.{edge.link}") for edge in routed]
        by_rule = {(edge.source, edge.sink): edge for edge in reversed(routed)}
        everything = Graph()
        for vertex in self.domain.members:
            everything.add_vertex(vertex)
        for source, sink, _ in (*own, *keyed):
            everything.add_edge(source, sink)
        first = sorted(set().union(*({edge.source} | everything.upstream(edge.source) for edge in routed)))
        told: set[RoutedEdge] = set()
        for routes in two_ways([*own, *keyed], first, Steps(MOST_STEPS)):
            steps = [step for route in routes for step in pairwise(route)]
            edge = next((by_rule[step] for step in steps if step in by_rule), None)
            if edge is not None and edge not in told:
                told.add(edge)
                self._diamond(("links", edge.link, "rules", edge.rule, "route"), routes)

    def _with_diamonds(self) -> EventDomain[None]:
        copy: EventDomain[None] = EventDomain(Rules(forbid_cycles=True, forbid_diamonds=False))
        for _ in self.domain.members:
            copy.add_channel(None)
        for connection in self.domain.connections.values():
            copy.add_connection(connection)
        return copy

    def _too_large(self, path: Path) -> None:
        self._report.warning(
            "DOM-NOT-CHECKED",
            path,
            "the domain is too large to look for more cycles and diamonds, from here on",
            "set domain.cycles or domain.diamonds to allow, or split the domain",
            at=self._report.key(path),
        )

    def _twice(self, path: Path, other: Path, ends: tuple[int, int]) -> None:
        one, two = _named(path), f"{_named(other)} in line {self._report.key(other).line}"
        if "foreign_links" not in (path[0], other[0]):
            self._report.error(
                "CFG-DUPLICATE-LINK",
                path,
                f"{one} joins the same two channels as {two}",
                "keep one, and join their filters with `or`",
                at=self._report.key(path),
            )
        elif self.domain.rules.forbid_diamonds:
            self._report.error(
                "DOM-DIAMOND",
                path,
                f"{one} joins the same two channels as {two}: every event would arrive twice",
                "stop one of them; with domain.diamonds: allow, events arrive twice",
                at=self._report.key(path),
            )
        else:
            self.ways[ends] += 1

    def _cycle(self, path: Path, cycle: Route) -> None:
        closed = cycle if cycle[0] == cycle[-1] else (*cycle, cycle[0])
        self._report.error(
            "DOM-CYCLE",
            path,
            f"{_named(path)} closes a cycle: {self.words.route(closed)}",
            "remove one of its links; with domain.cycles: allow, events go round",
            at=self._report.key(path) if len(path) == 2 else None,
        )

    def _diamond(self, path: Path, routes: tuple[Route, ...]) -> None:
        self._report.error(
            "DOM-DIAMOND",
            path,
            f"{_named(path)} makes a second way between two channels: {self.words.routes(routes)}",
            "remove one of its links; with domain.diamonds: allow, events arrive twice",
            at=self._report.key(path) if len(path) == 2 else None,
        )


def _named(path: Path) -> str:
    what = "foreign link" if path[0] == "foreign_links" else "a rule of link" if len(path) > 2 else "link"
    return f"{what} {quoted(str(path[1]))}"
