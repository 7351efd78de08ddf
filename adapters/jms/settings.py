"""Configuration of the JMS wire. Imports neither JPype nor Java."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field, SecretStr, field_validator, model_validator

from adapters.base import Capabilities
from adapters.jms.providers import WAYS, Provider, Ways, provider_of
from adapters.settings_base import ChannelBase, EndpointBase, Profile, StrictModel
from adapters.topic_patterns import pattern_of
from mappings.destinations import Pattern

SERIAL_FILTER: Final = "java.lang.*;java.math.*;java.time.*;java.util.*;maxdepth=50;maxrefs=100000;maxarray=10000000;!*"


class JmsJndi(StrictModel):
    """Where the connection factory is looked up, instead of being made by its class."""

    initial_context_factory: str = Field(min_length=1, description="Class that java.naming.factory.initial names.")
    provider_url: str | None = Field(default=None, description="java.naming.provider.url, as the provider has it.")
    connection_factory: str = Field(min_length=1, description="Name under which the connection factory is bound.")
    properties: dict[str, str] = Field(
        default={}, description="Further properties of the initial context; credentials only as ${env:NAME}."
    )


class JmsEndpoint(EndpointBase):
    """A JMS provider, reached through its own Java client in a process of its own."""

    type: Literal["jms"] = Field(description="The wire.")
    classpath: list[str] = Field(
        min_length=1, description="The provider's client: jars, folders of jars or classes, patterns such as lib/*.jar."
    )
    factory: str | None = Field(
        default=None, min_length=1, description="Class of the connection factory; or give `jndi`."
    )
    url: str | None = Field(default=None, description="What the factory's constructor gets; absent: it gets nothing.")
    factory_properties: dict[str, str | int | bool] = Field(
        default={}, description="Further settings of the factory: {hostName: x} calls setHostName(x)."
    )
    jndi: JmsJndi | None = Field(default=None, description="Look the connection factory up; or give `factory`.")
    provider: Provider | None = Field(
        default=None, description="Whose ways to follow beyond JMS (patterns, duplicates); absent: told by the factory."
    )
    login: str | None = Field(default=None, description="User name at the provider.")
    password: SecretStr | None = Field(default=None, description="Only as ${env:NAME} or ${file:PATH}.")
    client_id: str | None = Field(
        default=None,
        min_length=1,
        description="JMS client id of durable subscriptions; absent: each has its own name for it.",
    )
    java_home: str | None = Field(default=None, description="Folder of the Java to use; absent: JAVA_HOME, or found.")
    jvm_options: list[str] = Field(default=[], description="Options of the JVM, such as -Xmx512m or -Dname=value.")
    serial_filter: str = Field(
        default=SERIAL_FILTER, description="Classes that Java may deserialize (jdk.serialFilter); empty: all."
    )
    connect_timeout_ms: int = Field(
        default=30_000, ge=1, description="Longest wait for the JVM and the provider until a connection is open."
    )
    answer_timeout_ms: int = Field(
        default=30_000, ge=1_000, description="A worker that says nothing for so long is ended, and started anew."
    )

    @model_validator(mode="after")
    def _one_way_to_the_factory(self) -> JmsEndpoint:
        if (self.factory is None) == (self.jndi is None):
            raise ValueError("give one of factory and jndi")
        if self.factory is None and self.url is not None:
            raise ValueError("url belongs to factory; with jndi, write jndi.provider_url")
        return self

    @property
    def ways(self) -> Ways | None:
        """None: nothing is known of this provider."""
        class_ = self.factory or (self.jndi.initial_context_factory if self.jndi is not None else "")
        provider = self.provider or provider_of(class_)
        return None if provider is None else WAYS[provider]


class JmsChannel(ChannelBase):
    """A queue or topic of the provider."""

    destination: str = Field(
        pattern=r"^(queue|topic)://.+",
        description="queue://NAME, topic://NAME, or, to take from many topics, a pattern such as topic://NAME.*.",
    )
    profile: Profile = Field(default="strict", description="How property names are spelt.")
    selector: str | None = Field(default=None, min_length=1, description="JMS selector that the provider applies.")
    subscription: str | None = Field(
        default=None,
        min_length=1,
        description="Name of a durable subscription to a topic; it outlives our connections.",
    )
    receive_batch: int = Field(
        default=1_000, ge=1, le=10_000, description="Most messages that are received before one commit settles them."
    )
    max_batch: int = Field(default=500, ge=1, le=10_000, description="Most messages that a link sends at once.")

    @field_validator("destination")
    @classmethod
    def _pattern_of_topics(cls, destination: str) -> str:
        pattern_of(destination)
        return destination

    @property
    def pattern(self) -> Pattern | None:
        """Of the topics to take from; None: `destination` names one."""
        return pattern_of(self.destination)


def capabilities(channel: JmsChannel) -> Capabilities:
    return Capabilities(
        form="message",
        typed_properties=True,
        transactions=True,
        durable=True,
        acknowledges=True,
        ordered=True,
        keeps=channel.destination.startswith("queue:") or channel.subscription is not None,
        max_batch=channel.max_batch,
    )
