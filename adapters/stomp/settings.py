"""Configuration of the STOMP wire. Imports no STOMP library."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr, field_validator

from adapters.base import Capabilities
from adapters.settings_base import ChannelBase, EndpointBase, Profile, StrictModel
from adapters.stomp.flavours import Confirm, MapBodies
from adapters.topic_patterns import pattern_of
from mappings.destinations import Pattern


class StompTls(StrictModel):
    """TLS towards the broker; without `ca_file` the system's own certificate authorities count."""

    ca_file: str | None = Field(default=None, description="PEM file of the authorities that we trust.")
    certificate_file: str | None = Field(
        default=None, description="PEM file of our own certificate, where the broker asks."
    )
    key_file: str | None = Field(
        default=None, description="PEM file of its key; absent where it is in `certificate_file`."
    )
    key_password: SecretStr | None = Field(default=None, description="Only as ${env:NAME} or ${file:PATH}.")
    check_host_name: bool = Field(default=True, description="Whether the broker's certificate must name the host.")


class StompEndpoint(EndpointBase):
    """A message broker that speaks STOMP 1.2."""

    type: Literal["stomp"] = Field(description="The wire.")
    hosts: list[str] = Field(min_length=1, description="host:port of each broker; tried in order, from the top again.")
    login: str | None = Field(default=None, description="User name at the broker.")
    password: SecretStr | None = Field(default=None, description="Only as ${env:NAME} or ${file:PATH}.")
    broker: Literal["activemq", "artemis", "rabbitmq", "embedded"] = Field(
        default="activemq", description="Whose ways of naming destinations and properties to follow."
    )
    vhost: str | None = Field(
        default=None, description="STOMP `host` header; RabbitMQ's virtual host, `/` by default there."
    )
    tls: StompTls | None = Field(default=None, description="TLS towards the broker; absent: none.")
    connect_timeout_ms: int = Field(
        default=5_000, ge=1, description="Longest wait for one host to accept a connection."
    )
    receipt_timeout_ms: int = Field(
        default=10_000, ge=1, description="A confirmation later than this counts as a lost connection."
    )
    heartbeat_ms: int = Field(default=10_000, ge=0, description="Both ways; 0 switches heart-beats off.")
    confirm: Confirm | None = Field(
        default=None,
        description="What proves a batch: the receipt of its transaction (batch) or of each message; default by broker.",
    )
    map_bodies: MapBodies | None = Field(
        default=None,
        description="Map bodies as JSON text, or in the form that the broker makes a real MapMessage of; default by broker.",
    )


class StompChannel(ChannelBase):
    """A queue or topic of the broker."""

    destination: str = Field(
        pattern=r"^(queue|topic)://.+",
        description="queue://NAME, topic://NAME, or, to take from many topics, a pattern such as topic://NAME.*.",
    )
    profile: Profile = Field(default="borland", description="How property names are spelt.")
    prefetch: int = Field(
        default=100, ge=1, description="Messages that the broker sends ahead of our acknowledgements."
    )
    selector: str | None = Field(default=None, description="JMS selector that the broker applies (not RabbitMQ).")
    subscription: str | None = Field(
        default=None,
        min_length=1,
        description="Name of a durable subscription to a topic; it outlives our connections.",
    )
    queue_type: Literal["classic", "quorum"] | None = Field(
        default=None, description="RabbitMQ: the type of queue to make, or that there is; absent: the broker's default."
    )
    max_batch: int = Field(default=500, ge=1, le=10_000, description="Most messages in one transaction.")

    @field_validator("destination")
    @classmethod
    def _pattern_of_topics(cls, destination: str) -> str:
        pattern_of(destination)
        return destination

    @property
    def pattern(self) -> Pattern | None:
        """Of the topics to take from; None: `destination` names one."""
        return pattern_of(self.destination)


def capabilities(channel: StompChannel) -> Capabilities:
    return Capabilities(
        form="message",
        typed_properties=False,
        transactions=False,  # on some brokers only: see `confirm`
        durable=True,
        acknowledges=True,
        ordered=True,
        keeps=channel.destination.startswith("queue:") or channel.subscription is not None,
        max_batch=channel.max_batch,
    )
