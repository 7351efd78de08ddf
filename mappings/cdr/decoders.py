"""Decoders, compiled per IDL type and byte order. Lengths are compared with what is left before room is made for anything."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from struct import Struct as Packing
from struct import unpack_from
from typing import Any, Final, TypeAlias

from mappings.cdr import references
from mappings.cdr.encoders import FORMATS
from mappings.cdr.errors import malformed, unsupported
from mappings.cdr.input import INDIRECTION, NIL, VALUE_TAGS, Input
from mappings.cdr.numbers import fixed_from_octets, fixed_size, long_double_from_octets
from mappings.cdr.sizes import smallest_size
from mappings.cdr.text import wide_character, wide_text
from mappings.cdr.typecode_cache import read_typecode
from mappings.checking import too_long
from mappings.errors import MappingError
from mappings.idl_types import (
    BOOLEAN,
    CHAR,
    Array,
    Basic,
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
    unalias,
)
from mappings.limits import MAX_DEPTH, too_deep
from mappings.model import Any_, UnionValue
from mappings.type_compiler import Arms, Cell, Fields, TypeCompiler, is_octets

Decoder: TypeAlias = Callable[[Input, int], Any]
"""Reads a value; the last argument is the value's depth."""

Elements: TypeAlias = Callable[[Input, int, int], Any]
"""Reads so many elements at a depth."""


class Decoders(TypeCompiler[Decoder]):
    def __init__(self, *, little: bool) -> None:
        super().__init__()
        self._order = "<" if little else ">"

    def basic(self, kind: str) -> Decoder:
        if kind in FORMATS:
            return _number(Packing(self._order + FORMATS[kind]))
        special: dict[str, Decoder] = {
            "null": _nothing,
            "void": _nothing,
            "boolean": _boolean,
            "char": _char,
            "wchar": _wchar,
            "longdouble": self._long_double,
            "any": self._any,
            "TypeCode": self._typecode,
            "Object": _reference,
        }
        return special[kind]

    def _long_double(self, source: Input, _depth: int) -> float:
        position = (source.pos + 7) & ~7
        if position + 16 > source.limit:
            position = source.cross(7, 16)
        source.pos = position + 16
        octets = source.data[position : position + 16]
        return long_double_from_octets(octets if self._order == ">" else octets[::-1])

    def _any(self, source: Input, depth: int) -> Any_:
        if depth >= MAX_DEPTH:
            raise too_deep()
        type_ = read_typecode(source, depth)
        return Any_(type_, self(type_)(source, depth + 1))

    def _typecode(self, source: Input, depth: int) -> IdlType:
        return read_typecode(source, depth)

    def string(self, type_: String) -> Decoder:
        unpack, bound = Packing(f"{self._order}L").unpack_from, type_.bound

        def decode(source: Input, _depth: int) -> str:
            position = (source.pos + 3) & ~3
            if position + 4 > source.limit:
                position = source.cross(3, 4)
            source.pos = position + 4
            length = unpack(source.data, position)[0]
            if not length:
                return ""  # some ORBs write an empty string without its NUL
            octets = source.octets(length)
            if octets[-1] or octets.find(0) != length - 1:
                raise malformed("MAP-CDR-TEXT", "a string holds NUL, or does not end with it", source.pos)
            if bound and length - 1 > bound:
                raise too_long("string", length - 1, bound)
            try:
                return str(octets[:-1], "utf-8")
            except UnicodeDecodeError:
                raise _not_utf8(source) from None

        return decode

    def wstring(self, type_: WString) -> Decoder:
        def decode(source: Input, _depth: int) -> str:
            octets = source.octets(source.ulong())
            text = wide_text(octets, source.pos)
            if type_.bound and len(text) > type_.bound:
                raise too_long("wstring", len(text), type_.bound)
            return text

        return decode

    def fixed(self, type_: Fixed) -> Decoder:
        size = fixed_size(type_)

        def decode(source: Input, _depth: int) -> Any:
            octets = source.octets(size)
            try:
                return fixed_from_octets(type_, octets)
            except ValueError:
                raise malformed("MAP-CDR-NUMBER", f"{octets.hex()} is no fixed-point number", source.pos) from None

        return decode

    def enum(self, type_: Enum) -> Decoder:
        labels = type_.members
        number = _number(Packing(f"{self._order}L"))

        def decode(source: Input, depth: int) -> str:
            ordinal = number(source, depth)
            if ordinal >= len(labels):
                raise malformed("MAP-CDR-ENUM", f"{type_.name} has no label number {ordinal}", source.pos)
            return labels[ordinal]

        return decode

    def struct(self, type_: Struct | Exception_ | Value, fields: Fields[Decoder]) -> Decoder:
        def decode(source: Input, depth: int) -> dict[str, Any]:
            depth += 1
            return {name: field(source, depth) for name, field in fields}

        if not isinstance(type_, Exception_):
            return decode
        repository_id = self.string(String())

        def decode_exception(source: Input, depth: int) -> dict[str, Any]:
            found = repository_id(source, depth)
            if found != type_.id:
                raise unsupported(f"the exception {found[:80]!r} where {type_.id} was announced")
            return decode(source, depth)

        return decode_exception

    def union(self, type_: Union, discriminator: Decoder, arms: Arms[Decoder]) -> Decoder:
        def decode(source: Input, depth: int) -> UnionValue:
            label = discriminator(source, depth + 1)
            arm = arms.selected_by(label)
            return UnionValue(label) if arm is None else UnionValue(label, arm.function(source, depth + 1))

        return decode

    def sequence(self, type_: Sequence, element: Decoder) -> Decoder:
        elements = self._elements(type_, element)
        number = _number(Packing(f"{self._order}L"))
        bound = type_.bound

        def decode(source: Input, depth: int) -> Any:
            length = number(source, depth)
            if bound and length > bound:
                raise too_long("sequence", length, bound)
            return elements(source, length, depth)

        return decode

    def array(self, type_: Array, element: Decoder) -> Decoder:
        elements = self._elements(type_, element)
        return lambda source, depth: elements(source, type_.length, depth)

    def _elements(self, type_: Sequence | Array, element: Decoder) -> Elements:
        if is_octets(type_):
            return lambda source, length, _depth: source.octets(length)
        size = smallest_size(type_.element)
        one_by_one = partial(_one_by_one, element, size)
        plain = unalias(type_.element)
        if isinstance(plain, Basic) and plain.kind in FORMATS:
            return partial(_numbers, self._order, FORMATS[plain.kind], size, one_by_one)
        if plain == BOOLEAN:
            return lambda source, length, _depth: [octet != 0 for octet in source.octets(length)]
        if plain == CHAR:
            return lambda source, length, _depth: list(source.octets(length).decode("latin-1"))
        return one_by_one

    def box(self, type_: ValueBox, content: Decoder) -> Decoder:
        return self._value(None, content)

    def value(self, type_: Value, fields: Fields[Decoder]) -> Decoder:
        members = self.struct(type_, fields)
        if type_.modifier in ("custom", "abstract"):
            members = partial(_cannot_unmarshal, type_)
        return self._value(type_.id, members)

    def _value(self, id_: str | None, content: Decoder) -> Decoder:
        """A valuetype of exactly this repository id, or a value box, whose content does not depend on the id."""

        def decode(source: Input, depth: int) -> Any:
            tag = source.value_tag()
            position = source.pos - 4
            if tag == NIL:
                return None
            if tag == INDIRECTION:
                offset = source.long()
                return source.again(source.pos - 4, offset)
            if tag not in VALUE_TAGS:
                raise malformed("MAP-CDR-VALUE", f"{tag & 0xFFFFFFFF:#010x} is no tag of a value", position)
            found = _header(source, tag)
            if id_ is not None and found is not None and found != id_:
                raise unsupported(f"a value of type {found[:80]!r} where {id_} was announced")
            chunked = bool(tag & 8)
            if source.chunk_level and not chunked:
                raise malformed("MAP-CDR-CHUNK", "a value without chunks inside one with chunks", position)
            began_at, extra = source.pos, source.extra()
            if chunked:
                source.begin_chunked()
            value = content(source, depth)
            if chunked:
                source.end_chunked()
            source.remember(position, value, began_at, extra)
            return value

        return decode

    def recurse(self, cell: Cell[Decoder]) -> Decoder:
        def decode(source: Input, depth: int) -> Any:
            if depth >= MAX_DEPTH:
                raise too_deep()
            return cell.function(source, depth)

        return decode


def _number(packing: Packing) -> Decoder:
    unpack, size = packing.unpack_from, packing.size
    mask = size - 1

    def decode(source: Input, _depth: int) -> Any:
        position = (source.pos + mask) & ~mask
        if position + size > source.limit:
            position = source.cross(mask, size)
        source.pos = position + size
        return unpack(source.data, position)[0]

    return decode


def _nothing(_source: Input, _depth: int) -> None:
    return None


def _boolean(source: Input, _depth: int) -> bool:
    return source.octets(1) != b"\0"


def _char(source: Input, _depth: int) -> str:
    return source.octets(1).decode("latin-1")


def _wchar(source: Input, _depth: int) -> str:
    return wide_character(source.octets(source.octets(1)[0]), source.pos)


def _reference(source: Input, _depth: int) -> str | None:
    type_id = source.octets(source.ulong())
    if type_id and type_id[-1]:
        raise malformed("MAP-CDR-TEXT", "a reference's type id does not end with NUL", source.pos)
    count = source.ulong()
    source.check_room(count, 8)
    profiles = tuple(references.Profile(source.ulong(), source.octets(source.ulong())) for _ in range(count))
    return references.stringify(references.Reference(type_id[:-1], profiles))


def _one_by_one(element: Decoder, size: int, source: Input, length: int, depth: int) -> list[Any]:
    source.check_room(length, size)
    depth += 1
    return [element(source, depth) for _ in range(length)]


def _numbers(
    order: str, format_: str, size: int, one_by_one: Elements, source: Input, length: int, depth: int
) -> list[Any]:
    """All at once where they are in one chunk."""
    if not length:
        return []
    position = (source.pos + size - 1) & -size
    end = position + length * size
    if end > source.limit:
        return one_by_one(source, length, depth)  # type: ignore[no-any-return]
    source.pos = end
    return list(unpack_from(f"{order}{length}{format_}", source.data, position))


_ID_LIST: Final = 6
_SINGLE_ID: Final = 2
_CODEBASE: Final = 1


def _header(source: Input, tag: int) -> str | None:
    """The repository id in a value's header, if there is one; of a list, the first: the others are its bases."""
    if tag & _CODEBASE:
        _header_text(source)
    kind = tag & _ID_LIST
    if kind == _SINGLE_ID:
        return _header_text(source)
    if kind != _ID_LIST:
        return None
    count = source.ulong()
    if count == 0xFFFFFFFF:  # an indirection to an earlier list
        listed = source.again_ids(source.long())
    else:
        source.check_room(count, 4)
        at = source.pos - 4
        listed = [_header_text(source) for _ in range(count)]
        source.remember_ids(at, listed)
    return listed[0] if listed else None


def _header_text(source: Input) -> str:
    length = source.ulong()
    if length == 0xFFFFFFFF:
        return source.again_ids(source.long())[0]
    at = source.pos - 4
    try:
        text = source.octets(length)[:-1].decode()
    except UnicodeDecodeError:
        raise _not_utf8(source) from None
    source.remember_ids(at, [text])
    return text


def _cannot_unmarshal(type_: Value, _source: Input, _depth: int) -> Any:
    raise unsupported(f"a valuetype that is {type_.modifier} cannot be read: {type_.name}")


def _not_utf8(source: Input) -> MappingError:
    error = malformed("MAP-CDR-TEXT", "a string is not UTF-8", source.pos)
    error.hint = "the sender must encode with the char code set UTF-8"
    return error


_LITTLE: Final = Decoders(little=True)
_BIG: Final = Decoders(little=False)


def decoders_for(little: bool) -> Decoders:
    return _LITTLE if little else _BIG
