"""A notice as an event, and the kinds that there are. docs/notices.md is checked against this file."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final, Literal

from mappings.idl_types import BOOLEAN, DOUBLE, LONGLONG, SHORT, STRING, IdlType
from mappings.model import Any_, Property, StructuredEvent

DOMAIN: Final = "Isthmus"

Severity = Literal["cleared", "indeterminate", "warning", "minor", "major", "critical"]
"""Perceived severities of ITU-T X.733, which alarm lists know."""

Fact = bool | int | float | str | None

KINDS: Final[Mapping[str, str]] = {
    "PeerChanged": "A system at one end of a link went away, came back, or refuses what it is sent.",
    "PossibleGap": "Events may be missing: a source that keeps nothing for us was away, or we were. Ask it for what it has.",
    "NumbersMissing": "The source numbers its events, and some did not come.",
    "LinkStopped": "A link has ended for a reason that only a person can mend, or a stopped one runs again.",
    "DeadLetters": "Events could not pass and were put aside; after the first of a kind, one notice for many.",
    "StoreChanged": "A store cannot be written, or can be again: journal, dead letters, duplicates, capture, or a service's.",
    "JournalFinding": "Something about a journal that its owner must know: damage, what was dropped, links left behind.",
    "ServiceChanged": "A service that the gateway hosts is ready, or has stopped; an ORB has died, or is there again.",
    "ServiceFinding": "What the owner of a service of ours must know: a client was given up, stored events cannot be read.",
    "DomainConnectionChanged": "A connection of an event domain over CORBA is joined, broken, or removed.",
    "Heartbeat": "The gateway is alive; how many links are ready, what is pending. By `heartbeat_secs` of the channel.",
    "NoticesLost": "More was to be told than could be kept; the oldest notices went.",
}
"""By type name: what it means."""

_PERSISTENT: Final = Property("EventReliability", SHORT, 1)


def notice(
    gateway: str, kind: str, about: str, severity: Severity, text: str, facts: Mapping[str, Fact]
) -> StructuredEvent:
    """`about`: the id of what it is about, which is the event's name. Facts that are None are left out."""
    fields = {"Gateway": gateway, "At": int(time.time() * 1000), "Severity": severity, **facts}
    return StructuredEvent(
        DOMAIN,
        kind,
        about,
        (_PERSISTENT,),
        tuple(Property(name, _type_of(value), value) for name, value in fields.items() if value is not None),
        Any_(STRING, text),
    )


def _type_of(value: Fact) -> IdlType:
    match value:
        case bool():
            return BOOLEAN
        case int():
            return LONGLONG
        case float():
            return DOUBLE
    return STRING
