"""What the gateway's own process hosts: the ORB, services for others, the admin interface."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from adapters.cosnotification.settings import DEFAULT_RMI_ID, OrbSettings
from adapters.settings_base import StrictModel

__all__ = [
    "AdminSettings",
    "BridgesServiceSettings",
    "BrokerServiceSettings",
    "EventDomainsServiceSettings",
    "LogsServiceSettings",
    "NotificationServiceSettings",
    "OrbSettings",
    "RmiSettings",
    "Services",
    "StandbySettings",
]


class RmiSettings(StrictModel):
    """Consumers and suppliers that are Java remote interfaces (EJB): their events are boxed."""

    structured_event: str = Field(
        default=DEFAULT_RMI_ID,
        pattern="^(RMI|IDL):.+",
        description="Repository id of the boxes that we send; the one that `rmic -iiop -idl` prints for the consumer's class.",
    )
    read: list[str] = Field(default=[], description="Further ids of boxes that suppliers may send.")
    untyped: Literal["plain", "boxed"] = Field(
        default="plain", description="What consumers get whose references name no type; those of type RMI:… get boxes."
    )
    supplier_ior: str | None = Field(
        default=None,
        min_length=1,
        description="File for the reference that suppliers by RMI push to; needs supplier_interface.",
    )
    supplier_interface: str | None = Field(
        default=None,
        pattern="^RMI:.+",
        description="Repository id of their remote interface, such as RMI:com.acme.AlarmConsumer:0000000000000000.",
    )
    supplier_channel: int = Field(default=0, ge=0, description="ChannelID that their events go into.")


class NotificationServiceSettings(StrictModel):
    """A Notification Service of our own."""

    factory_ior: str = Field(min_length=1, description="File that the factory's reference is written to.")
    store: str | None = Field(
        default=None,
        min_length=1,
        description="Keeps what is Persistent over a restart: objects with their references, and events. Needs a fixed port.",
    )
    hide_others: bool = Field(
        default=False,
        description="Clients find only the admins and proxies that were obtained from their own address, and the default admins.",
    )
    channels: int = Field(default=1, ge=0, description="Event channels that are made at start, with ids from 0.")
    typed_channels: int = Field(
        default=0, ge=0, description="Typed event channels that are made at start, with ids of their own from 0."
    )
    idl: list[str] = Field(default=[], description="IDL files whose interfaces the clients of typed channels may name.")
    include: list[str] = Field(default=[], description="Folders in which files that they include are looked for.")
    rmi: RmiSettings = Field(
        default_factory=RmiSettings, description="Consumers and suppliers that are Java remote interfaces."
    )


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


class EventDomainsServiceSettings(StrictModel):
    """Event domains over CORBA: EventDomainFactory, TypedEventDomainFactory, EventLogDomainFactory."""

    factory_ior: str = Field(min_length=1, description="File that the EventDomainFactory's reference is written to.")
    typed_factory_ior: str | None = Field(
        default=None, min_length=1, description="File for the reference of the TypedEventDomainFactory."
    )
    log_factory_ior: str | None = Field(
        default=None, min_length=1, description="File for the reference of the EventLogDomainFactory."
    )
    store: str | None = Field(
        default=None,
        min_length=1,
        description="File that keeps domains over a restart; absent: event-domains.db in run_dir.",
    )
    check_interval_secs: float = Field(
        default=10.0, gt=0, le=3600, description="How often each connection is looked after, and mended where it broke."
    )
    on_demand: bool = Field(
        default=False, description="Connections forward nothing while no consumer downstream wants anything."
    )
    specified_defaults: bool = Field(
        default=False,
        description="A domain that is made without QoS allows cycles and diamonds, by the letter of the specification.",
    )
    changeable_cycle_detection: bool = Field(
        default=False,
        description="CycleDetection may be changed after a domain was made, as DiamondDetection always may.",
    )
    max_channels: int | None = Field(default=None, ge=1, description="Most channels of one domain; absent: no limit.")
    max_connections: int | None = Field(
        default=None, ge=1, description="Most connections of one domain; absent: no limit."
    )


class BridgesServiceSettings(StrictModel):
    """Bridges between channels and JMS destinations that CORBA clients make (Notification/JMS Interworking)."""

    factory_ior: str = Field(min_length=1, description="File that the BridgeFactory's reference is written to.")
    channels: str = Field(
        description="Id of the cosnotification endpoint whose channels bridges name by their ChannelID."
    )
    destinations: str = Field(
        description="Id of the stomp or jms endpoint of destinations that name no other one as their factory_name."
    )
    store: str | None = Field(
        default=None,
        min_length=1,
        description="File that keeps bridges over a restart; absent: bridges.json in run_dir.",
    )


class LogsServiceSettings(StrictModel):
    """Logs of the Telecom Log Service: event channels that record what passes through them."""

    factory_ior: str = Field(min_length=1, description="File that the NotifyLogFactory's reference is written to.")
    typed_factory_ior: str | None = Field(
        default=None, min_length=1, description="File for the reference of the TypedNotifyLogFactory."
    )
    store: str | None = Field(
        default=None, min_length=1, description="File that keeps logs and records; absent: event-logs.db in run_dir."
    )
    idl: list[str] = Field(
        default_factory=list, description="IDL files whose interfaces the clients of typed logs may name."
    )
    include: list[str] = Field(
        default_factory=list, description="Folders in which files that they include are looked for."
    )


class Services(StrictModel):
    """Hosted by this process; all optional."""

    notification: NotificationServiceSettings | None = Field(
        default=None, description="A Notification Service, for suppliers and consumers that have none."
    )
    event_domains: EventDomainsServiceSettings | None = Field(
        default=None, description="Event domains over CORBA, for channels of any vendor."
    )
    logs: LogsServiceSettings | None = Field(default=None, description="A log service, for members of log domains.")
    bridges: BridgesServiceSettings | None = Field(
        default=None, description="Bridges that CORBA clients make at run time."
    )
    broker: BrokerServiceSettings | None = Field(
        default=None, description="A STOMP broker, for trying things; not for production."
    )


class StandbySettings(StrictModel):
    """Several gateways of one configuration on one `run_dir`, of which one works and the others wait."""

    lease_secs: float = Field(
        default=5.0,
        ge=0.5,
        le=300,
        description="How long a leader may be silent before another takes over; what a slow disk may hold it up must be less.",
    )


class AdminSettings(StrictModel):
    """Health, links and metrics over HTTP, read-only and without login: keep it on loopback or behind a proxy."""

    listen: str = Field(description="host:port; port 0: the system chooses.")
    token: SecretStr | None = Field(
        default=None,
        description="What gives the right to see events (`isthmus tap`) and to send dead letters again, only as ${env:NAME} "
        "or ${file:PATH}; absent: whoever asks on this machine has it.",
    )
    tap_confidential: bool = Field(
        default=False, description="Whether `isthmus tap` shows events of confidential channels too."
    )
