"""TypeCodes that were read before, by their octets: each type is one object, whoever sent it.

What remembers something for a type does so by the identity of the object. omniORB leaves in the pads of a TypeCode whatever was
in its memory, which differs from one process to the next: octets that differ in pads alone are the same TypeCode.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from mappings.cdr import typecode_kinds as kinds
from mappings.cdr.errors import malformed
from mappings.cdr.input import Input
from mappings.cdr.typecode_reader import BASIC_TYPES, fixed_type, read_parameters
from mappings.idl_types import STRING, WSTRING, IdlType, String, WString
from mappings.limits import CACHED_TYPES, MAX_DEPTH, too_deep
from mappings.type_compiler import height

_CACHED_OCTETS: Final = 1 << 16
"""Longer TypeCodes are not kept."""
_ALIKE: Final = 8
"""How many TypeCodes of one kind and length are compared without their pads."""


class Known(NamedTuple):
    """A type, and what its parameters look like once the octets that nobody reads are masked out."""

    type: IdlType
    levels: int
    mask: int
    masked: int

    def is_at(self, octets: bytes) -> bool:
        """Whether octets of this length are the type's parameters."""
        return int.from_bytes(octets, "little") & self.mask == self.masked


_cache: dict[tuple[int, bytes], Known] = {}
_alike: dict[tuple[int, int], tuple[Known, ...]] = {}
_types: dict[IdlType, IdlType] = {}


def read_typecode(source: Input, depth: int) -> IdlType:
    """The type of an any, or a value of type TypeCode, at a depth."""
    kind = source.ulong()
    basic = BASIC_TYPES.get(kind)
    if basic is not None:
        return basic
    if kind == kinds.STRING:
        bound = source.ulong()
        return _one(String(bound)) if bound else STRING
    if kind == kinds.WSTRING:
        bound = source.ulong()
        return _one(WString(bound)) if bound else WSTRING
    if kind == kinds.FIXED:
        number = source.ulong()
        high, low = number >> 16, number & 0xFFFF
        return _one(fixed_type(*((low, high) if source.little else (high, low)), source.pos))
    position = source.pos
    if kind == kinds.INDIRECTION:
        raise malformed("MAP-CDR-INDIRECTION", "an indirection at the start of a TypeCode", position)
    octets = source.octets(source.ulong())
    known = parameters(kind, octets, position)
    if depth + known.levels > MAX_DEPTH:
        raise too_deep()
    return known.type


def parameters(kind: int, octets: bytes, position: int = 0) -> Known:
    """What the parameters of a TypeCode of a kind say. The position is for messages of errors."""
    known = _cache.get((kind, octets))
    if known is not None:
        return known
    for known in _alike.get((kind, len(octets)), ()):
        if known.is_at(octets):
            return known
    type_, read = read_parameters(kind, octets, position)
    levels = height(type_)
    mask = int.from_bytes(read, "little")
    known = Known(_one(type_), levels, mask, int.from_bytes(octets, "little") & mask)
    if len(octets) <= _CACHED_OCTETS:
        _keep(kind, octets, known)
    return known


def _one(type_: IdlType) -> IdlType:
    """The object that stands for all types equal to this one."""
    if len(_types) >= CACHED_TYPES:
        _types.clear()
    return _types.setdefault(type_, type_)


def _keep(kind: int, octets: bytes, known: Known) -> None:
    if len(_cache) >= CACHED_TYPES:
        _cache.clear()
        _alike.clear()
    _cache[kind, octets] = known
    key = kind, len(octets)
    _alike[key] = (known, *_alike.get(key, ())[: _ALIKE - 1])
