"""What a translator may be told where the rules leave a choice; every default is the decision of RULES.md 5.3."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from mappings.translate.rules import Rule

ProfileName = Literal["borland", "strict", "mq"]
PriorityMapping = Literal["clamp", "linear", "fujitsu"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a value is taken apart; what is beyond goes as one encoded property (OC-TYPE-21)."""

    depth: int = 8  # levels of struct, union, sequence, array and any below a field
    properties: int = 256  # properties made of the fields of one event
    property_bytes: int = 65_536  # UTF-8 bytes of one property's text


@dataclass(frozen=True, slots=True)
class Options:
    """The names are those of `mapping:` in a link's configuration."""

    profile: ProfileName = "borland"
    metadata: bool = True  # send `$se` (OC-META-1)
    priority: PriorityMapping = "clamp"  # OC-VAR-1
    include_seq_alias: bool = True  # OC-NAME-1
    struct_body: Literal["cdr", "map"] = "cdr"  # OC-BODY-2
    map_keys: Literal["name", "borland"] = "name"  # OC-BODY-4
    body_cdr: Literal["any", "value"] = "any"  # OC-BODY-6
    absent_reliability: Literal["persistent", "nonpersistent"] = "persistent"  # OC-VAR-5
    text_as: Literal["string", "wstring"] = "string"  # native messages, RULES.md 5.5
    byte_as: Literal["octet", "short"] = "octet"
    native_domain: str = "JMS"
    event_name_from: str | None = None  # "JMSMessageID", or the name of a property
    numeric_headers: Literal["string", "guess"] = "string"
    limits: Limits = field(default_factory=Limits)
    rules: tuple[Rule, ...] = ()  # the link's own, in their order
    destination: str | None = None  # `queue://NAME` or `topic://NAME`, where known (SE-HDR-3)
    scheduled_delay: bool = False  # send AMQ_SCHEDULED_DELAY for a StartTime to come (OC-VAR-4)
