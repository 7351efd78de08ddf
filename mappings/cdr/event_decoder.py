"""The thorough way to read a CosNotification::StructuredEvent: any event, part by part, by the decoders of its types."""

from __future__ import annotations

from typing import Final

from mappings.cdr.decoders import decoders_for
from mappings.cdr.input import Input
from mappings.cdr.typecode_cache import read_typecode
from mappings.idl_types import ANY, STRING
from mappings.makers import maker
from mappings.model import Any_, Property, StructuredEvent

SMALLEST_EVENT: Final = 24
"""Octets that every event takes, pads not counted: three strings, two lengths, the kind of a null."""
_SMALLEST_PROPERTY: Final = 8

make_event: Final = maker(StructuredEvent)
make_any: Final = maker(Any_)


class EventDecoder:
    """For one byte order. Raises MappingError whatever the octets are; keeps nothing."""

    def __init__(self, *, little: bool) -> None:
        self._of = decoders_for(little)
        self._text = self._of(STRING)
        self._any = self._of(ANY)

    def event(self, source: Input) -> StructuredEvent:
        text = self._text
        return make_event(
            text(source, 0),
            text(source, 0),
            text(source, 0),
            self._properties(source),
            self._properties(source),
            self._any(source, 0),
        )

    def any(self, source: Input) -> Any_:
        any_: Any_ = self._any(source, 0)
        return any_

    def _properties(self, source: Input) -> tuple[Property, ...]:
        count = source.ulong()
        source.check_room(count, _SMALLEST_PROPERTY)
        properties = []
        for _ in range(count):
            name = self._text(source, 0)
            type_ = read_typecode(source, 0)
            properties.append(Property(name, type_, self._of(type_)(source, 1)))
        return tuple(properties)
