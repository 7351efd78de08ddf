"""The shape of an event in octets: what is the same in every event of its kind, the names and TypeCodes of its fields.

The pads between are no part of it. Nor are those inside TypeCodes: omniORB leaves in both whatever was in its memory.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, NamedTuple

from mappings.cdr.decoders import decoders_for
from mappings.cdr.input import Input
from mappings.cdr.typecode_cache import Known, parameters, read_typecode
from mappings.cdr.typecode_kinds import FIXED, STRING, WSTRING
from mappings.idl_types import STRING as STRING_TYPE
from mappings.idl_types import IdlType

_SHORT: Final = (STRING, WSTRING, FIXED)
"""Kinds whose parameters stand in a number."""


class TypeOctets(NamedTuple):
    type: IdlType
    head: bytes  # the kind; then the one parameter, or the length of all parameters
    parameters: bytes
    known: Known | None  # tells the parameters from others, where there are any

    def key(self) -> Hashable:
        return self.head, 0 if self.known is None else self.known.masked


class Field(NamedTuple):
    name: str
    octets: bytes  # of the name, with its length
    type: TypeOctets


class Shape(NamedTuple):
    header: tuple[Field, ...]
    data: tuple[Field, ...]
    body: TypeOctets

    def key(self) -> Hashable:
        """Equal for equal shapes; hashing types would take far longer."""
        fields = tuple((field.octets, field.type.key()) for field in (*self.header, *self.data))
        return len(self.header), fields, self.body.key()


def shape_at(body: bytes, pos: int, little: bool) -> Shape:
    """Of an event that can be read; its `variable_header` begins at the position."""
    return _Learner(Input(body, pos, little=little)).shape()


def type_at(body: bytes, pos: int, little: bool) -> TypeOctets:
    """Of an any that can be read."""
    return _Learner(Input(body, pos, little=little)).type()


class _Learner:
    def __init__(self, source: Input) -> None:
        self._source = source
        self._of = decoders_for(source.little)

    def shape(self) -> Shape:
        return Shape(self._fields(), self._fields(), self.type())

    def _fields(self) -> tuple[Field, ...]:
        return tuple(self._field() for _ in range(self._source.ulong()))

    def _field(self) -> Field:
        source = self._source
        start = (source.pos + 3) & ~3
        name = self._of(STRING_TYPE)(source, 0)
        octets = source.data[start : source.pos]
        type_ = self.type()
        self._of(type_.type)(source, 1)
        return Field(name, octets, type_)

    def type(self) -> TypeOctets:
        source = self._source
        start = (source.pos + 3) & ~3
        type_ = read_typecode(source, 0)
        octets = source.data[start : source.pos]
        kind = int.from_bytes(octets[:4], "little" if source.little else "big")
        if len(octets) == 4 or kind in _SHORT:
            return TypeOctets(type_, octets, b"", None)
        return TypeOctets(type_, octets[:8], octets[8:], parameters(kind, octets[8:]))
