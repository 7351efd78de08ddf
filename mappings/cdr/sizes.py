"""How many octets a value takes at least: what makes a length believable before room is made for so many elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mappings.cdr.numbers import fixed_size
from mappings.idl_types import Alias, Array, Basic, Exception_, Fixed, IdlType, Recursive, Struct, Union

_BASIC: Final[Mapping[str, int]] = {
    "null": 0, "void": 0, "boolean": 1, "char": 1, "wchar": 1, "octet": 1, "short": 2, "ushort": 2, "long": 4, "ulong": 4,
    "longlong": 8, "ulonglong": 8, "float": 4, "double": 8, "longdouble": 16, "any": 4, "TypeCode": 4, "Object": 8,
}  # fmt: skip


def smallest_size(type_: IdlType) -> int:
    """The octets of the smallest value, without pads."""
    match type_:
        case Basic(kind):
            return _BASIC[kind]
        case Fixed():
            return fixed_size(type_)
        case Struct():
            return sum(smallest_size(member.type) for member in type_.members)
        case Exception_():
            return 4 + sum(smallest_size(member.type) for member in type_.members)
        case Union():
            return smallest_size(type_.discriminator)
        case Array():
            return type_.length * smallest_size(type_.element)
        case Alias():
            return smallest_size(type_.type)
        case Recursive():
            return 1  # on the way to the type that it names there is a length, a tag or a discriminator
        case _:
            return 4  # a length, a tag, an ordinal
