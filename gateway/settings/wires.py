"""The wires that a configuration can name, each with its models. No wire library is imported here."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, NamedTuple

from adapters.base import Capabilities
from adapters.cosnotification import settings as cosnotification
from adapters.jms import settings as jms
from adapters.memory import settings as memory
from adapters.mq import settings as mq
from adapters.notices import settings as notices
from adapters.settings_base import ChannelBase, EndpointBase
from adapters.stomp import settings as stomp

Endpoint = (
    cosnotification.CosNotificationEndpoint
    | stomp.StompEndpoint
    | jms.JmsEndpoint
    | mq.MqEndpoint
    | memory.MemoryEndpoint
    | notices.NoticesEndpoint
)
Channel = (
    cosnotification.CosNotificationChannel
    | stomp.StompChannel
    | jms.JmsChannel
    | mq.MqChannel
    | memory.MemoryChannel
    | notices.NoticesChannel
)


class Wire(NamedTuple):
    endpoint: type[EndpointBase]
    channel: type[ChannelBase]
    capabilities: Callable[[Any], Capabilities]
    address: Callable[[Any, Any], Hashable]
    """Of an endpoint and its channel: what tells the far side's channels apart. Two entries may name the same one."""


WIRES: Final[dict[str, Wire]] = {
    "cosnotification": Wire(
        cosnotification.CosNotificationEndpoint,
        cosnotification.CosNotificationChannel,
        cosnotification.capabilities,
        lambda endpoint, channel: channel.reference or (endpoint.factory, channel.channel, channel.events == "typed"),
    ),
    "stomp": Wire(
        stomp.StompEndpoint,
        stomp.StompChannel,
        stomp.capabilities,
        lambda endpoint, channel: (frozenset(endpoint.hosts), endpoint.vhost, channel.destination),
    ),
    "jms": Wire(
        jms.JmsEndpoint,
        jms.JmsChannel,
        jms.capabilities,
        lambda endpoint, channel: (
            endpoint.url,
            None if endpoint.jndi is None else endpoint.jndi.provider_url,
            tuple(sorted(endpoint.factory_properties.items())),
            channel.destination,
        ),
    ),
    "mq": Wire(
        mq.MqEndpoint,
        mq.MqChannel,
        mq.capabilities,
        lambda endpoint, channel: (
            endpoint.queue_manager,
            frozenset(endpoint.hosts),
            endpoint.ccdt,
            channel.destination,
        ),
    ),
    "memory": Wire(
        memory.MemoryEndpoint,
        memory.MemoryChannel,
        memory.capabilities,
        lambda _, channel: (channel.endpoint, channel.name),
    ),
    "notices": Wire(
        notices.NoticesEndpoint,
        notices.NoticesChannel,
        notices.capabilities,
        lambda _endpoint, _channel: "this gateway",
    ),
}

NOT_YET: Final[frozenset[str]] = frozenset()
"""Wires that the documents speak of and this version does not have."""


def capabilities_of(channel: Channel) -> Capabilities:
    """What the wire of a channel can do."""
    return _wire_of(channel).capabilities(channel)


def address_of(endpoint: Endpoint, channel: Channel) -> Hashable:
    """Equal for two entries of `channels:` that name the same channel of the far side."""
    return type(channel).__name__, _wire_of(channel).address(endpoint, channel)


def _wire_of(channel: Channel) -> Wire:
    for wire in WIRES.values():
        if isinstance(channel, wire.channel):
            return wire
    raise TypeError(f"no wire has channels of type {type(channel).__name__}")
