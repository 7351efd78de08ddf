"""The numbers of the TypeCode kinds (CORBA, TCKind), and what else the writer and the reader of TypeCodes must agree on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mappings.checking import INTEGER_RANGES
from mappings.idl_types import Basic, Enum, IdlType, Union, unalias

BASIC_NUMBERS: Final[Mapping[str, int]] = {
    "null": 0, "void": 1, "short": 2, "long": 3, "ushort": 4, "ulong": 5, "float": 6, "double": 7, "boolean": 8, "char": 9,
    "octet": 10, "any": 11, "TypeCode": 12, "longlong": 23, "ulonglong": 24, "longdouble": 25, "wchar": 26,
}  # fmt: skip
"""Kinds without parameters."""

OBJREF: Final = 14
STRUCT: Final = 15
UNION: Final = 16
ENUM: Final = 17
STRING: Final = 18
SEQUENCE: Final = 19
ARRAY: Final = 20
ALIAS: Final = 21
EXCEPT: Final = 22
WSTRING: Final = 27
FIXED: Final = 28
VALUE: Final = 29
VALUE_BOX: Final = 30
INDIRECTION: Final = 0xFFFFFFFF

UNSUPPORTED: Final[Mapping[int, str]] = {
    13: "Principal", 31: "native", 32: "abstract interface", 33: "local interface", 34: "component", 35: "home", 36: "eventtype",
}  # fmt: skip

OBJECT_NAME: Final = "Object"
"""The TypeCode of a plain Object has this name and no repository id, as omniORB writes it."""
OBJECT_IDS: Final = ("", "IDL:", "IDL:omg.org/CORBA/Object:1.0")
"""The ids that a plain Object is known by: omniORB's, JacORB's, and the specification's."""

MODIFIERS: Final = ("none", "custom", "abstract", "truncatable")
VISIBILITIES: Final = ("private", "public")

LABEL_FORMATS: Final[Mapping[str, str]] = {
    "boolean": "B", "char": "B", "short": "h", "ushort": "H", "long": "l", "ulong": "L", "longlong": "q", "ulonglong": "Q",
    "enum": "L",
}  # fmt: skip
"""How the label of a union's arm is packed, by the kind of the discriminator."""


def label_number(discriminator: IdlType, label: bool | int | str) -> int:
    """The number that stands for a label. The discriminator's aliases have been seen through."""
    if isinstance(discriminator, Enum):
        return discriminator.members.index(str(label))
    return ord(label) if isinstance(label, str) else int(label)


def default_number(union: Union) -> int:
    """The number in the place of the default arm's label: one that no arm has.

    Nobody reads it. It is the one that omniidl would choose, so that TypeCodes equal those of compiled IDL.
    """
    discriminator = unalias(union.discriminator)
    taken = {label_number(discriminator, member.label) for member in union.members if member.label is not None}
    match discriminator:
        case Enum(members=labels):
            candidates = range(len(labels))
        case Basic("boolean"):
            candidates = range(2)
        case Basic("char"):
            candidates = range(255, -1, -1)
        case Basic(kind) if kind.startswith("u"):
            candidates = range(INTEGER_RANGES[kind][1], -1, -1)
        case _:
            candidates = range(*INTEGER_RANGES[discriminator.kind])
    return next((number for number in candidates if number not in taken), 0)
