"""Events in the frames: plain tuples, with each type spoken of by a number.

    (domain_name, type_name, event_name, variable_header, filterable_data, remainder_of_body)
    a field:      (name, number of its type, value)         the remainder: (number of its type, value)

A type travels once, ahead of the first parcel that needs it, in a `types` frame; each direction has a numbering of its own, which
ends with the worker. Values that `marshal` cannot carry (anys, unions, fixed, TypeCodes) are pickled inside the parcel.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from mappings import idl_types as idl
from mappings.makers import maker
from mappings.model import Any_, Property, StructuredEvent

NUMBERED_TYPES = 20_000  # a peer may send ever new types: beyond these, a type travels with each of its values
REMEMBERED_IDS = 8_192
UNNUMBERED = -1

Parcel = tuple[str, str, str, tuple[Any, ...], tuple[Any, ...], tuple[int, Any]]

_make_event, _make_any = maker(StructuredEvent), maker(Any_)
_new = tuple.__new__


class Numbered(NamedTuple):
    number: int
    plain: bool
    type: idl.IdlType  # kept, so that its id() stays its own

    def pickled(self, value: Any) -> bytes:
        """A value that `marshal` cannot carry."""
        return pickle.dumps((self.type, value) if self.number == UNNUMBERED else value)


class TypeNumbers:
    """The writing side: `announce` sends a `types` frame, and is called before the number is first used."""

    def __init__(self, announce: Callable[[int, bytes], None]) -> None:
        self._announce = announce
        self._numbers: dict[int, Numbered] = {}
        self._by_type: dict[idl.IdlType, Numbered] = {}
        self._lock = threading.Lock()

    def _add(self, type_: idl.IdlType) -> Numbered:
        with self._lock:
            known = self._by_type.get(type_)
            if known is None and len(self._by_type) >= NUMBERED_TYPES:
                return Numbered(UNNUMBERED, False, type_)
            if known is None:
                known = Numbered(len(self._by_type), is_plain(type_), type_)
                self._announce(known.number, pickle.dumps((type_, known.plain)))
                self._by_type[type_] = known
            if len(self._numbers) >= REMEMBERED_IDS:
                self._numbers.clear()
            self._numbers[id(type_)] = Numbered(known.number, known.plain, type_)
            return known

    def parcel(self, event: StructuredEvent) -> Parcel:
        body = event.remainder_of_body
        return (
            event.domain_name,
            event.type_name,
            event.event_name,
            self._fields(event.variable_header),
            self._fields(event.filterable_data),
            self.value(body.type, body.value),
        )

    def _fields(self, properties: tuple[Property, ...]) -> tuple[Any, ...]:
        return tuple([(name, *self.value(type_, value)) for name, type_, value in properties])

    def value(self, type_: idl.IdlType, value: Any) -> tuple[int, Any]:
        known = self._numbers.get(id(type_)) or self._add(type_)
        return (known[0], value if known[1] else known.pickled(value))

    def known(self, type_: idl.IdlType) -> Numbered:
        return self._numbers.get(id(type_)) or self._add(type_)


class NumberedTypes:
    """The reading side."""

    def __init__(self) -> None:
        self._types: list[tuple[idl.IdlType, bool]] = []

    def add(self, number: int, data: bytes) -> None:
        assert number == len(self._types)
        self._types.append(pickle.loads(data))  # from our own worker

    def event(self, parcel: Parcel) -> StructuredEvent:
        domain_name, type_name, event_name, header, data, (number, value) = parcel
        type_, content = self._read(number, value)
        return _make_event(
            domain_name,
            type_name,
            event_name,
            self._properties(header) if header else (),
            self._properties(data),
            _make_any(type_, content),
        )

    def _properties(self, fields: tuple[Any, ...]) -> tuple[Property, ...]:
        types = self._types
        result = []
        for name, number, value in fields:
            if number == UNNUMBERED:
                result.append(Property(name, *self._read(number, value)))
                continue
            type_, plain = types[number]
            result.append(_new(Property, (name, type_, value if plain else pickle.loads(value))))
        return tuple(result)

    def _read(self, number: int, value: Any) -> tuple[idl.IdlType, Any]:
        if number == UNNUMBERED:
            type_, content = pickle.loads(value)
            return type_, content
        type_, plain = self._types[number]
        return type_, value if plain else pickle.loads(value)


def is_plain(type_: idl.IdlType) -> bool:
    """Values of this type consist of nothing but str, numbers, bytes, lists and dicts."""
    match type_:
        case idl.Basic(kind):
            return kind not in ("any", "TypeCode")
        case idl.Fixed() | idl.Union():
            return False
        case idl.Struct() | idl.Exception_():
            return all(is_plain(member.type) for member in type_.members)
        case idl.Value():
            return (type_.base is None or is_plain(type_.base)) and all(is_plain(m.type) for m in type_.members)
        case idl.Sequence() | idl.Array():
            return is_plain(type_.element)
        case idl.Alias() | idl.ValueBox():
            return is_plain(type_.type)
    return True
