"""What an event domain is made of: the data types of CosEventDomainAdmin, under the names of its IDL."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

LOWEST_ID: Final = -(2**31)
HIGHEST_ID: Final = 2**31 - 1
"""MemberID, ConnectionID and DomainID are an IDL `long`."""


class ChannelType(IntEnum):
    CHANNEL = 0
    TYPED_CHANNEL = 1
    LOG_CHANNEL = 2
    TYPED_LOG_CHANNEL = 3


class ClientType(IntEnum):
    """Of CosNotifyChannelAdmin."""

    ANY_EVENT = 0
    STRUCTURED_EVENT = 1
    SEQUENCE_EVENT = 2


class NotificationStyle(IntEnum):
    Push = 0
    Pull = 1


class Connection(NamedTuple):
    """From the supplier channel to the consumer channel."""

    supplier_id: int
    consumer_id: int
    ctype: ClientType = ClientType.ANY_EVENT
    notification_style: NotificationStyle = NotificationStyle.Push
    interface: str = ""
    """Of a typed connection: the IDL interface that its channels talk through."""
