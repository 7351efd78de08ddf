"""Alarms as the element managers of mobile networks send them (3GPP Alarm IRP; field letters in RULES.md section 10)."""

from __future__ import annotations

import random
from typing import Final

from mappings.idl_types import LONG, SHORT, STRING, Member, Sequence, Struct
from mappings.known_types import UTC_T
from mappings.model import Any_, Property, StructuredEvent

EPOCH_OFFSET_100NS: Final = 122_192_928_000_000_000  # from 1582-10-15, where UtcT counts from, to 1970-01-01

_CORRELATED: Final = Struct(
    "IDL:3gpp.org/NotificationIRPConstDefs/CorrelatedNotification:1.0",
    "CorrelatedNotification",
    (Member("source", STRING), Member("notifID", LONG)),
)
_CORRELATED_SET: Final = Sequence(_CORRELATED)

CRITICAL, MAJOR, MINOR, WARNING, CLEARED = 1, 2, 3, 4, 5
_NEW, _CLEARED = "x1", "x5"

_FAULTS: Final = (
    # probable cause, its number, severity, text
    ("loss of signal", 29, CRITICAL, "LOS on optical port, both fibres"),
    ("transmit failure", 58, MAJOR, "TX power below threshold"),
    ("temperature unacceptable", 51, MINOR, "cabinet at 58 °C"),
    ("power problem", 36, MAJOR, "mains lost, on battery"),
    ("threshold crossed", 49, WARNING, "bit error rate above 1e-6"),
)
_SITES: Final = ("Zürich-Oerlikon", "Genève-Cornavin", "Bern-Wankdorf", "Lugano-Centro")


def alarm(number: int, now_secs: float, chance: random.Random) -> StructuredEvent:
    """The alarm of this number: mostly a new fault, now and then the clearing of an earlier one."""
    cause, cause_number, severity, text = chance.choice(_FAULTS)
    site = chance.choice(_SITES)
    clears = number > 3 and chance.random() < 0.2
    element = f"SubNetwork=Isthmus,ManagedElement={site},Port={chance.randint(1, 16)}"
    correlated = [{"source": element, "notifID": number - 3}] if clears else []
    fields = (
        Property("a", LONG, number),
        Property("b", _CORRELATED_SET, correlated),
        Property("c", UTC_T, utc(now_secs)),
        Property("d", STRING, "SubNetwork=Isthmus,ManagementNode=EMS-1"),
        Property("e", STRING, "ManagedElement"),
        Property("f", STRING, element),
        Property("g", SHORT, cause_number),
        Property("h", SHORT, CLEARED if clears else severity),
        Property("i", STRING, cause),
        Property("j", STRING, text),
        Property("k", STRING, f"A-{number:06d}"),
    )
    header = (
        Property("EventReliability", SHORT, 1),
        Property("Priority", SHORT, 0 if clears else 4 - severity),
    )
    body = Any_(STRING, f"{site}: {cause}{' cleared' if clears else ''}: {text}")
    return StructuredEvent("Alarm IRP V2.3", _CLEARED if clears else _NEW, f"alarm-{number}", header, fields, body)


def utc(now_secs: float) -> dict[str, int]:
    """A TimeBase::UtcT value."""
    return {"time": EPOCH_OFFSET_100NS + int(now_secs * 10_000_000), "inacclo": 0, "inacchi": 0, "tdf": 0}
