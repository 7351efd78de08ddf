"""Plans for events of one shape in octets, and for anys of one type: straight code that makes them, or only judges them.

A plan for events begins at the `variable_header`; the three names before it are read by who looks for the plan. A plan returns
None for octets of another shape, and for those that the thorough way must look into. It may raise any of PLAN_ERRORS, which
say no more than that.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from struct import Struct as Packing
from typing import Any, Final, Literal, TypeAlias

from mappings.cdr.event_decoder import make_any, make_event
from mappings.cdr.event_shape import Field, Shape, TypeOctets
from mappings.cdr.moving import is_movable
from mappings.cdr.straight_code import StraightCode
from mappings.cdr.value_code import MAX_TYPES, Refused, ValueCode, count_types, is_for_straight_code
from mappings.cdr.walked import Walked
from mappings.errors import MappingError
from mappings.idl_types import NULL
from mappings.model import NULL_ANY, Property
from mappings.plan_source import PlanSource

Plan: TypeAlias = Callable[..., Any]
"""Takes the octets, the place of the `variable_header` and the three names before it; or the octets and the place of an any."""

PLAN_ERRORS: Final = (struct.error, IndexError, ValueError, MappingError, Refused)


def event_plan(shape: Shape, little: bool) -> Plan | None:
    """Makes the event; the result is a pair of it and where it ends. None where straight code is not for the shape."""
    if not _are_for_straight_code(_types(shape)):
        return None
    writer = _Writer(little=little, makes=True)
    header, data = writer.properties(shape.header), writer.properties(shape.data)
    value = writer.value(shape.body)
    body = "NULL_ANY" if shape.body.type == NULL else f"make_any({writer.source.constant(shape.body.type)}, {value})"
    writer.code.here()
    return writer.event_plan(f"make_event(domain_name, type_name, event_name, {header}, {data}, {body}), p")


def walk_plan(shape: Shape, little: bool) -> Plan | None:
    """Judges what `event_plan` would make; the result is Walked."""
    if not _are_for_straight_code(_types(shape)):
        return None
    writer = _Writer(little=little, makes=False)
    writer.properties(shape.header)
    writer.properties(shape.data)
    writer.value(shape.body)
    writer.code.here()
    movable = all(is_movable(part.type) for part in _types(shape))
    return writer.event_plan(f"new(Walked, (domain_name, type_name, {not shape.header}, p, {movable}))")


def any_plan(type_: TypeOctets, little: bool) -> Plan | None:
    """Makes the any; the result is a pair of it and where it ends."""
    if not _are_for_straight_code([type_]):
        return None
    writer = _Writer(little=little, makes=True)
    value = writer.value(type_)
    writer.code.here()
    return writer.plan("body, p", f"make_any({writer.source.constant(type_.type)}, {value}), p")


def _types(shape: Shape) -> list[TypeOctets]:
    return [*(field.type for field in shape.header), *(field.type for field in shape.data), shape.body]


def _are_for_straight_code(types: list[TypeOctets]) -> bool:
    if sum(count_types(part.type) for part in types) > MAX_TYPES:
        return False
    return all(is_for_straight_code(part.type) for part in types)


class _Writer:
    def __init__(self, *, little: bool, makes: bool) -> None:
        self.source = PlanSource(
            new=tuple.__new__, Property=Property, make_any=make_any, make_event=make_event, NULL_ANY=NULL_ANY,
            Walked=Walked, Packing=Packing,
        )  # fmt: skip
        self.code = StraightCode(self.source, little=little)
        self._values = ValueCode(self.source, self.code, little=little, makes=makes)
        self._order: Literal["little", "big"] = "little" if little else "big"

    def properties(self, fields: tuple[Field, ...]) -> str:
        """An expression for the tuple of them."""
        self.code.constant(len(fields).to_bytes(4, self._order), 4)
        made = ""
        for field in fields:
            self.code.constant(field.octets, 4)
            value = self.value(field.type)
            made += f"new(Property, ({field.name!r}, {self.source.constant(field.type.type)}, {value})), "
        return f"({made})"

    def value(self, type_: TypeOctets) -> str:
        """What follows its TypeCode."""
        self.code.constant(type_.head, 4)
        if type_.known is not None:
            self.code.alike(type_.parameters, type_.known.is_at)
        return self._values.value(type_.type, 1)

    def event_plan(self, result: str) -> Plan | None:
        return self.plan("body, p, domain_name, type_name, event_name", result)

    def plan(self, signature: str, result: str) -> Plan | None:
        self.source.line(f"return {result}")
        return self.source.function(signature)
