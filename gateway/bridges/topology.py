"""Whether a bridge would close a cycle or make a diamond, as `lint` looks at the links of a configuration; in its words."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, NoReturn

from adapters.cosnotification.settings import CosNotificationChannel
from gateway.bridges.bridge import Bridge, ErrorCode, InvalidEndPoints, Role
from gateway.bridges.overlay import with_bridges
from gateway.domain.alternatives import KeyedEdge, two_ways
from gateway.domain.connection import Connection
from gateway.domain.diamonds import MOST_STEPS
from gateway.domain.errors import AlreadyExists, CycleCreationForbidden
from gateway.domain.event_domain import EventDomain
from gateway.domain.qos import Rules
from gateway.domain.steps import OutOfSteps, Steps
from gateway.settings.checks.domain_words import RouteWords
from gateway.settings.members import Members
from gateway.settings.settings import Settings
from gateway.settings.topology import routed_edges


def check_topology(settings: Settings, bridge: Bridge) -> None:
    """`settings` are those that run without it. Raises InvalidEndPoints where the bridge would close a cycle or make a diamond that
    they forbid."""
    check = _Check(with_bridges(settings, [bridge]), bridge)
    if settings.domain.cycles == "forbid":
        check.cycles()
    if settings.domain.diamonds == "forbid":
        check.diamonds()


_CHANNEL_OF_BRIDGE: Final = re.compile(r"bridge\.\d+\.(source|sink)")


class _Check:
    def __init__(self, whole: Settings, bridge: Bridge) -> None:
        self._bridge = bridge
        members = Members(whole)
        members.names[:] = [_spelt(whole, names) for names in members.names]
        self._words = RouteWords(members)
        self._edges = [
            KeyedEdge(members.of(link.source), members.of(link.sink), f"foreign link {id_}")
            for id_, link in whole.foreign_links.items()
        ]
        self._words.foreign.update((edge.source, edge.sink) for edge in self._edges)
        self._edges += [
            KeyedEdge(members.of(link.source), members.of(link.sink), f"link {id_}")
            for id_, link in whole.links.items()
            if link.enabled and id_ != bridge.link
        ]
        routed = routed_edges(whole, members)  # a rule that sends elsewhere leads somewhere too
        self._edges += [KeyedEdge(edge.source, edge.sink, f"link {edge.link}") for edge in routed]
        link = whole.links[bridge.link]
        self._own = KeyedEdge(members.of(link.source), members.of(link.sink), f"link {bridge.link}")

    def cycles(self) -> None:
        domain: EventDomain[None] = EventDomain(Rules(forbid_cycles=True, forbid_diamonds=False))
        for _ in self._words.members.names:
            domain.add_channel(None)
        for edge in (*self._edges, self._own):
            try:
                domain.add_connection(Connection(edge.source, edge.sink))
            except AlreadyExists:
                continue
            except CycleCreationForbidden as error:
                if edge is self._own:
                    cycle = error.cycle if error.cycle[0] == error.cycle[-1] else (*error.cycle, error.cycle[0])
                    self._refuse(f"it closes a cycle: {self._words.route(cycle)}")

    def diamonds(self) -> None:
        ends = self._own.source, self._own.sink
        if any((edge.source, edge.sink) == ends for edge in self._edges):
            self._refuse(f"a link leads there already: {self._words.route(ends)}")
        edges = [*self._edges, self._own]
        try:
            for routes in two_ways(edges, sorted({edge.source for edge in edges}), Steps(MOST_STEPS)):
                if any(ends in pairwise(route) for route in routes):
                    self._refuse(f"it makes a second way between two channels: {self._words.routes(routes)}")
        except OutOfSteps:  # `lint` warns of a file that is as large
            return

    def _refuse(self, why: str) -> NoReturn:
        code = ErrorCode.INVALID_JMSDESTINATION if self._bridge.sink.is_jms else ErrorCode.INVALID_CHANNELID
        raise InvalidEndPoints([(Role.SINK, code)], why)


def _spelt(whole: Settings, names: list[str]) -> list[str]:
    """As its file names a channel; one that has no name there by its place."""
    named = [name for name in names if not _CHANNEL_OF_BRIDGE.fullmatch(name)]
    if named:
        return named
    channel = whole.channels[names[0]]
    if isinstance(channel, CosNotificationChannel):
        return [f"channel {channel.channel} of {channel.endpoint}"]
    return [str(getattr(channel, "destination", names[0]))]
