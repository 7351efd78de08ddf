"""Quality of service: what can be asked for at which object, and what is given (RULES.md 1.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import IntFlag
from typing import Any, Final, NamedTuple

from adapters.cosnotification.descriptors import type_code
from adapters.cosnotification.service.stubs import CORBA, CosNotification

_SHORT, _LONG, _BOOLEAN = 2, 3, 8
_TIME_T: Final = (21, "IDL:omg.org/TimeBase/TimeT:1.0", "TimeT", 24)
_UTC_T: Final = "IDL:omg.org/TimeBase/UtcT:1.0"  # no value of it is ever sent by us
_REJECT_NEW_EVENTS: Final = 5  # a DiscardPolicy of the first edition: as AnyOrder, the newest is discarded


class Level(IntFlag):
    MESSAGE = 1
    PROXY = 2
    ADMIN = 4
    CHANNEL = 8


_OBJECTS: Final = Level.PROXY | Level.ADMIN | Level.CHANNEL


class Kind(NamedTuple):
    """Of property. `low` and `high` are what the specification allows, None where every value of the type is fine."""

    type: Any
    levels: Level
    default: Any
    low: Any = None
    high: Any = None


KINDS: Final[Mapping[str, Kind]] = {
    "EventReliability": Kind(_SHORT, Level.MESSAGE | Level.CHANNEL, 0, 0, 1),
    "ConnectionReliability": Kind(_SHORT, _OBJECTS, 0, 0, 1),
    "Priority": Kind(_SHORT, Level.MESSAGE | _OBJECTS, 0, -32767, 32767),
    "StartTime": Kind(_UTC_T, Level.MESSAGE, None),
    "StopTime": Kind(_UTC_T, Level.MESSAGE, None),
    "Timeout": Kind(_TIME_T, Level.MESSAGE | _OBJECTS, 0),
    "StartTimeSupported": Kind(_BOOLEAN, _OBJECTS, True),
    "StopTimeSupported": Kind(_BOOLEAN, _OBJECTS, True),
    "MaxEventsPerConsumer": Kind(_LONG, _OBJECTS, 0, 0, 2**31 - 1),
    "OrderPolicy": Kind(_SHORT, _OBJECTS, 2, 0, 3),
    "DiscardPolicy": Kind(_SHORT, _OBJECTS, 0, 0, 4),
    "MaximumBatchSize": Kind(_LONG, _OBJECTS, 1, 1, 2**31 - 1),
    "PacingInterval": Kind(_TIME_T, _OBJECTS, 0),
}

Trouble = tuple[Any, Any, Any]
"""A code of QoSError_code, and the range that is available."""


class Qos:
    """The properties at one object: its own, then its parent's. `persistent`: the service has a store."""

    def __init__(self, level: Level, parent: Qos | None = None, *, persistent: bool = False) -> None:
        self.level = level
        self._parent = parent
        self._persistent: bool = parent._persistent if parent is not None else persistent
        self._own: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        if name in self._own:
            return self._own[name]
        return self._parent.get(name) if self._parent is not None else KINDS[name].default

    def said(self, name: str) -> Any | None:
        """What this object or its admin says; None where only the channel does, or nobody."""
        if self.level is Level.CHANNEL:
            return None
        found = self._own.get(name)
        return found if found is not None or self._parent is None else self._parent.said(name)

    def to_orb(self) -> Any:
        return [
            CosNotification.Property(name, CORBA.Any(type_code(kind.type), self.get(name)))
            for name, kind in KINDS.items()
            if kind.levels & self.level
        ]

    def state(self) -> dict[str, Any]:
        return dict(self._own)

    def restore(self, state: dict[str, Any]) -> None:
        self._own.update(state)

    def change(self, properties: Any) -> None:
        """All of them, or none: raises UnsupportedQoS that names each which cannot be met."""
        self._own.update(self._checked(properties))

    def validate(self, required: Any) -> Any:
        """What could be set beside them, with ranges. Raises UnsupportedQoS."""
        wanted = self._checked(required)
        return self._ranges(self.level, wanted)

    def validate_event(self, required: Any) -> Any:
        """The same for the properties of an event's header."""
        wanted = _check_all(required, Level.MESSAGE, self._supported)
        return self._ranges(Level.MESSAGE, wanted)

    def _checked(self, properties: Any) -> dict[str, Any]:
        wanted = _check_all(properties, self.level, self._supported)
        after = {name: wanted.get(name, self.get(name)) for name in KINDS if KINDS[name].levels & _OBJECTS}
        errors = [
            _error(name, (CosNotification.UNAVAILABLE_PROPERTY, None, None) if value is None else
                   (CosNotification.UNAVAILABLE_VALUE, value, value))
            for name, value in self._conflicts(wanted, after)
        ]  # fmt: skip
        if errors:
            raise CosNotification.UnsupportedQoS(errors)
        return wanted

    def _conflicts(self, wanted: Mapping[str, Any], after: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
        """Names that contradict the other settings, and the value that would do; None where none would."""
        above = self._parent
        if wanted.get("ConnectionReliability") and above is not None and not above.get("ConnectionReliability"):
            yield "ConnectionReliability", 0
        if self.level is Level.CHANNEL and after["EventReliability"] and not after["ConnectionReliability"]:
            # that pair has no meaning
            yield ("EventReliability", 0) if wanted.get("EventReliability") else ("ConnectionReliability", 1)
        if wanted.get("Timeout") and not after["StopTimeSupported"]:
            yield "Timeout", None

    def _supported(self, name: str, value: Any) -> Trouble | None:
        if name in ("EventReliability", "ConnectionReliability") and value and not self._persistent:
            return CosNotification.UNSUPPORTED_VALUE, 0, 0
        return None

    def _ranges(self, level: Level, without: Mapping[str, Any]) -> Any:
        ranges = []
        for name, kind in KINDS.items():
            if not kind.levels & level or name in without or kind.type == _UTC_T:
                continue
            low, high = _legal_range(kind)
            if not self._persistent and name.endswith("Reliability"):
                high = low
            ranges.append(CosNotification.NamedPropertyRange(name, _range(kind, low, high)))
        return ranges


def _check_all(
    properties: Any, level: Level, supported: Callable[[str, Any], Trouble | None]
) -> dict[str, Any]:  # fmt: skip
    """Known name, supported here, type, legal range, supported range: the first that fails counts."""
    wanted: dict[str, Any] = {}
    errors = []
    for item in properties:
        kind = KINDS.get(item.name)
        if kind is None:
            errors.append(_error(item.name, (CosNotification.BAD_PROPERTY, None, None)))
            continue
        if not kind.levels & level:
            errors.append(_error(item.name, (CosNotification.UNSUPPORTED_PROPERTY, None, None)))
            continue
        if not is_of(kind.type, item.value):
            errors.append(_error(item.name, (CosNotification.BAD_TYPE, None, None)))
            continue
        value = item.value.value()
        if item.name == "DiscardPolicy" and value == _REJECT_NEW_EVENTS:
            value = 0
        trouble = _outside(kind, value) or supported(item.name, value)
        if trouble is None:
            wanted[item.name] = value
        else:
            errors.append(_error(item.name, trouble))
    if errors:
        raise CosNotification.UnsupportedQoS(errors)
    return wanted


def is_of(type_: Any, any_: Any) -> bool:
    """Whether the any holds that type, typedefs aside."""
    kind = any_.typecode()._d
    while isinstance(kind, tuple) and kind[0] == 21:
        kind = kind[3]
    if isinstance(type_, str):
        return isinstance(kind, tuple) and kind[0] == 15 and kind[2] == type_
    return bool(kind == (type_ if isinstance(type_, int) else type_[3]))


def _outside(kind: Kind, value: Any) -> Trouble | None:
    if kind.low is None or kind.low <= value <= kind.high:
        return None
    return CosNotification.BAD_VALUE, kind.low, kind.high


def _legal_range(kind: Kind) -> tuple[Any, Any]:
    if kind.type == _BOOLEAN:
        return False, True
    return (kind.low, kind.high) if kind.low is not None else (0, 2**64 - 1)


def _range(kind: Kind, low: Any, high: Any) -> Any:
    return CosNotification.PropertyRange(CORBA.Any(type_code(kind.type), low), CORBA.Any(type_code(kind.type), high))


def _error(name: str, trouble: Trouble) -> Any:
    code, low, high = trouble
    if low is None:
        nothing = CORBA.Any(CORBA.TC_null, None)
        return CosNotification.PropertyError(code, name, CosNotification.PropertyRange(nothing, nothing))
    return CosNotification.PropertyError(code, name, _range(KINDS[name], low, high))
