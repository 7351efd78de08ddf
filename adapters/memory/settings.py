"""Configuration of the in-memory wire: for tests and for trying a mapping without any peer."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from adapters.base import Capabilities, Form
from adapters.settings_base import ChannelBase, EndpointBase, Profile


class MemoryEndpoint(EndpointBase):
    """A message store in the gateway's own process; nothing in it survives the process."""

    type: Literal["memory"] = Field(description="The wire.")


class MemoryChannel(ChannelBase):
    """A queue in the gateway's own process."""

    name: str = Field(description="Name of the queue inside the endpoint.")
    form: Form = Field(
        default="event", description="What passes through it: events (CORBA side) or messages (JMS side)."
    )
    profile: Profile = Field(default="borland", description="How property names are spelt.")


def capabilities(channel: MemoryChannel) -> Capabilities:
    return Capabilities(
        form=channel.form, typed_properties=True, transactions=True, durable=False, acknowledges=True, ordered=True
    )
