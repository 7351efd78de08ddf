"""What the gateway's own process hosts: the ORB, services for others, the admin interface."""

from __future__ import annotations

from pydantic import Field, SecretStr

from adapters.cosnotification.settings import OrbSettings
from adapters.settings_base import StrictModel

__all__ = ["AdminSettings", "BrokerServiceSettings", "NotificationServiceSettings", "OrbSettings", "Services"]


class NotificationServiceSettings(StrictModel):
    """A Notification Service of our own."""

    factory_ior: str = Field(min_length=1, description="File that the factory's reference is written to.")
    store: str | None = Field(default=None, min_length=1, description="File that keeps channels over a restart.")
    channels: int = Field(default=1, ge=0, description="Event channels that are made at start, with ids from 0.")
    typed_channels: int = Field(
        default=0, ge=0, description="Typed event channels that are made at start, with ids of their own from 0."
    )
    idl: list[str] = Field(default=[], description="IDL files whose interfaces the clients of typed channels may name.")
    include: list[str] = Field(default=[], description="Folders in which files that they include are looked for.")


class BrokerServiceSettings(StrictModel):
    """A small STOMP broker of our own: for trying things and for tests."""

    listen: str = Field(description="host:port; port 0: the system chooses.")
    login: str | None = Field(default=None, description="User name that clients must give; absent: everybody may in.")
    password: SecretStr | None = Field(default=None, description="Only as ${env:NAME} or ${file:PATH}.")
    store: str | None = Field(
        default=None,
        min_length=1,
        description="File that keeps persistent messages and durable subscriptions over a restart; absent: in memory.",
    )


class Services(StrictModel):
    """Hosted by this process; all optional."""

    notification: NotificationServiceSettings | None = Field(
        default=None, description="A Notification Service, for suppliers and consumers that have none."
    )
    broker: BrokerServiceSettings | None = Field(
        default=None, description="A STOMP broker, for trying things; not for production."
    )


class AdminSettings(StrictModel):
    """Health, links and metrics over HTTP, read-only and without login: keep it on loopback or behind a proxy."""

    listen: str = Field(description="host:port; port 0: the system chooses.")
