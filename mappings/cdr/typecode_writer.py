"""TypeCodes as octets, indirections included."""

from __future__ import annotations

from struct import pack
from typing import Any, Final, NamedTuple

from mappings.cdr import typecode_kinds as kinds
from mappings.cdr.output import PADS
from mappings.idl_types import (
    Alias,
    Array,
    Basic,
    Enum,
    Exception_,
    Fixed,
    IdlType,
    ObjRef,
    Recursive,
    Sequence,
    String,
    Struct,
    Union,
    Value,
    ValueBox,
    WString,
    unalias,
)
from mappings.limits import CACHED_TYPES
from mappings.type_compiler import free_recursions, height

_ORDERS: Final = {True: "<", False: ">"}


class TypeCodes:
    """The octets of TypeCodes in one byte order, remembered by the identity of the type.

    They begin with the kind, which must stand at a multiple of four; what follows does not depend on where that is.
    """

    def __init__(self, *, little: bool) -> None:
        self._order = _ORDERS[little]
        self._known: dict[int, tuple[IdlType, bytes]] = {}

    def __call__(self, type_: IdlType) -> bytes:
        known = self._known.get(id(type_))
        if known is not None:  # the entry keeps the type alive, so that nothing else can have its id
            return known[1]
        height(type_)
        place = _Place(bytearray(), 0, self._order)
        _write(type_, place, _Written({}, {}))
        octets = bytes(place.out)
        if len(self._known) >= CACHED_TYPES:
            self._known.clear()
        self._known[id(type_)] = (type_, octets)
        return octets


class _Place(NamedTuple):
    """Octets in the making that are aligned by themselves; `base` is the position of the first in the whole."""

    out: bytearray
    base: int
    order: str

    def put(self, format_: str, number: int, size: int = 4) -> None:
        self.out.extend(PADS[-len(self.out) & (size - 1)])
        self.out.extend(pack(self.order + format_, number))

    def ulong(self, number: int) -> None:
        self.put("L", number)

    def text(self, text: str) -> None:
        octets = text.encode()
        self.ulong(len(octets) + 1)
        self.out.extend(octets + b"\0")

    def position(self) -> int:
        """Where the next ulong will stand."""
        return self.base + ((len(self.out) + 3) & ~3)


class _Written(NamedTuple):
    """Where what has been written stands: named types, and the types around the present place by repository id."""

    types: dict[Any, int]
    enclosing: dict[str, int]


def _write(type_: IdlType, place: _Place, written: _Written) -> None:
    match type_:
        case Basic("Object"):
            type_ = ObjRef("", kinds.OBJECT_NAME)
        case Basic(kind):
            place.ulong(kinds.BASIC_NUMBERS[kind])
            return
        case String(bound):
            place.ulong(kinds.STRING)
            place.ulong(bound)
            return
        case WString(bound):
            place.ulong(kinds.WSTRING)
            place.ulong(bound)
            return
        case Fixed(digits, scale):
            place.ulong(kinds.FIXED)
            place.put("H", digits, 2)
            place.put("h", scale, 2)
            return
        case Recursive(id_):
            _indirect(place, written.enclosing[id_])
            return
    if isinstance(type_, Sequence | Array):
        _write_parameters(type_, place, written)
        return
    key = (type_, *((id_, written.enclosing[id_]) for id_ in sorted(free_recursions(type_))))
    known = written.types.get(key)
    if known is not None:
        _indirect(place, known)
        return
    position = place.position()
    written.types[key] = position
    _write_parameters(type_, place, _Written(written.types, {**written.enclosing, type_.id: position}))


def _indirect(place: _Place, position: int) -> None:
    place.ulong(kinds.INDIRECTION)
    place.put("l", position - place.position())


def _write_parameters(type_: Any, place: _Place, written: _Written) -> None:
    """The kind, and its parameters as an encapsulation of their own."""
    position = place.position()
    inner = _Place(bytearray(b"\1"), position + 8, "<")
    if hasattr(type_, "id"):
        inner.text(type_.id)
        inner.text(type_.name)
    kind = _parameters(type_, inner, written)
    place.ulong(kind)
    place.ulong(len(inner.out))
    place.out.extend(inner.out)


def _parameters(type_: Any, inner: _Place, written: _Written) -> int:
    match type_:
        case Struct() | Exception_():
            inner.ulong(len(type_.members))
            for member in type_.members:
                inner.text(member.name)
                _write(member.type, inner, written)
            return kinds.STRUCT if isinstance(type_, Struct) else kinds.EXCEPT
        case Union():
            _union_parameters(type_, inner, written)
            return kinds.UNION
        case Enum():
            inner.ulong(len(type_.members))
            for label in type_.members:
                inner.text(label)
            return kinds.ENUM
        case Sequence():
            _write(type_.element, inner, written)
            inner.ulong(type_.bound)
            return kinds.SEQUENCE
        case Array():
            _write(type_.element, inner, written)
            inner.ulong(type_.length)
            return kinds.ARRAY
        case Alias():
            _write(type_.type, inner, written)
            return kinds.ALIAS
        case ValueBox():
            _write(type_.type, inner, written)
            return kinds.VALUE_BOX
        case Value():
            _value_parameters(type_, inner, written)
            return kinds.VALUE
    return kinds.OBJREF


def _union_parameters(type_: Union, inner: _Place, written: _Written) -> None:
    discriminator = unalias(type_.discriminator)
    format_ = kinds.LABEL_FORMATS[discriminator.kind]
    size = {"B": 1, "h": 2, "H": 2, "q": 8, "Q": 8}.get(format_, 4)
    _write(type_.discriminator, inner, written)
    default = next((index for index, member in enumerate(type_.members) if member.label is None), -1)
    inner.put("l", default)
    inner.ulong(len(type_.members))
    for member in type_.members:
        label = member.label
        number = kinds.default_number(type_) if label is None else kinds.label_number(discriminator, label)
        inner.put(format_, number, size)
        inner.text(member.name)
        _write(member.type, inner, written)


def _value_parameters(type_: Value, inner: _Place, written: _Written) -> None:
    inner.put("h", kinds.MODIFIERS.index(type_.modifier), 2)
    if type_.base is None:
        inner.ulong(kinds.BASIC_NUMBERS["null"])
    else:
        _write(type_.base, inner, written)
    inner.ulong(len(type_.members))
    for member in type_.members:
        inner.text(member.name)
        _write(member.type, inner, written)
        inner.put("h", kinds.VISIBILITIES.index(member.visibility), 2)
