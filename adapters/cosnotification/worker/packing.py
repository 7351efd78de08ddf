"""From an event of the ORB straight to a parcel, without making an event of the model in between: this is the hot path.

What has to be done to a value of a type is looked up once per value, by the type's descriptor: its number, and how the ORB's value
becomes what travels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from adapters.cosnotification.codec import reading
from adapters.cosnotification.decoding import decoder_of
from adapters.cosnotification.worker.parcels import Parcel, TypeNumbers

KEPT_PLANS: Final = 4096

Plan = tuple[int, Callable[[Any], Any] | None]
"""Number of the type; what the ORB's value must pass through, None where it travels as it is."""


class Packer:
    """Any number of threads may pack: a plan that is made twice is the same plan."""

    def __init__(self, types: TypeNumbers) -> None:
        self._types = types
        self._plans: dict[Any, Plan] = {}

    def pack(self, event: Any) -> Parcel:
        """Raises DeadLetterError, and nothing else, where the event holds what cannot be carried."""
        return reading(self._pack, event)

    def _pack(self, event: Any) -> Parcel:
        header = event.header
        fixed = header.fixed_header
        event_type = fixed.event_type
        variable_header = header.variable_header
        body = event.remainder_of_body
        number, finish = self._plan_of(body._t._d)
        return (
            event_type.domain_name,
            event_type.type_name,
            fixed.event_name,
            self._fields(variable_header) if variable_header else (),
            self._fields(event.filterable_data),
            (number, body._v if finish is None else finish(body._v)),
        )

    def _fields(self, properties: Any) -> tuple[Any, ...]:
        plans = self._plans
        fields = []
        for item in properties:
            any_ = item.value
            try:
                number, finish = plans[any_._t._d]
            except (KeyError, TypeError):
                number, finish = self._plan_of(any_._t._d)
            fields.append((item.name, number, any_._v if finish is None else finish(any_._v)))
        return tuple(fields)

    def _plan_of(self, descriptor: Any) -> Plan:
        try:
            found = self._plans.get(descriptor)
        except TypeError:  # unions and recursive types hold a dict or a list
            return self._make(descriptor)
        if found is None:
            found = self._make(descriptor)
            if len(self._plans) >= KEPT_PLANS:
                self._plans.clear()
            self._plans[descriptor] = found
        return found

    def _make(self, descriptor: Any) -> Plan:
        type_, convert = decoder_of(descriptor)
        known = self._types.known(type_)
        if known.plain:
            return known.number, convert
        return known.number, lambda value: known.pickled(value if convert is None else convert(value))
