"""Header fields of an event that say how to deliver it, and the JMS header fields that they become (SE-VAR-1 … 4, OC-VAR-1 … 7).

    EventReliability   short 0, 1      JMSDeliveryMode                         SE-VAR-1
    Priority           short           JMSPriority                             SE-VAR-2, OC-VAR-1
    Timeout            TimeT           JMSTimeToLive, in ms, rounded up        SE-VAR-3, OC-VAR-2
    StopTime           UtcT            JMSTimeToLive, the smaller of the two   OC-VAR-3
    StartTime          UtcT            a delay, where the wire has one         OC-VAR-4

The first three are used up, unless their type or value is not the one of the standard (OC-VAR-6); times stay fields too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mappings.errors import Expired
from mappings.idl_types import SHORT, ULONGLONG, IdlType, unalias
from mappings.known_types import TIME_T, UTC_T
from mappings.model import NON_PERSISTENT, PERSISTENT, Property

RELIABILITY: Final = "EventReliability"
PRIORITY: Final = "Priority"
TIMEOUT: Final = "Timeout"
STOP_TIME: Final = "StopTime"
START_TIME: Final = "StartTime"

STANDARD_TYPES: Final[dict[str, IdlType]] = {RELIABILITY: SHORT, PRIORITY: SHORT, TIMEOUT: TIME_T}
CONSUMED: Final = {RELIABILITY: SHORT, PRIORITY: SHORT, TIMEOUT: ULONGLONG}
TICKS_PER_MS: Final = 10_000  # TimeT counts in 100 ns
EPOCH_TICKS: Final = 122_192_928_000_000_000  # from 1582-10-15, where UtcT counts from, to 1970-01-01
DELAY_PROPERTY: Final = "AMQ_SCHEDULED_DELAY"


def consumes(name: str, type_: IdlType, value: Any) -> bool:
    """Whether a header field of this name, type and value becomes a JMS header field (OC-VAR-6)."""
    wanted = CONSUMED.get(name)
    return wanted is not None and unalias(type_) == wanted and (name != RELIABILITY or value in (0, 1))


def delivery_mode(reliability: int) -> str:
    return PERSISTENT if reliability else NON_PERSISTENT


def time_to_live(timeout: int, stop: int | None, now_ms: int, elapsed_ms: int) -> int:
    """Milliseconds, 0 for ever. `timeout` and `stop` in 100 ns, a timeout of 0 is none. Raises Expired (OC-VAR-2, OC-VAR-3)."""
    ttl = 0
    if timeout:
        ttl = -(-timeout // TICKS_PER_MS) - elapsed_ms
        if ttl <= 0:
            raise Expired("Timeout is over (OC-VAR-2)", path="variable_header.Timeout", rule="OC-VAR-2")
    if stop is not None:
        left = -(-(stop - EPOCH_TICKS - now_ms * TICKS_PER_MS) // TICKS_PER_MS)
        if left <= 0:
            raise Expired("StopTime is past (OC-VAR-3)", path="variable_header.StopTime", rule="OC-VAR-3")
        ttl = min(ttl, left) if ttl else left
    return ttl


def time_field(header: Sequence[Property], name: str) -> int | None:
    """The time of the first UtcT of this name in the header, in 100 ns since 1582."""
    for field in header:
        if field[0] == name and is_time(field[1]):
            time: int = field[2]["time"]
            return time
    return None


def is_time(type_: IdlType) -> bool:
    return unalias(type_) == UTC_T


def delay(start: int | None, now_ms: int) -> int:
    """Milliseconds until a StartTime, 0 where there is none or it is past (OC-VAR-4)."""
    return 0 if start is None else max(0, -(-(start - EPOCH_TICKS) // TICKS_PER_MS) - now_ms)
