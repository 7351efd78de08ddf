"""TypeCodes from octets, indirections included.

An indirection to a type that encloses it is a recursion; one to a type that is complete stands for the whole type. Compact
TypeCodes have no names: members and labels then get their position for a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import calcsize, unpack_from
from typing import Any, Final, NamedTuple

from mappings.cdr import typecode_kinds as kinds
from mappings.cdr.errors import ends_early, malformed
from mappings.idl_types import (
    OBJECT,
    Alias,
    Array,
    Basic,
    Enum,
    Exception_,
    Fixed,
    IdlType,
    Member,
    ObjRef,
    Recursive,
    Sequence,
    String,
    Struct,
    Union,
    UnionMember,
    Value,
    ValueBox,
    WString,
    unalias,
)
from mappings.limits import MAX_DEPTH, MAX_TYPE_NODES, too_deep
from mappings.type_compiler import substitute

BASIC_TYPES: Final[Mapping[int, IdlType]] = {number: Basic(kind) for kind, number in kinds.BASIC_NUMBERS.items()}


def read_parameters(kind: int, octets: bytes, position: int) -> tuple[IdlType, bytes]:
    """The type of a kind whose parameters are an encapsulation, which stands at a position of the whole.

    The second of the pair has ones for the octets that the type comes from, and zeros for pads and whatever else nobody reads.
    """
    reader = _Reader(octets, position)
    read = bytearray(len(octets))
    found = reader.complex(kind, _Cursor(octets, 0, len(octets), position, read), -8, 0)
    return found.type, bytes(read)


class _Found(NamedTuple):
    """A complete type, with the positions of the enclosing types that its recursions name, and how many types it has."""

    type: IdlType
    free: Mapping[str, int]
    nodes: int


_ONES: Final = {size: b"\xff" * size for size in (1, 2, 4, 8)}


class _Cursor:
    """An encapsulation inside the octets of a TypeCode; alignment counts from its start."""

    __slots__ = ("data", "end", "offset", "order", "pos", "read", "start")

    def __init__(self, data: bytes, start: int, end: int, offset: int, read: bytearray) -> None:
        self.data = data
        self.start = start
        self.end = end
        self.offset = offset  # of the octets in the whole, for error messages
        self.pos = start + 1
        if end <= start or data[start] > 1:
            raise malformed("MAP-CDR-ORDER", "an encapsulation begins with its byte order, 0 or 1", offset + start)
        self.order = "<" if data[start] else ">"
        self.read = read  # ones where octets were read
        read[start] = 0xFF

    def number(self, format_: str, size: int) -> int:
        position = self.start + ((self.pos - self.start + size - 1) & -size)
        if position + size > self.end:
            raise ends_early(self.offset + self.pos)
        self.pos = position + size
        self.read[position : self.pos] = _ONES[size]
        number: int = unpack_from(self.order + format_, self.data, position)[0]
        return number

    def ulong(self) -> int:
        return self.number("L", 4)

    def count(self, smallest: int) -> int:
        """How many things of at least this size follow."""
        count = self.ulong()
        if count * smallest > self.end - self.pos:
            raise ends_early(self.offset + self.pos)
        return count

    def text(self) -> str:
        length = self.count(1)
        octets = self.data[self.pos : self.pos + length]
        self.read[self.pos : self.pos + length] = b"\xff" * length
        self.pos += length
        if octets and octets[-1]:
            raise self.error("MAP-CDR-TEXT", "a string does not end with NUL")
        try:
            text = octets[:-1].decode()
        except UnicodeDecodeError:
            raise self.error("MAP-CDR-TEXT", "a name or repository id is not UTF-8") from None
        if "\0" in text:
            raise self.error("MAP-CDR-TEXT", "a name or repository id holds NUL")
        return text

    def error(self, code: str, message: str) -> Exception:
        return malformed(code, message, self.offset + self.pos)


class _Reader:
    """Reads one TypeCode with all that is in it."""

    def __init__(self, data: bytes, offset: int) -> None:
        self._data = data
        self._offset = offset
        self._complete: dict[int, _Found] = {}
        self._enclosing: dict[int, str | None] = {}  # by position; None: anonymous, or the id is not read yet
        self._nodes = 0

    def _count(self, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MAX_TYPE_NODES:
            raise malformed("MAP-CDR-SIZE", f"a type of more than {MAX_TYPE_NODES} parts", self._offset)

    def any_kind(self, cursor: _Cursor, depth: int) -> _Found:
        kind = cursor.ulong()
        position = cursor.pos - 4
        basic = BASIC_TYPES.get(kind)
        if basic is None and kind == kinds.INDIRECTION:
            return self._indirection(cursor)
        self._count(1)
        if basic is not None:
            return _Found(basic, {}, 1)
        if kind == kinds.STRING:
            return _Found(String(cursor.ulong()), {}, 1)
        if kind == kinds.WSTRING:
            return _Found(WString(cursor.ulong()), {}, 1)
        if kind == kinds.FIXED:
            digits, scale = cursor.number("H", 2), cursor.number("h", 2)
            return _Found(fixed_type(digits, scale, cursor.offset + cursor.pos), {}, 1)
        length = cursor.count(1)
        inner = _Cursor(cursor.data, cursor.pos, cursor.pos + length, cursor.offset, cursor.read)
        cursor.pos += length
        return self.complex(kind, inner, position, depth)

    def _indirection(self, cursor: _Cursor) -> _Found:
        at = cursor.pos
        position = at + cursor.number("l", 4)
        if position in self._enclosing:
            id_ = self._enclosing[position]
            if id_ is None:
                raise cursor.error("MAP-CDR-INDIRECTION", "a recursion to a type without a repository id")
            self._count(1)
            return _Found(Recursive(id_), {id_: position}, 1)
        found = self._complete.get(position)
        if found is None:
            raise cursor.error("MAP-CDR-INDIRECTION", "an indirection leads to no TypeCode")
        return self._closed(found, cursor)

    def _closed(self, found: _Found, cursor: _Cursor) -> _Found:
        """The type with its recursions to types that are not around this place replaced by those types."""
        for _ in range(MAX_DEPTH):
            outside = {id_: at for id_, at in found.free.items() if self._enclosing.get(at) != id_}
            if not outside:
                self._count(found.nodes)
                return found
            whole = {id_: self._complete[at] for id_, at in outside.items() if at in self._complete}
            if len(whole) < len(outside):
                break
            nodes = found.nodes * (1 + sum(part.nodes for part in whole.values()))
            if nodes > MAX_TYPE_NODES:
                self._count(nodes)
            type_ = substitute(found.type, {id_: part.type for id_, part in whole.items()})
            free = {id_: at for id_, at in found.free.items() if id_ not in outside}
            for part in whole.values():
                free.update(part.free)
            found = _Found(type_, free, nodes)
        raise cursor.error("MAP-CDR-INDIRECTION", "an indirection leads to a type that is not complete here")

    def complex(self, kind: int, cursor: _Cursor, position: int, depth: int) -> _Found:
        """A type with parameters, whose kind stands at a position."""
        if depth > MAX_DEPTH:
            raise too_deep()
        self._enclosing[position] = None
        before = self._nodes
        id_, name = (None, "") if kind in (kinds.SEQUENCE, kinds.ARRAY) else (cursor.text(), cursor.text())
        self._enclosing[position] = id_
        free: dict[str, int] = {}
        type_ = self._build(kind, id_ or "", name, _Parts(self, cursor, depth + 1, free))
        del self._enclosing[position]
        if id_ is not None and free.get(id_) == position:
            del free[id_]
        found = _Found(type_, free, self._nodes - before + 1)
        self._complete[position] = found
        return found

    def _build(self, kind: int, id_: str, name: str, parts: _Parts) -> IdlType:
        cursor = parts.cursor
        match kind:
            case kinds.OBJREF:
                return OBJECT if id_ in kinds.OBJECT_IDS else ObjRef(id_, name)
            case kinds.STRUCT | kinds.EXCEPT:
                names = _Names(cursor)
                members = tuple(Member(names.next(), parts.type()) for _ in range(cursor.count(9)))
                return Struct(id_, name, members) if kind == kinds.STRUCT else Exception_(id_, name, members)
            case kinds.UNION:
                return parts.union(id_, name)
            case kinds.ENUM:
                names = _Names(cursor)
                labels = tuple(names.next() for _ in range(cursor.count(4)))
                if not labels:
                    raise cursor.error("MAP-CDR-TYPE", "an enum without labels")
                self._count(len(labels))
                return Enum(id_, name, labels)
            case kinds.SEQUENCE:
                return Sequence(parts.type(), cursor.ulong())
            case kinds.ARRAY:
                element, length = parts.type(), cursor.ulong()
                if not length:
                    raise cursor.error("MAP-CDR-TYPE", "an array of length 0")
                return Array(element, length)
            case kinds.ALIAS:
                return Alias(id_, name, parts.type())
            case kinds.VALUE_BOX:
                content = parts.type()
                if isinstance(unalias(content), Value | ValueBox):
                    raise cursor.error("MAP-CDR-TYPE", "a value box that holds a value")
                return ValueBox(id_, name, content)
            case kinds.VALUE:
                return parts.value(id_, name)
        what = kinds.UNSUPPORTED.get(kind, f"kind {kind}")
        raise cursor.error("MAP-CDR-TYPE", f"a TypeCode of {what} is not supported")


class _Parts:
    """The parameters of one complex TypeCode as they are read."""

    def __init__(self, reader: _Reader, cursor: _Cursor, depth: int, free: dict[str, int]) -> None:
        self.cursor = cursor
        self._reader = reader
        self._depth = depth
        self._free = free

    def type(self) -> IdlType:
        found = self._reader.any_kind(self.cursor, self._depth)
        self._free.update(found.free)
        return found.type

    def union(self, id_: str, name: str) -> Union:
        cursor = self.cursor
        discriminator = self.type()
        plain = unalias(discriminator)
        format_ = kinds.LABEL_FORMATS.get(plain.kind)
        if format_ is None:
            raise cursor.error("MAP-CDR-TYPE", f"a union switched by {plain.kind}")
        default = cursor.number("l", 4)
        members: list[UnionMember] = []
        labels: set[Any] = set()
        for index in range(cursor.count(10)):
            label = _label(plain, cursor.number(format_, calcsize(f"<{format_}")), cursor)
            if index == default:
                label = None
            if label in labels:
                raise cursor.error("MAP-CDR-TYPE", "a union with one label twice")
            labels.add(label)
            members.append(UnionMember(label, cursor.text() or f"_{index + 1}", self.type()))
        return Union(id_, name, discriminator, tuple(members))

    def value(self, id_: str, name: str) -> Value:
        cursor = self.cursor
        modifier = cursor.number("h", 2)
        if not 0 <= modifier < len(kinds.MODIFIERS):
            raise cursor.error("MAP-CDR-TYPE", f"a valuetype with the modifier {modifier}")
        base: IdlType | None = self.type()
        if base == Basic("null"):
            base = None
        elif not isinstance(base, Value):
            raise cursor.error("MAP-CDR-TYPE", "a valuetype whose base is none")
        names = _Names(cursor, base)
        members = []
        for _ in range(cursor.count(11)):
            member, type_ = names.next(), self.type()
            visibility = kinds.VISIBILITIES[cursor.number("h", 2) & 1]
            members.append(Member(member, type_, visibility))
        return Value(id_, name, base, tuple(members), kinds.MODIFIERS[modifier])


class _Names:
    """The names of members or labels, which must differ."""

    def __init__(self, cursor: _Cursor, base: IdlType | None = None) -> None:
        self._cursor = cursor
        self._seen: set[str] = set()
        while isinstance(base, Value):
            self._seen.update(member.name for member in base.members)
            base = base.base

    def next(self) -> str:
        name = self._cursor.text() or f"_{len(self._seen) + 1}"
        if name in self._seen:
            raise self._cursor.error("MAP-CDR-TYPE", f"two members of the name {name[:40]}")
        self._seen.add(name)
        return name


def _label(discriminator: IdlType, number: int, cursor: _Cursor) -> bool | int | str | None:
    if isinstance(discriminator, Enum):
        if number >= len(discriminator.members):
            raise cursor.error("MAP-CDR-TYPE", f"a union's label {number} is no label of {discriminator.name}")
        return discriminator.members[number]
    if discriminator.kind == "boolean":
        return bool(number)
    return chr(number) if discriminator.kind == "char" else number


def fixed_type(digits: int, scale: int, position: int) -> Fixed:
    if not (1 <= digits <= 31 and 0 <= scale <= digits):
        raise malformed("MAP-CDR-TYPE", f"fixed<{digits},{scale}>", position)
    return Fixed(digits, scale)
