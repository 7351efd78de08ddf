"""Writers of JSON values, compiled per IDL type. Values have been checked before. What is its own form is not copied."""

from __future__ import annotations

from math import isfinite
from typing import Any

from mappings.forms.basics import (
    BASIC_WRITERS,
    EXACT,
    Writer,
    write_double,
    write_fixed,
    write_octets,
    write_wide_integer,
)
from mappings.forms.type_writers import shared_form
from mappings.idl_types import (
    Array,
    Enum,
    Exception_,
    Fixed,
    IdlType,
    Sequence,
    String,
    Struct,
    Union,
    Value,
    ValueBox,
    WString,
)
from mappings.model import NO_ARM, Any_, UnionValue
from mappings.type_compiler import Arms, Cell, Fields, TypeCompiler, is_octets


def as_it_is(value: Any, _depth: int) -> Any:
    """The writer of values that are their own form."""
    return value


class _ValueWriters(TypeCompiler[Writer]):
    def basic(self, kind: str) -> Writer:
        if kind == "any":
            return self.write_any
        if kind == "TypeCode":
            return lambda value, _depth: shared_form(value)
        return BASIC_WRITERS.get(kind, as_it_is)

    def write_any(self, value: Any_, depth: int) -> dict[str, Any]:
        return {"type": shared_form(value.type), "value": self(value.type)(value.value, depth)}

    def string(self, type_: String) -> Writer:
        return as_it_is

    def wstring(self, type_: WString) -> Writer:
        return as_it_is

    def fixed(self, type_: Fixed) -> Writer:
        return write_fixed(type_)

    def enum(self, type_: Enum) -> Writer:
        return as_it_is

    def struct(self, type_: Struct | Exception_ | Value, fields: Fields[Writer]) -> Writer:
        names = tuple(name for name, _ in fields)
        if all(field is as_it_is for _, field in fields):
            return lambda value, _depth: value if tuple(value) == names else {name: value[name] for name in names}
        return lambda value, depth: {name: field(value[name], depth) for name, field in fields}

    def union(self, type_: Union, discriminator: Writer, arms: Arms[Writer]) -> Writer:
        def write(value: UnionValue, depth: int) -> dict[str, Any]:
            form = {"d": discriminator(value.d, depth)}
            arm = arms.selected_by(value.d)
            if arm is not None and value.v is not NO_ARM:
                form["v"] = arm.function(value.v, depth)
            return form

        return write

    def sequence(self, type_: Sequence, element: Writer) -> Writer:
        return _elements(type_, element)

    def array(self, type_: Array, element: Writer) -> Writer:
        return _elements(type_, element)

    def box(self, type_: ValueBox, content: Writer) -> Writer:
        return lambda value, depth: None if value is None else content(value, depth)

    def value(self, type_: Value, fields: Fields[Writer]) -> Writer:
        write = self.struct(type_, fields)
        return lambda value, depth: None if value is None else write(value, depth)

    def recurse(self, cell: Cell[Writer]) -> Writer:
        return lambda value, depth: cell.function(value, depth)  # noqa: PLW0108 - it is not there yet


def _elements(type_: Sequence | Array, element: Writer) -> Writer:
    if is_octets(type_):
        return lambda value, _depth: write_octets(value)
    if element is as_it_is:
        return as_it_is
    if element is write_wide_integer:
        return lambda value, _depth: (
            value
            if not value or (min(value) >= -EXACT and max(value) <= EXACT)
            else list(map(write_wide_integer, value))
        )
    if element is write_double:
        return lambda value, _depth: value if all(map(isfinite, value)) else list(map(write_double, value))
    return lambda value, depth: [element(item, depth) for item in value]


_writers = _ValueWriters()


def value_writer(type_: IdlType) -> Writer:
    """The writer of the values of a type, which have been checked."""
    return _writers(type_)


def write_value(type_: IdlType, value: Any) -> Any:
    """The form of a value that has been checked."""
    return _writers(type_)(value, 0)
