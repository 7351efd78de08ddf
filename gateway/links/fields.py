"""What a payload holds under a name: a property or header field of a message, a field of an event."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.base import Payload
from mappings.model import Message


def values_of(payload: Payload, names: Sequence[str]) -> list[object]:
    """None for what it does not have."""
    if isinstance(payload, Message):
        values = {name: value for name, _, value in payload.properties}
        return [values.get(name, getattr(payload.headers, name, None)) for name in names]
    values = {name: value for name, _, value in (*payload.filterable_data, *payload.variable_header)}
    fixed = {"domain_name": payload.domain_name, "type_name": payload.type_name, "event_name": payload.event_name}
    return [values.get(name, fixed.get(name)) for name in names]
