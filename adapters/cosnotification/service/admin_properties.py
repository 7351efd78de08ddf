"""The administrative properties of a channel (RULES.md 1.6).

A channel has no queue of its own, but one for each consumer. An event is in the channel until the last consumer has it; so the
channel is as long as the longest of its queues, and MaxQueueLength bounds each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from adapters.cosnotification.descriptors import type_code
from adapters.cosnotification.service.qos import is_of
from adapters.cosnotification.service.stubs import CORBA, CosNotification

_LONG, _BOOLEAN = 3, 8
_TYPES: Final[Mapping[str, int]] = {
    "MaxQueueLength": _LONG,
    "MaxConsumers": _LONG,
    "MaxSuppliers": _LONG,
    "RejectNewEvents": _BOOLEAN,
}
_MOST: Final = 2**31 - 1


class AdminProperties:
    """0 means no limit."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {
            "MaxQueueLength": 0,
            "MaxConsumers": 0,
            "MaxSuppliers": 0,
            "RejectNewEvents": False,
        }

    def state(self) -> dict[str, Any]:
        return dict(self.values)

    def restore(self, state: dict[str, Any]) -> None:
        self.values.update(state)

    def to_orb(self) -> Any:
        return [property_(name, value) for name, value in self.values.items()]

    def change(self, properties: Any) -> None:
        """All of them, or none: raises UnsupportedAdmin that names each which cannot be met."""
        errors = []
        wanted = {}
        nothing = CORBA.Any(CORBA.TC_null, None)
        for item in properties:
            type_ = _TYPES.get(item.name)
            low = high = nothing
            if type_ is None:
                code = CosNotification.BAD_PROPERTY
            elif not is_of(type_, item.value):
                code = CosNotification.BAD_TYPE
            elif item.value.value() < 0:
                code = CosNotification.BAD_VALUE
                low, high = (CORBA.Any(CORBA.TC_long, limit) for limit in (0, _MOST))
            else:
                value = item.value.value()
                wanted[item.name] = bool(value) if type_ == _BOOLEAN else value
                continue
            errors.append(CosNotification.PropertyError(code, item.name, CosNotification.PropertyRange(low, high)))
        if errors:
            raise CosNotification.UnsupportedAdmin(errors)
        self.values.update(wanted)


def property_(name: str, value: Any) -> Any:
    return CosNotification.Property(name, CORBA.Any(type_code(_TYPES[name]), value))
