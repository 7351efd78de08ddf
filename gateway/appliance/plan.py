"""What another configuration would do to a running gateway, before it does it."""

from __future__ import annotations

from collections.abc import Iterator
from math import isinf
from typing import Any, NamedTuple

from adapters.cosnotification.settings import CosNotificationChannel
from gateway.appliance.changes import changes, running_links, same_source
from gateway.inlet.intakes import footprint
from gateway.settings.settings import Settings
from gateway.settings.topology import copies_at


class Plan(NamedTuple):
    drained: tuple[str, ...]  # links that go
    anew: tuple[str, ...]  # links that are drained and begin again with other settings
    begun: tuple[str, ...]  # links that are new
    untouched: tuple[str, ...]
    subscriptions: tuple[tuple[str, str, str], ...]  # durable ones that nobody needs any more: channel, topic, name
    proxies: tuple[tuple[str, str, str], ...]  # of ours, in channels of others: link, its end, channel
    copies: tuple[tuple[str, float, float], ...]  # channel, copies of an event before, and then
    needs_restart: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.drained or self.anew or self.begun or self.copies or self.subscriptions or self.needs_restart)

    def to_json(self) -> dict[str, Any]:
        copies = [[channel, _number(before), _number(then)] for channel, before, then in self.copies]
        return {**self._asdict(), "copies": copies}


def plan(old: Settings, new: Settings) -> Plan:
    """Both must be valid."""
    difference = changes(old, new)
    ended, begun = set(difference.ended), set(difference.begun)
    before, then = copies_at(old), copies_at(new)
    channels = [
        channel for channel in {**old.channels, **new.channels} if channel in old.channels or channel in new.channels
    ]
    return Plan(
        drained=tuple(link for link in difference.ended if link not in begun),
        anew=tuple(link for link in difference.ended if link in begun),
        begun=tuple(link for link in difference.begun if link not in ended),
        untouched=tuple(link for link in running_links(new) if link not in begun),
        subscriptions=tuple(sorted(_unused_subscriptions(old, new))),
        proxies=tuple(_proxies(old, new, difference.ended)),
        copies=tuple(
            (channel, before.get(channel, 1), then.get(channel, 1))
            for channel in channels
            if before.get(channel, 1) != then.get(channel, 1)
        ),
        needs_restart=difference.needs_restart,
    )


def _unused_subscriptions(old: Settings, new: Settings) -> set[tuple[str, str, str]]:
    """Durable ones of links that run and of which no link of the new configuration makes use. One that is switched off does: what
    comes meanwhile is to wait for it."""
    kept = [link.source for link in new.links.values() if link.source in new.channels]
    found = set()
    for link in running_links(old):
        source = old.links[link].source
        name = getattr(old.channels[source], "subscription", None)
        if name is not None and not any(_same_subscription(old, source, new, other) for other in kept):
            found.add((source, str(getattr(old.channels[source], "destination", "")), name))
    return found


def _same_subscription(old: Settings, one: str, new: Settings, other: str) -> bool:
    """By what a broker tells subscriptions apart: their names, for one client. Whoever subscribes to another topic under the same
    name has taken the place of the one before. When in doubt they are the same: nothing is removed then."""
    channels = old.channels[one], new.channels[other]
    if type(channels[0]) is not type(channels[1]):
        return False
    names = [(getattr(channel, "subscription", None)) for channel in channels]
    endpoints = old.endpoints[channels[0].endpoint], new.endpoints[channels[1].endpoint]
    clients = [getattr(endpoint, "client_id", None) for endpoint in endpoints]
    if names[0] != names[1] or clients[0] != clients[1]:
        return False
    hosts = [set(getattr(endpoint, "hosts", ())) for endpoint in endpoints]
    if all(hosts):
        return not hosts[0].isdisjoint(hosts[1])
    return channels[0].endpoint == channels[1].endpoint or getattr(endpoints[0], "url", 0) == getattr(
        endpoints[1], "url", 1
    )


def _proxies(old: Settings, new: Settings, ended: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    for link in ended:
        its = old.links[link]
        if _is_corba(old, its.source) and not _source_stays(old, new, link):
            yield link, "source", its.source
        if _is_corba(old, its.sink):
            yield link, "sink", its.sink


def _is_corba(settings: Settings, channel: str) -> bool:
    return isinstance(settings.channels[channel], CosNotificationChannel)


def _source_stays(old: Settings, new: Settings, link: str) -> bool:
    """Whether the connection to the source outlives the link: handed over to its successor, or an inlet that others need."""
    if not old.journalled(link):
        return same_source(old, new, link)
    channel = old.links[link].source
    readers = [id_ for id_ in running_links(new) if new.links[id_].source == channel and new.journalled(id_)]
    return bool(readers) and footprint(old, channel) == footprint(new, channel)


def _number(copies: float) -> int | None:
    return None if isinf(copies) else int(copies)
