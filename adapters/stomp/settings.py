"""Configuration of the STOMP wire. Imports no STOMP library."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from adapters.base import Capabilities
from adapters.settings_base import ChannelBase, EndpointBase, Profile


class StompEndpoint(EndpointBase):
    """A message broker that speaks STOMP 1.2."""

    type: Literal["stomp"] = Field(description="The wire.")
    hosts: list[str] = Field(min_length=1, description="host:port of each broker; tried in order, from the top again.")
    login: str | None = Field(default=None, description="User name at the broker.")
    password: SecretStr | None = Field(default=None, description="Only as ${env:NAME} or ${file:PATH}.")
    broker: Literal["activemq", "artemis", "rabbitmq", "embedded"] = Field(
        default="activemq", description="Whose ways of naming destinations and properties to follow."
    )
    vhost: str | None = Field(default=None, description="STOMP `host` header; RabbitMQ's virtual host.")
    connect_timeout_ms: int = Field(
        default=5_000, ge=1, description="Longest wait for one host to accept a connection."
    )
    receipt_timeout_ms: int = Field(
        default=10_000, ge=1, description="A confirmation later than this counts as a lost connection."
    )
    heartbeat_ms: int = Field(default=10_000, ge=0, description="Both ways; 0 switches heart-beats off.")


class StompChannel(ChannelBase):
    """A queue or topic of the broker."""

    destination: str = Field(pattern=r"^(queue|topic)://.+", description="queue://NAME or topic://NAME.")
    profile: Profile = Field(default="borland", description="How property names are spelt.")
    prefetch: int = Field(
        default=100, ge=1, description="Messages that the broker sends ahead of our acknowledgements."
    )


def capabilities(channel: StompChannel) -> Capabilities:
    del channel
    return Capabilities(
        form="message", typed_properties=False, transactions=True, durable=True, acknowledges=True, ordered=True
    )
