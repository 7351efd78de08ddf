"""The wires that a configuration can name, each with its models. No wire library is imported here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from adapters.base import Capabilities
from adapters.cosnotification import settings as cosnotification
from adapters.memory import settings as memory
from adapters.settings_base import ChannelBase, EndpointBase
from adapters.stomp import settings as stomp

Endpoint = cosnotification.CosNotificationEndpoint | stomp.StompEndpoint | memory.MemoryEndpoint
Channel = cosnotification.CosNotificationChannel | stomp.StompChannel | memory.MemoryChannel


class Wire(NamedTuple):
    endpoint: type[EndpointBase]
    channel: type[ChannelBase]
    capabilities: Callable[[Any], Capabilities]


WIRES: Final[dict[str, Wire]] = {
    "cosnotification": Wire(
        cosnotification.CosNotificationEndpoint, cosnotification.CosNotificationChannel, cosnotification.capabilities
    ),
    "stomp": Wire(stomp.StompEndpoint, stomp.StompChannel, stomp.capabilities),
    "memory": Wire(memory.MemoryEndpoint, memory.MemoryChannel, memory.capabilities),
}

NOT_YET: Final = frozenset({"jms", "mq"})
"""Wires that the documents speak of and this version does not have."""


def capabilities_of(channel: Channel) -> Capabilities:
    """What the wire of a channel can do."""
    for wire in WIRES.values():
        if isinstance(channel, wire.channel):
            return wire.capabilities(channel)
    raise TypeError(f"no wire has channels of type {type(channel).__name__}")
