"""Straight code for the values of an IDL type: to make them, or only to judge them, as the decoders do.

What is rare, or says itself how it goes on, is left to the type's decoder, with an input of its own. A value that the decoder
compares with others of the event, or counts, is not for straight code: the octets are then read thoroughly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mappings.cdr.decoders import Decoder, decoders_for
from mappings.cdr.encoders import FORMATS
from mappings.cdr.input import Input
from mappings.cdr.numbers import fixed_from_octets, fixed_size
from mappings.cdr.sizes import smallest_size
from mappings.cdr.straight_code import StraightCode
from mappings.cdr.text import wide_text
from mappings.idl_types import (
    CHAR,
    Array,
    Basic,
    Enum,
    Fixed,
    IdlType,
    Recursive,
    Sequence,
    String,
    Struct,
    Value,
    ValueBox,
    WString,
    unalias,
)
from mappings.plan_source import PlanSource
from mappings.type_compiler import is_octets, parts_of

_FORMATS: Final = {**FORMATS, "boolean": "?"}
_MAX_NESTING: Final = 8
"""Of structs and sequences in straight code: Python nests no more than 20 loops."""
MAX_TYPES: Final = 1000
"""Of the parts of an event's types: a plan for more would be long to make."""


class Refused(Exception):
    """The octets are for the thorough way."""


def is_for_straight_code(type_: IdlType) -> bool:
    """Whether values do not look at others of their event, or at what all have in common."""
    if isinstance(type_, Value | ValueBox):
        return False
    if isinstance(type_, Sequence | Array) and not smallest_size(type_.element):
        return False
    return all(map(is_for_straight_code, parts_of(type_)))


def count_types(type_: IdlType) -> int:
    return 1 + sum(map(count_types, parts_of(type_)))


class ValueCode:
    """`makes`: the code makes values. Otherwise it judges them alone, and every expression is empty."""

    def __init__(self, source: PlanSource, code: StraightCode, *, little: bool, makes: bool) -> None:
        self._source = source
        self._code = code
        self._little = little
        self._makes = makes

    def value(self, type_: IdlType, depth: int) -> str:
        """An expression for the value, for when the code is settled."""
        return self._part(type_, depth) if _has_recursions(type_) else self._value(type_, depth, 0)

    def _value(self, type_: IdlType, depth: int, nesting: int) -> str:
        plain = unalias(type_)
        match plain:
            case Basic("null" | "void"):
                return "None"
            case Basic("char"):
                return f"chr({self._number('B')})"
            case Basic(kind) if kind in _FORMATS:
                return self._number(_FORMATS[kind])
            case String():
                return self._text(plain)
            case WString():
                return self._wide_text(plain)
            case Enum():
                return self._label(plain)
            case Fixed():
                return self._fixed(plain)
            case Struct() if nesting < _MAX_NESTING:
                members = [(m.name, self._value(m.type, depth + 1, nesting + 1)) for m in plain.members]
                return f"{{{', '.join(f'{name!r}: {value}' for name, value in members)}}}"
            case Sequence() if nesting < _MAX_NESTING:
                return self._sequence(plain, depth, nesting)
        return self._part(type_, depth)

    def _number(self, format_: str) -> str:
        return self._code.number(format_, wanted=self._makes)

    def _text(self, type_: String) -> str:
        length = self._code.number("L")
        if type_.bound:
            self._code.doubt(f"{length} > {type_.bound + 1}")
        return self._code.text(length, wanted=self._makes)

    def _wide_text(self, type_: WString) -> str:
        octets = self._code.blob(self._code.number("L"), wanted=True)
        text = self._source.variable()
        self._source.line(f"{text} = {self._source.constant(wide_text)}({octets}, p)")
        if type_.bound:
            self._source.line(f"if len({text}) > {type_.bound}: return None")
        return text

    def _label(self, type_: Enum) -> str:
        number = self._code.number("L")
        self._code.doubt(f"{number} >= {len(type_.members)}")
        return f"{self._source.constant(type_.members)}[{number}]"

    def _fixed(self, type_: Fixed) -> str:
        octets = self._code.octets(fixed_size(type_))
        self._code.settled()
        number = self._source.variable()
        read, type_constant = self._source.constant(fixed_from_octets), self._source.constant(type_)
        self._source.line(f"{number} = {read}({type_constant}, {octets})")
        return number

    def _sequence(self, type_: Sequence, depth: int, nesting: int) -> str:
        code = self._code
        length = code.number("L")
        if type_.bound:
            code.doubt(f"{length} > {type_.bound}")
        element = unalias(type_.element)
        if is_octets(type_):
            return code.blob(length, wanted=self._makes)
        if element == CHAR:
            return f"list({code.blob(length, wanted=self._makes)}.decode('latin-1'))"
        if isinstance(element, Basic) and element.kind in _FORMATS:
            return code.numbers(_FORMATS[element.kind], length, wanted=self._makes)
        code.settled()
        items = self._source.variable()
        if self._makes:
            self._source.line(f"{items} = []")
        with code.repeated(length):
            item = self._value(type_.element, depth + 1, nesting + 1)
            code.settled()
            if self._makes:
                self._source.line(f"{items}.append({item})")
        return items

    def _part(self, type_: IdlType, depth: int) -> str:
        """What the type's decoder reads."""
        part, line = self._source.variable(), self._source.line
        read = self._source.constant(_part_reader(decoders_for(self._little)(type_), self._little, depth))
        self._code.here()
        line(f"{part}, p = {read}(body, p)")
        return part


def _has_recursions(type_: IdlType) -> bool:
    return isinstance(type_, Recursive) or any(map(_has_recursions, parts_of(type_)))


def _part_reader(decode: Decoder, little: bool, depth: int) -> Callable[[bytes, int], tuple[Any, int]]:
    def read(body: bytes, position: int) -> tuple[Any, int]:
        source = Input(body, position, little=little)
        value = decode(source, depth)
        if source.has_traces():
            raise Refused
        return value, source.pos

    return read
