"""The channels and links of a configuration as plain data, for the event domain that shows them over CORBA."""

from __future__ import annotations

from typing import Any

from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from gateway.domain.connection import ClientType, NotificationStyle
from gateway.settings.members import Members
from gateway.settings.settings import Settings
from gateway.settings.topology import routed_edges

_CLIENT_TYPES = {
    "any": ClientType.ANY_EVENT,
    "structured": ClientType.STRUCTURED_EVENT,
    "sequence": ClientType.SEQUENCE_EVENT,
}


def configured_form(settings: Settings) -> dict[str, Any]:
    """Foreign links come first, as when the configuration is checked; where the rules of a link send messages elsewhere, last."""
    members = Members(settings)
    routed = routed_edges(settings, members)
    ends = [(f"foreign link {id_}", link.source, link.sink) for id_, link in settings.foreign_links.items()]
    ends += [(f"link {id_}", link.source, link.sink) for id_, link in settings.links.items() if link.enabled]
    connections = [
        {
            "name": name,
            "supplier": members.names[members.of(source)][0],
            "consumer": members.names[members.of(sink)][0],
            **_kind(settings, source, sink),
        }
        for name, source, sink in ends
    ]
    connections += [
        {
            "name": f"link {edge.link} to {members.names[edge.sink][0]}",
            "supplier": members.names[edge.source][0],
            "consumer": members.names[edge.sink][0],
            **_kind(settings, settings.links[edge.link].source, settings.links[edge.link].sink),
        }
        for edge in routed
    ]
    return {
        "cycles": settings.domain.cycles == "forbid",
        "diamonds": settings.domain.diamonds == "forbid",
        "members": [{"names": names, **_place(settings, names[0])} for names in members.names],
        "connections": connections,
    }


def _place(settings: Settings, channel_id: str) -> dict[str, Any]:
    """Where a CORBA client finds the channel; nowhere, where it is a destination of a broker or a queue."""
    channel = settings.channels.get(channel_id)
    endpoint = None if channel is None else settings.endpoints.get(channel.endpoint)
    if isinstance(channel, CosNotificationChannel) and isinstance(endpoint, CosNotificationEndpoint):
        return {"factory": endpoint.factory, "reference": channel.reference, "channel": channel.channel}
    return {"factory": None, "reference": None, "channel": None}


def _kind(settings: Settings, source: str, sink: str) -> dict[str, str]:
    """As the first end that is CORBA says; between brokers, what is carried is structured, and pushed."""
    for end in (source, sink):
        channel = settings.channels.get(end)
        if isinstance(channel, CosNotificationChannel):
            style = NotificationStyle.Pull if channel.style == "pull" else NotificationStyle.Push
            return {"ctype": _CLIENT_TYPES.get(channel.events, ClientType.ANY_EVENT).name, "style": style.name}
    return {"ctype": ClientType.STRUCTURED_EVENT.name, "style": NotificationStyle.Push.name}
