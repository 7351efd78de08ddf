"""What the gateway's own process hosts: the ORB, services for others, the admin interface."""

from __future__ import annotations

from pydantic import Field, SecretStr

from adapters.settings_base import StrictModel


class OrbSettings(StrictModel):
    """The one ORB of the process."""

    listen: str = Field(default="127.0.0.1:0", description="host:port; port 0: the system chooses.")
    publish: str | None = Field(
        default=None, description="host:port that is written into our references, where peers reach us by another."
    )
    call_timeout_ms: int = Field(default=5_000, ge=1, description="Longest wait for an answer of a peer.")


class NotificationServiceSettings(StrictModel):
    """A Notification Service of our own."""

    factory_ior: str = Field(description="File that the factory's reference is written to.")
    store: str | None = None
    channels: int = Field(default=1, ge=0, description="Event channels that are made at start, with ids from 0.")


class BrokerServiceSettings(StrictModel):
    """A small STOMP broker of our own, in memory: for trying things and for tests."""

    listen: str = Field(description="host:port; port 0: the system chooses.")
    login: str | None = None
    password: SecretStr | None = Field(default=None, description="Only as ${env:NAME} or ${file:PATH}.")


class Services(StrictModel):
    """Hosted by this process; all optional."""

    notification: NotificationServiceSettings | None = None
    broker: BrokerServiceSettings | None = None


class AdminSettings(StrictModel):
    """Health, links and metrics over HTTP, read-only and without login: keep it on loopback or behind a proxy."""

    listen: str = Field(description="host:port; port 0: the system chooses.")
