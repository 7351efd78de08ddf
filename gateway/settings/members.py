"""The channels of a configuration as members of its event domain.

Entries that name the same channel of the far side are one member: a loop through it would go unseen otherwise.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from posixpath import normpath

from adapters.cosnotification.settings import CosNotificationEndpoint
from adapters.mq.settings import MqChannel
from gateway.settings.links import LinkSettings
from gateway.settings.settings import Settings
from gateway.settings.wires import Channel, Endpoint, address_of, capabilities_of


class Members:
    """Members have numbers from 0, in the order of the file."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._by_address: dict[Hashable, int] = {}
        self._by_channel: dict[str, int] = {}
        self.names: list[list[str]] = []
        self._peers = _one_spelling(settings.endpoints)
        for id_, channel in settings.channels.items():
            endpoint = self._peers.get(channel.endpoint)
            address = address_of(endpoint, channel) if endpoint is not None else ("id", id_)
            self._by_channel[id_] = member = self._at(address, id_)
            if id_ not in self.names[member]:
                self.names[member].append(id_)

    def of(self, channel: str) -> int:
        """The member that a link names; one that is not valid stands for itself."""
        if channel not in self._by_channel:
            self._by_channel[channel] = self._at(("id", channel), channel)
        return self._by_channel[channel]

    def routed(self, link: LinkSettings) -> Iterator[tuple[int, int]]:
        """Where the rules of a link send messages in place of its channel: the index of the rule, and the member, which has the
        name of its destination where no channel stands for it. Rules apply to messages that are made of events."""
        source, channel = (self._settings.channels.get(end) for end in (link.source, link.sink))
        if source is None or channel is None or not hasattr(channel, "destination"):
            return
        endpoint = self._peers.get(channel.endpoint)
        if endpoint is None or capabilities_of(source).form != "event":
            return
        for index, rule in enumerate(link.rules):
            destination = getattr(rule, "route", None)
            if destination is not None:
                other = _with_destination(channel, destination)
                yield index, self._at(address_of(endpoint, other), destination)

    def _at(self, address: Hashable, name: str) -> int:
        """The member at an address; a new one gets this name."""
        member = self._by_address.setdefault(address, len(self.names))
        if member == len(self.names):
            self.names.append([name])
        return member


def _with_destination(channel: Channel, destination: str) -> Channel:
    """The same channel, elsewhere at its endpoint."""
    if isinstance(channel, MqChannel):
        kind, _, name = destination.partition("://")
        return channel.model_copy(update={"queue": None, "topic": None, kind: name})
    return channel.model_copy(update={"destination": destination})


def _one_spelling(endpoints: Mapping[str, Endpoint]) -> dict[str, Endpoint]:
    """Endpoints that reach the same system in different words, in the same words: brokers that share a host are one, whatever
    other hosts are listed; `./run/notify.ior` is `run/notify.ior`."""
    together: dict[tuple[type, str], set[str]] = {}
    for endpoint in endpoints.values():
        hosts = set(getattr(endpoint, "hosts", ()))
        for host in list(hosts):
            hosts |= together.get((type(endpoint), host), set())
        for host in hosts:
            together[type(endpoint), host] = hosts
    spelt: dict[str, Endpoint] = {}
    for id_, endpoint in endpoints.items():
        hosts = set().union(*(together[type(endpoint), host] for host in getattr(endpoint, "hosts", ())))
        if hosts:
            spelt[id_] = endpoint.model_copy(update={"hosts": sorted(hosts)})
        elif isinstance(endpoint, CosNotificationEndpoint) and endpoint.factory and ":" not in endpoint.factory:
            spelt[id_] = endpoint.model_copy(update={"factory": normpath(endpoint.factory)})
        else:
            spelt[id_] = endpoint
    return spelt
