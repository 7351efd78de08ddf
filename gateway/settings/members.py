"""The channels of a configuration as members of its event domain.

Entries that name the same channel of the far side are one member: a loop through it would go unseen otherwise.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from gateway.settings.links import LinkSettings
from gateway.settings.settings import Settings
from gateway.settings.wires import address_of


class Members:
    """Members have numbers from 0, in the order of the file."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._by_address: dict[Hashable, int] = {}
        self._by_channel: dict[str, int] = {}
        self.names: list[list[str]] = []
        for id_, channel in settings.channels.items():
            endpoint = settings.endpoints.get(channel.endpoint)
            address = address_of(endpoint, channel) if endpoint is not None else ("id", id_)
            self._by_channel[id_] = self._at(address, id_)

    def of(self, channel: str) -> int:
        """The member that a link names; one that is not valid stands for itself."""
        if channel not in self._by_channel:
            self._by_channel[channel] = self._at(("id", channel), channel)
        return self._by_channel[channel]

    def routed(self, link: LinkSettings) -> Iterator[tuple[int, int]]:
        """Where the rules of a link send messages besides its channel: the index of the rule, and the member."""
        channel = self._settings.channels.get(link.sink)
        endpoint = self._settings.endpoints.get(channel.endpoint) if channel is not None else None
        if channel is None or endpoint is None or not hasattr(channel, "destination"):
            return
        for index, rule in enumerate(link.rules):
            destination = getattr(rule, "route", None)
            if destination is not None:
                other = channel.model_copy(update={"destination": destination})
                yield index, self._at(address_of(endpoint, other), destination)

    def _at(self, address: Hashable, name: str) -> int:
        member = self._by_address.setdefault(address, len(self.names))
        if member == len(self.names):
            self.names.append([])
        if name not in self.names[member]:
            self.names[member].append(name)
        return member
