"""The `links:` of a configuration: the directed edges of the event domain."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from adapters.settings_base import BackOff, StrictModel
from gateway.settings.journal import LinkJournal
from gateway.settings.rules import Rule


class Limits(StrictModel):
    """How far a value is taken apart; what is beyond goes as one encoded property (OC-TYPE-21)."""

    depth: int = Field(default=8, ge=1, le=64, description="Levels of nesting.")
    properties: int = Field(default=256, ge=1, description="Properties of one message.")
    property_bytes: int = Field(default=65_536, ge=1, description="Bytes of one property.")


class MappingSettings(StrictModel):
    """How events become messages, and messages events, where the rules leave a choice."""

    metadata: bool = Field(default=True, description="Send $se, from which the original IDL types are rebuilt.")
    priority: Literal["clamp", "linear", "fujitsu"] = Field(default="clamp", description="Priority to JMSPriority.")
    include_seq_alias: bool = Field(default=True, description="Names of sequence typedefs are part of property names.")
    struct_body: Literal["cdr", "map"] = Field(
        default="cdr", description="Body of an event whose remainder is a struct."
    )
    map_keys: Literal["name", "borland"] = Field(default="name", description="How the keys of a map body are spelt.")
    body_cdr: Literal["any", "value"] = Field(default="any", description="What an encoded body holds.")
    absent_reliability: Literal["persistent", "nonpersistent"] = Field(
        default="persistent", description="Delivery mode where the event has no EventReliability."
    )
    text_as: Literal["string", "wstring"] = Field(default="string", description="IDL type of text in events.")
    byte_as: Literal["octet", "short"] = Field(default="octet", description="IDL type of a JMS byte in events.")
    native_domain: str = Field(default="JMS", description="Domain of events made from foreign messages.")
    event_name_from: str | None = Field(
        default=None, description="Event name of foreign messages: JMSMessageID, or the name of a property."
    )
    numeric_headers: Literal["string", "guess"] = Field(
        default="string", description="Whether text that looks like a number becomes one in events."
    )
    limits: Limits = Field(default=Limits(), description="How far a value is taken apart.")


class Retry(StrictModel):
    """What happens to an event that the far side does not take now."""

    max_age_secs: int | None = Field(
        default=None, ge=1, description="Older events are dead-lettered; absent: tried for ever."
    )
    back_off: BackOff = Field(default=BackOff(), description="Pauses between attempts to send.")
    breaker: int = Field(
        default=10,
        ge=0,
        description="After so many failures in a row, refusals for good not counted, the sink is left alone for the longest pause"
        " and then tried with one batch; 0: never.",
    )


class Delivery(StrictModel):
    """How a link sends."""

    order: bool = Field(default=True, description="Keep the order of the source.")
    order_by: list[str] = Field(
        default=[],
        description="Properties or fields of what is sent: only events that are equal in them keep their order among themselves.",
    )
    parallel: int = Field(
        default=1,
        ge=1,
        le=32,
        description="Connections to the sink that share the events; needs order_by, or `order: false`.",
    )
    window: int = Field(default=1_000, ge=1, description="Events in flight: sent, not yet confirmed.")
    batch: int = Field(default=100, ge=1, description="Events in one send.")
    batch_wait_ms: int = Field(default=0, ge=0, description="Longest wait for a batch to fill.")
    hold_secs: int = Field(
        default=3_600,
        ge=0,
        description="How far ahead a StartTime may be, where the wire to the sink knows no delay and the link holds the event.",
    )
    retry: Retry = Field(default=Retry(), description="What happens while the far side takes nothing.")
    journal: LinkJournal = Field(default=LinkJournal(), description="How the link uses the gateway's journal.")


class DeadLetter(StrictModel):
    """Where events go that can never pass."""

    file: str | None = Field(
        default=None, min_length=1, description="Inside run_dir; absent: dead-letters/<link>.jsonl there."
    )
    channel: str | None = Field(
        default=None,
        description="Id of a channel of messages that the letters are passed on to; then they leave the file.",
    )
    expired: bool = Field(default=False, description="Keep expired events too; false: they are counted, and gone.")
    keep_secs: int | None = Field(
        default=None, ge=1, description="Older letters are thrown away, at the start and every hour; absent: never."
    )
    stop_at_ratio: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="The link stops when more of its last events than this were dead letters; absent: never.",
    )
    stop_after: int = Field(default=100, ge=1, description="How many of the last events count for stop_at_ratio.")


class Seal(StrictModel):
    """Bodies of messages that only another gateway can read; properties and headers stay as they are."""

    compression: Literal["none", "zlib", "zstd"] = Field(default="none", description="Of the bodies.")
    secret_key: SecretStr | None = Field(
        default=None,
        description="Encrypts the bodies: 64 hexadecimal digits, only as ${env:NAME} or ${file:PATH}; absent: not encrypted.",
    )


class Unseal(StrictModel):
    """What another gateway's link has sealed."""

    secret_keys: list[SecretStr] = Field(default=[], description="Keys that open it, the one in use and older ones.")
    accept_plain: bool = Field(default=False, description="Take messages that are not sealed too; false: dead letters.")


class Numbered(StrictModel):
    """A source that numbers its events, so that one that is missing shows."""

    field: str = Field(
        min_length=1,
        description="Field of the event, or property of the message, that holds the number; each is one more.",
    )
    by: list[str] = Field(default=[], description="Fields that name the sender, where each sender counts for itself.")


Duplicates = Literal["pass", "drop_redelivered", "drop"]


class LinkSettings(StrictModel):
    """From one channel to another."""

    source: str = Field(alias="from", description="Id of the channel that events come from.")
    sink: str = Field(alias="to", description="Id of the channel that they go to.")
    filter: str | None = Field(default=None, description="ETCL; for sources that carry events.")
    selector: str | None = Field(default=None, description="JMS selector; for sources that carry messages.")
    mapping: MappingSettings = Field(default=MappingSettings(), description="Choices that the rules leave.")
    rules: list[Rule] = Field(default=[], description="Changes to the message, in this order.")
    replies: str | None = Field(
        default=None,
        description="Id of the link that brings the answers back to what this link sends: request and reply.",
    )
    delivery: Delivery = Field(default=Delivery(), description="How the link sends.")
    dead_letter: DeadLetter = Field(default=DeadLetter(), description="What becomes of events that can never pass.")
    capture: bool | None = Field(
        default=None,
        description="Whether its traffic is captured, where there is a `capture:`; absent: unless a channel of it is confidential.",
    )
    avoid_loopback: bool = Field(
        default=True,
        description="Mark what passes with the channels where it has been, and stop what comes back to one of them.",
    )
    duplicates: Duplicates | None = Field(
        default=None, description="Which events are not sent again; absent: as domain.duplicates says."
    )
    numbered: Numbered | None = Field(
        default=None, description="Tell which events did not come, by the numbers that the source gives them."
    )
    on_demand: bool = Field(
        default=False,
        description="Forward only what somebody downstream wants, as far as that is known, and nothing while nobody does; from a"
        " channel or a topic, for events that may be missed.",
    )
    seal: Seal | None = Field(default=None, description="Compress or encrypt the bodies of the messages that are sent.")
    unseal: Unseal | None = Field(default=None, description="Open the bodies of the messages that come in.")
    enabled: bool = Field(default=True, description="false: the link is checked and drawn, but not started.")
