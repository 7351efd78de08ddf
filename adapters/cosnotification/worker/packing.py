"""From an event of the ORB straight to a parcel, without making an event of the model in between: this is the hot path."""

from __future__ import annotations

from typing import Any

from adapters.cosnotification.codec import PERSISTENT, reading
from adapters.cosnotification.decoding import decoder_of
from adapters.cosnotification.worker.parcels import Parcel, TypeNumbers


def pack_event(event: Any, types: TypeNumbers) -> Parcel:
    """Raises DeadLetterError, and nothing else, where the event holds what cannot be carried."""
    return reading(_pack, event, types)


def _pack(event: Any, types: TypeNumbers) -> Parcel:
    header = event.header
    fixed = header.fixed_header
    event_type = fixed.event_type
    return (
        event_type.domain_name,
        event_type.type_name,
        fixed.event_name,
        _fields(header.variable_header, types),
        _fields(event.filterable_data, types),
        _value(event.remainder_of_body, types),
    )


def _fields(properties: Any, types: TypeNumbers) -> tuple[Any, ...]:
    fields = []
    for item in properties:
        any_ = item.value
        type_, convert = decoder_of(any_._t._d)
        number, value = types.value(type_, any_._v if convert is None else convert(any_._v))
        fields.append((item.name, number, value))
    return tuple(fields)


def _value(any_: Any, types: TypeNumbers) -> tuple[int, Any]:
    type_, convert = decoder_of(any_._t._d)
    return types.value(type_, any_._v if convert is None else convert(any_._v))


def is_persistent(parcel: Parcel) -> bool:
    """EventReliability of the event itself; without it the event is best-effort (RULES.md 1.6)."""
    return any(name == "EventReliability" and value == PERSISTENT for name, _, value in parcel[3])
