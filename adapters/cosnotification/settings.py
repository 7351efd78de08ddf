"""Configuration of the CosNotification wire. Imports no ORB."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from adapters.base import Capabilities
from adapters.settings_base import ChannelBase, EndpointBase, StrictModel

DEFAULT_RMI_ID: Final = "RMI:org.omg.CosNotification.StructuredEvent:0000000000000000:0000000000000000"


def _network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        raise ValueError("it is neither an address (10.1.2.3) nor a network (10.0.0.0/8)") from None


Network = Annotated[str, AfterValidator(_network)]


RepositoryId = Annotated[str, Field(pattern=r"^(IDL|RMI|LOCAL|DCE):.+")]


class OrbSettings(StrictModel):
    """The one ORB of the gateway."""

    listen: str = Field(default="127.0.0.1:0", description="host:port; port 0: the system chooses.")
    publish: str | None = Field(
        default=None, description="host:port that is written into our references, where peers reach us by another."
    )
    call_timeout_ms: int = Field(default=5_000, ge=1, description="Longest wait for an answer of a peer.")
    code_set: Literal["UTF-8", "ISO-8859-1"] = Field(
        default="UTF-8",
        description="How our strings travel; ISO-8859-1 for peers that know nothing else (Erlang's orber).",
    )
    naming_service: str | None = Field(
        default=None,
        description="Where names of the form corbaname:rir:#context/name are looked up: the reference of a naming service, in any "
        "form that `factory` takes.",
    )
    ca_file: str | None = Field(
        default=None,
        min_length=1,
        description="PEM file of the authorities that vouch for web servers (references by https://…); absent: those that the "
        "system trusts.",
    )
    allow: list[Network] | None = Field(
        default=None,
        min_length=1,
        description="Addresses (10.1.2.3) and networks (10.0.0.0/8) whose connections are taken; absent: all.",
    )
    value_boxes: list[RepositoryId] = Field(
        default=[],
        description="Ids of the value boxes that peers send inside events (IDL:Acme/Box:1.0, RMI:…): the ORB library can "
        "read no others.",
    )
    max_message_bytes: int = Field(
        default=64 * 1024 * 1024, ge=8192, description="No request may be larger, in either direction."
    )
    bidirectional: bool = Field(
        default=False,
        description="Let a peer call us over the connection that we made to it (bidirectional GIOP), where it can: for "
        "peers that a firewall keeps from connecting to us.",
    )
    server_threads: int = Field(
        default=400,
        ge=1,
        description="Calls of peers that are served at once; a push that is held takes one where there is no doorway.",
    )
    connections_per_peer: int = Field(
        default=256, ge=1, description="Calls to one server at the same time; more would wait for those that hang."
    )
    max_connections: int = Field(
        default=10_000,
        ge=1,
        description="Connections of peers that have a thread of their own; beyond these they share `server_threads`.",
    )


class OrbOverrides(StrictModel):
    """What an endpoint needs otherwise than `orb` says. Whoever has any of these has an ORB, and its process, of their own."""

    listen: str | None = Field(default=None, description="host:port; port 0, or absent: the system chooses one.")
    publish: str | None = Field(default=None, description="host:port that is written into our references.")
    code_set: Literal["UTF-8", "ISO-8859-1"] | None = Field(default=None, description="How our strings travel.")
    max_message_bytes: int | None = Field(default=None, ge=8192, description="No request may be larger.")
    bidirectional: bool | None = Field(default=None, description="Bidirectional GIOP.")
    allow: list[Network] | None = Field(
        default=None, min_length=1, description="Addresses and networks whose connections are taken."
    )
    value_boxes: list[RepositoryId] | None = Field(
        default=None, description="Repository ids of the value boxes that this peer sends inside events."
    )
    server_threads: int | None = Field(default=None, ge=1, description="Calls of this peer that are served at once.")
    connections_per_peer: int | None = Field(
        default=None, ge=1, description="Calls to this peer at the same time; more would wait."
    )
    max_connections: int | None = Field(
        default=None, ge=1, description="Connections of this peer that have a thread of their own."
    )

    def over(self, settings: OrbSettings) -> OrbSettings:
        """An ORB of its own cannot have the address of the other."""
        host = settings.listen.rpartition(":")[0]
        own = {"listen": f"{host}:0", "publish": None, **self.model_dump(exclude_none=True)}
        return settings.model_copy(update=own)


class QoS(StrictModel):
    """Quality of service (Notification Service, 2.5); what is absent stays what the peer makes it."""

    event_reliability: Literal["best_effort", "persistent"] | None = Field(
        default=None, description="EventReliability."
    )
    connection_reliability: Literal["best_effort", "persistent"] | None = Field(
        default=None, description="ConnectionReliability."
    )
    priority: int | None = Field(default=None, ge=-32767, le=32767, description="Priority of events that say none.")
    timeout_ms: int | None = Field(default=None, ge=0, description="Events that are older are not delivered.")
    order_policy: Literal["any", "fifo", "priority", "deadline"] | None = Field(
        default=None, description="OrderPolicy of a queue."
    )
    discard_policy: Literal["any", "fifo", "priority", "deadline", "lifo"] | None = Field(
        default=None, description="What is dropped first."
    )
    max_events_per_consumer: int | None = Field(
        default=None, ge=0, description="Events that wait for one consumer; 0: no limit."
    )
    maximum_batch_size: int | None = Field(default=None, ge=1, description="Events of a sequence at the most.")
    pacing_interval_ms: int | None = Field(
        default=None, ge=0, description="How long a sequence that is not full is held back."
    )


class AdminProperties(StrictModel):
    """Limits of a channel (Notification Service, 2.5.7); what is absent stays what the peer makes it."""

    max_queue_length: int | None = Field(default=None, ge=0, description="Events that the channel holds; 0: no limit.")
    max_consumers: int | None = Field(default=None, ge=0, description="Consumers; 0: no limit.")
    max_suppliers: int | None = Field(default=None, ge=0, description="Suppliers; 0: no limit.")
    reject_new_events: bool | None = Field(
        default=None, description="A full channel refuses events in place of discarding some."
    )


class CosNotificationEndpoint(EndpointBase):
    """A Notification Service, or a plain Event Service."""

    type: Literal["cosnotification"] = Field(description="The wire.")
    service: Literal["notification", "event"] = Field(
        default="notification",
        description="What the peer is; event: its channels are those of the plain Event Service (CosEvent).",
    )
    factory: str | None = Field(
        default=None,
        min_length=1,
        description="The EventChannelFactory: IOR:…, corbaloc:…, corbaname:…, the http(s) URL of a document or the path of a file "
        "that holds one of them. Needed where channels are named by their ChannelID.",
    )
    call_timeout_ms: int | None = Field(
        default=None, ge=1, description="Longest wait for an answer of this peer; orb.call_timeout_ms where absent."
    )
    ping_interval_secs: float = Field(
        default=10.0, gt=0, description="How often a connected peer is asked whether it still knows us."
    )
    idle_timeout_secs: float | None = Field(
        default=None,
        gt=0,
        description="After so long a silence of a channel that we consume from, connect anew, though the peer answers: some "
        "services forget a consumer and do not say so. Absent: a channel may be silent for ever.",
    )
    orb: OrbOverrides | None = Field(
        default=None, description="What this peer needs otherwise than `orb` says: it then has an ORB of its own."
    )


class CosNotificationChannel(ChannelBase):
    """An event channel of the service: by its ChannelID, or by its own reference."""

    channel: int | None = Field(default=None, ge=0, description="ChannelID at the factory.")
    reference: str | None = Field(
        default=None,
        min_length=1,
        description="The channel itself, in any form that `factory` takes; in place of `channel`.",
    )
    events: Literal["any", "structured", "sequence", "typed"] = Field(
        default="structured",
        description="Kind of client that the gateway is: untyped (Any), structured, sequences of structured events, or typed: "
        "operations of an interface at a typed channel.",
    )
    interface: str | None = Field(
        default=None,
        min_length=1,
        description="The interface of a typed client: Module::Interface, or its repository id.",
    )
    idl: list[str] = Field(default=[], description="IDL files in which it is declared.")
    include: list[str] = Field(default=[], description="Folders in which files that they include are looked for.")
    style: Literal["push", "pull"] = Field(
        default="push",
        description="Who calls whom. pull: as a consumer the gateway asks the channel, as a supplier it is asked.",
    )
    poll_interval_ms: int = Field(
        default=100, ge=1, description="Pause after a pull that found nothing, where the gateway is a consumer by pull."
    )
    buffer: int = Field(
        default=2_000, ge=1, description="Events that are taken in before the link asks; then the peer has to wait."
    )
    hold_ms: int = Field(
        default=3_000,
        ge=1,
        description="Longest time that a push is held back: a persistent event until it is safe, any event while the buffer "
        "is full; also of a pull that finds nothing on offer. Then the peer is told to try again (TRANSIENT). Keep it below the "
        "peer's own time-out.",
    )
    suspend_when_full: bool = Field(
        default=False,
        description="As a consumer by push: suspend the connection at the peer while the buffer is full, and resume it then, "
        'so that a service which drops consumers that say "later" has no reason to.',
    )
    event_types: list[str] = Field(
        default=[],
        description="domain/type of the events that we subscribe to or, as a supplier, offer; `*` stands for any run of "
        "characters. Absent: all.",
    )
    constraint: str | None = Field(
        default=None,
        min_length=1,
        description="ETCL: a filter object with it is made at the peer, so that it sends only what matches. For consumers.",
    )
    trust_peer: bool = Field(
        default=False,
        description="Do not look again at what the peer has filtered by `event_types` and `constraint`.",
    )
    qos: QoS = Field(default=QoS(), description="Quality of service of our proxy, validated by the peer.")
    channel_qos: QoS = Field(
        default=QoS(), description="Quality of service of the channel itself: for all its clients."
    )
    channel_admin: AdminProperties = Field(
        default=AdminProperties(), description="Limits of the channel itself: for all its clients."
    )


def event_types_of(channel: CosNotificationChannel) -> tuple[tuple[str, str], ...]:
    """Pairs of domain and type name."""
    return tuple((domain, type_) for domain, _, type_ in (name.partition("/") for name in channel.event_types))


def peer_key(endpoint: CosNotificationEndpoint, channel: CosNotificationChannel) -> str:
    """What tells one peer from another, as far as a configuration can."""
    return endpoint.factory or channel.reference or ""


def capabilities(channel: CosNotificationChannel) -> Capabilities:
    return Capabilities(
        form="event",
        typed_properties=True,
        transactions=False,
        durable=False,
        acknowledges=True,
        ordered=True,
        keeps=False,  # a channel forgets a consumer that disconnects, and what it had for it
        max_batch=500
        if channel.style == "push"
        else 100,  # a peer that goes away in the middle of one may get it again
    )
