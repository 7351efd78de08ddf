"""Configuration of the in-memory wire: for tests and for trying a mapping without any peer."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from adapters.base import Capabilities, Form
from adapters.settings_base import ChannelBase, EndpointBase, Profile


class MemoryEndpoint(EndpointBase):
    """A message store in the gateway's own process; nothing in it survives the process."""

    type: Literal["memory"]


class MemoryChannel(ChannelBase):
    name: str = Field(description="Name of the queue inside the endpoint.")
    form: Form = Field(
        default="event", description="What passes through it: events (CORBA side) or messages (JMS side)."
    )
    profile: Profile = "borland"


def capabilities(channel: MemoryChannel) -> Capabilities:
    return Capabilities(
        form=channel.form, typed_properties=True, transactions=True, durable=False, acknowledges=True, ordered=True
    )
