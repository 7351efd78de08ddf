"""Configuration of the gateway's own notices. They are kept in memory until an inlet has them in its journal."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from adapters.base import Capabilities
from adapters.settings_base import ChannelBase, EndpointBase


class NoticesEndpoint(EndpointBase):
    """The gateway itself."""

    type: Literal["notices"] = Field(description="The wire.")


class NoticesChannel(ChannelBase):
    """Events that the gateway sends about itself. For links that take from it; nobody can send to it."""

    heartbeat_secs: float | None = Field(
        default=None,
        ge=1,
        description="How often a Heartbeat tells that the gateway is alive, and how its links are; absent: never.",
    )


def capabilities(channel: NoticesChannel) -> Capabilities:
    del channel
    return Capabilities(
        form="event",
        typed_properties=True,
        transactions=False,
        durable=False,
        acknowledges=True,
        ordered=True,
        keeps=False,  # what no journal has taken ends with the process
    )
