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
    subscriptions: tuple[
        tuple[str, str, str], ...
    ]  # durable ones that nobody needs any more: channel, what it is of, name
    proxies: tuple[tuple[str, str, str], ...]  # of ours, in channels of others: link, its end, channel
    copies: tuple[tuple[str, float, float], ...]  # channel, copies of an event before, and then
    needs_restart: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.drained or self.anew or self.begun or self.copies or self.needs_restart)

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
        subscriptions=tuple(sorted(_subscriptions(old) - _subscriptions(new))),
        proxies=tuple(_proxies(old, new, difference.ended)),
        copies=tuple(
            (channel, before.get(channel, 1), then.get(channel, 1))
            for channel in channels
            if before.get(channel, 1) != then.get(channel, 1)
        ),
        needs_restart=difference.needs_restart,
    )


def _subscriptions(settings: Settings) -> set[tuple[str, str, str]]:
    found = set()
    for link in running_links(settings):
        channel_id = settings.links[link].source
        channel = settings.channels[channel_id]
        name = getattr(channel, "subscription", None)
        if name is not None:
            topic = getattr(channel, "destination", None) or getattr(channel, "topic", None) or ""
            found.add((channel_id, str(topic), name))
    return found


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
