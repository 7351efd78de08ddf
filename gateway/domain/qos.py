"""The two properties that a domain has: CycleDetection and DiamondDetection (RULES.md 4.2, and the end of 4.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from gateway.domain.errors import DomainError

CYCLE_DETECTION: Final = "CycleDetection"
DIAMOND_DETECTION: Final = "DiamondDetection"
AUTHORIZE: Final = 0
FORBID: Final = 1

QoSProperty = tuple[str, object]
"""A name, and the value that came out of its any."""


class Rules(NamedTuple):
    """What a graph may not have. Both by default: the specification argues so, and then says otherwise (RULES.md 4.6 #7)."""

    forbid_cycles: bool = True
    forbid_diamonds: bool = True

    def to_qos(self) -> list[tuple[str, int]]:
        return [(CYCLE_DETECTION, int(self.forbid_cycles)), (DIAMOND_DETECTION, int(self.forbid_diamonds))]


SPECIFIED_DEFAULTS: Final = Rules(forbid_cycles=False, forbid_diamonds=False)
"""Of an empty initialQoS, by the letter of the specification."""


class QoSErrorCode(IntEnum):
    """Of CosNotification::QoSError_code; the ones that can happen here."""

    UNSUPPORTED_VALUE = 2
    UNAVAILABLE_VALUE = 3
    BAD_PROPERTY = 4
    BAD_TYPE = 5


class PropertyFault(NamedTuple):
    """With the range of values that would do."""

    code: QoSErrorCode
    name: str
    low: int = AUTHORIZE
    high: int = FORBID


class PropertyRange(NamedTuple):
    name: str
    low: int
    high: int


class UnsupportedQoS(DomainError):
    """None of the properties has been set."""

    def __init__(self, faults: Sequence[PropertyFault]) -> None:
        words = "; ".join(f"{fault.name}: {fault.code.name}, {fault.low} to {fault.high} would do" for fault in faults)
        super().__init__(
            "DOM-QOS",
            f"quality of service that the domain cannot have: {words}",
            hint=f"the properties are {CYCLE_DETECTION} and {DIAMOND_DETECTION}, both 0 (authorize) or 1 (forbid), as short",
        )
        self.faults = tuple(faults)


def rules_in(properties: Iterable[QoSProperty], rules: Rules) -> Rules:
    """The rules with these properties set; of a property that comes twice the later counts. Raises UnsupportedQoS."""
    faults: list[PropertyFault] = []
    for name, value in properties:
        if name not in (CYCLE_DETECTION, DIAMOND_DETECTION):
            faults.append(PropertyFault(QoSErrorCode.BAD_PROPERTY, name))
        elif not isinstance(value, int) or isinstance(value, bool):
            faults.append(PropertyFault(QoSErrorCode.BAD_TYPE, name))
        elif value not in (AUTHORIZE, FORBID):
            faults.append(PropertyFault(QoSErrorCode.UNSUPPORTED_VALUE, name))
        elif name == CYCLE_DETECTION:
            rules = rules._replace(forbid_cycles=bool(value))
        else:
            rules = rules._replace(forbid_diamonds=bool(value))
    if faults:
        raise UnsupportedQoS(faults)
    return rules
