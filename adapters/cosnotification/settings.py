"""Configuration of the CosNotification wire. Imports no ORB."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from adapters.base import Capabilities
from adapters.settings_base import ChannelBase, EndpointBase


class CosNotificationEndpoint(EndpointBase):
    """A Notification Service, found through its EventChannelFactory."""

    type: Literal["cosnotification"]
    factory: str = Field(
        description="The EventChannelFactory: IOR:…, corbaloc:…, corbaname:…, or the path of a file that holds one of them."
    )
    call_timeout_ms: int | None = Field(
        default=None, ge=1, description="Longest wait for an answer of this peer; orb.call_timeout_ms where absent."
    )


class CosNotificationChannel(ChannelBase):
    channel: int = Field(ge=0, description="ChannelID at the factory.")
    events: Literal["structured"] = Field(default="structured", description="Kind of client that the gateway is.")
    style: Literal["push"] = Field(default="push", description="Who calls whom.")


def capabilities(channel: CosNotificationChannel) -> Capabilities:
    del channel
    return Capabilities(
        form="event", typed_properties=True, transactions=False, durable=False, acknowledges=True, ordered=True
    )
