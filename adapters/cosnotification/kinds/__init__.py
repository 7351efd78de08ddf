"""The kinds of client that the gateway can be, one a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from adapters.cosnotification.kinds.kind import Kind
from adapters.cosnotification.kinds.sequence import SEQUENCE
from adapters.cosnotification.kinds.structured import STRUCTURED
from adapters.cosnotification.kinds.typed import plain_typed, typed
from adapters.cosnotification.kinds.untyped import ANY, PLAIN
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.typed.idl_files import find_interface

_KINDS: Final[Mapping[str, Kind]] = {"any": ANY, "structured": STRUCTURED, "sequence": SEQUENCE}


def kind_of(endpoint: CosNotificationEndpoint, channel: CosNotificationChannel) -> Kind:
    """Raises StopError where the interface of a typed channel cannot be had."""
    if channel.events == "typed":
        make = plain_typed if endpoint.service == "event" else typed
        return make(find_interface(channel.interface or "", channel.idl, channel.include))
    return PLAIN if endpoint.service == "event" else _KINDS[channel.events]
