"""Quality of service: what can be asked for and what is given (RULES.md 1.6)."""

from __future__ import annotations

from typing import Any, Final

from adapters.cosnotification.descriptors import type_code
from adapters.cosnotification.stubs import CORBA, CosNotification

_SHORT, _LONG, _BOOLEAN, _TIME_T = 2, 3, 8, (21, "IDL:omg.org/TimeBase/TimeT:1.0", "TimeT", 24)

_DEFAULTS: Final[dict[str, tuple[Any, Any]]] = {
    "EventReliability": (_SHORT, 0),
    "ConnectionReliability": (_SHORT, 0),
    "Priority": (_SHORT, 0),
    "Timeout": (_TIME_T, 0),
    "StartTimeSupported": (_BOOLEAN, False),
    "StopTimeSupported": (_BOOLEAN, False),
    "MaxEventsPerConsumer": (_LONG, 0),
    "OrderPolicy": (_SHORT, 1),  # FifoOrder
    "DiscardPolicy": (_SHORT, 0),  # AnyOrder
    "MaximumBatchSize": (_LONG, 1),
    "PacingInterval": (_TIME_T, 0),
}
_MESSAGE_ONLY: Final = ("StartTime", "StopTime")
CHANGEABLE: Final = ("MaxEventsPerConsumer",)


class Qos:
    """The properties at one object: its own, then its parent's."""

    def __init__(self, parent: Qos | None = None, **own: Any) -> None:
        self._parent = parent
        self._own: dict[str, Any] = own

    def get(self, name: str) -> Any:
        if name in self._own:
            return self._own[name]
        return self._parent.get(name) if self._parent is not None else _DEFAULTS[name][1]

    def to_orb(self) -> Any:
        return [
            CosNotification.Property(name, CORBA.Any(type_code(kind), self.get(name)))
            for name, (kind, _) in _DEFAULTS.items()
        ]

    def change(self, properties: Any) -> None:
        """All of them, or none: raises UnsupportedQoS that names each which cannot be met."""
        wanted: dict[str, Any] = {}
        errors = []
        for item in properties:
            trouble = self._check(item.name, item.value)
            if trouble is None:
                wanted[item.name] = item.value.value()
            else:
                errors.append(_error(trouble, item.name, self.get(item.name) if item.name in _DEFAULTS else None))
        if errors:
            raise CosNotification.UnsupportedQoS(errors)
        self._own.update(wanted)

    def _check(self, name: str, any_: Any) -> Any | None:
        """A code of QoSError_code, or None: known name, supported here, type, range."""
        if name in _MESSAGE_ONLY:
            return CosNotification.UNSUPPORTED_PROPERTY
        if name not in _DEFAULTS:
            return CosNotification.BAD_PROPERTY
        kind = any_.typecode()._d
        while isinstance(kind, tuple) and kind[0] == 21:
            kind = kind[3]
        expected = _DEFAULTS[name][0]
        if kind != (expected if isinstance(expected, int) else expected[3]):
            return CosNotification.BAD_TYPE
        value = any_.value()
        if name in CHANGEABLE:
            return None if value >= 0 else CosNotification.BAD_VALUE
        return None if value == self.get(name) else CosNotification.UNSUPPORTED_VALUE


def _error(code: Any, name: str, available: Any) -> Any:
    if available is None:
        nothing = CORBA.Any(CORBA.TC_null, None)
        return CosNotification.PropertyError(code, name, CosNotification.PropertyRange(nothing, nothing))
    only = CORBA.Any(type_code(_DEFAULTS[name][0]), available)
    return CosNotification.PropertyError(code, name, CosNotification.PropertyRange(only, only))
