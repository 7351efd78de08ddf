"""Which values read the same wherever 4 divides their offset: those that hold nothing aligned to 8 and name nothing again.

What stands in encapsulations does not matter, TypeCodes above all: their alignment counts from their own start.
"""

from __future__ import annotations

from typing import Final

from mappings.idl_types import Basic, IdlType, Value, ValueBox
from mappings.limits import CACHED_TYPES
from mappings.model import StructuredEvent
from mappings.type_compiler import parts_of

_HELD_BACK: Final = frozenset(("longlong", "ulonglong", "double", "longdouble", "any"))
"""Kinds aligned to 8, and the one that may hold any other."""

_known: dict[int, tuple[IdlType, bool]] = {}


def is_movable_event(event: StructuredEvent) -> bool:
    """Whether the event's octets may begin at any offset that 4 divides; False where its types do not say."""
    return (
        is_movable(event.remainder_of_body.type)
        and all(is_movable(field.type) for field in event.variable_header)
        and all(is_movable(field.type) for field in event.filterable_data)
    )


def is_movable(type_: IdlType) -> bool:
    """The same of all values of a type."""
    known = _known.get(id(type_))
    if known is None:  # the entry keeps the type alive, so that nothing else can have its id
        if len(_known) >= CACHED_TYPES:
            _known.clear()
        known = _known[id(type_)] = (type_, _judge(type_))
    return known[1]


def _judge(type_: IdlType) -> bool:
    if isinstance(type_, Value | ValueBox):
        return False
    if isinstance(type_, Basic):
        return type_.kind not in _HELD_BACK
    return all(map(_judge, parts_of(type_)))
