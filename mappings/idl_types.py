"""IDL types as plain, hashable descriptions, independent of any ORB (FORMS.md section 1).

Two types are equal when they describe the same IDL type. `named` only remembers that the JSON form spoke of a well-known
type by its repository id alone; it is no part of the type's identity.

How a value of each type looks in Python (FORMS.md section 2 gives the JSON form):

    boolean                         bool
    octet, the integer types        int
    float, double, longdouble       float
    char, wchar, string, wstring    str
    fixed                           decimal.Decimal
    enum                            str, the label
    struct, exception, valuetype    dict by member name, in member order (a nil valuetype: None)
    union                           mappings.model.UnionValue
    sequence, array                 list; bytes where the element type is octet (aliases seen through)
    any                             mappings.model.Any_
    Object, object reference        str, the stringified IOR, or None
    TypeCode                        IdlType
    value box                       the boxed value, or None
    null, void                      None
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

BASIC_KINDS: Final = (
    "null", "void", "boolean", "char", "wchar", "octet", "short", "ushort", "long", "ulong", "longlong",
    "ulonglong", "float", "double", "longdouble", "any", "TypeCode", "Object",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Basic:
    kind: str


@dataclass(frozen=True, slots=True)
class String:
    bound: int = 0

    kind = "string"


@dataclass(frozen=True, slots=True)
class WString:
    bound: int = 0

    kind = "wstring"


@dataclass(frozen=True, slots=True)
class Fixed:
    digits: int
    scale: int

    kind = "fixed"


@dataclass(frozen=True, slots=True)
class Member:
    name: str
    type: IdlType
    visibility: str = "public"  # of a valuetype's member: "public" or "private"


@dataclass(frozen=True, slots=True)
class Struct:
    id: str
    name: str
    members: tuple[Member, ...]
    named: bool = field(default=False, compare=False)

    kind = "struct"


@dataclass(frozen=True, slots=True)
class Exception_:
    id: str
    name: str
    members: tuple[Member, ...]
    named: bool = field(default=False, compare=False)

    kind = "exception"


@dataclass(frozen=True, slots=True)
class UnionMember:
    """One label of an arm; an arm with three labels is three entries. The default arm's label is None."""

    label: bool | int | str | None
    name: str
    type: IdlType


@dataclass(frozen=True, slots=True)
class Union:
    id: str
    name: str
    discriminator: IdlType
    members: tuple[UnionMember, ...]
    named: bool = field(default=False, compare=False)

    kind = "union"


@dataclass(frozen=True, slots=True)
class Enum:
    id: str
    name: str
    members: tuple[str, ...]
    named: bool = field(default=False, compare=False)

    kind = "enum"


@dataclass(frozen=True, slots=True)
class Sequence:
    element: IdlType
    bound: int = 0

    kind = "sequence"


@dataclass(frozen=True, slots=True)
class Array:
    element: IdlType
    length: int

    kind = "array"


@dataclass(frozen=True, slots=True)
class Alias:
    id: str
    name: str
    type: IdlType
    named: bool = field(default=False, compare=False)

    kind = "alias"


@dataclass(frozen=True, slots=True)
class ObjRef:
    id: str
    name: str
    named: bool = field(default=False, compare=False)

    kind = "objref"


@dataclass(frozen=True, slots=True)
class ValueBox:
    id: str
    name: str
    type: IdlType
    named: bool = field(default=False, compare=False)

    kind = "value_box"


@dataclass(frozen=True, slots=True)
class Value:
    id: str
    name: str
    base: IdlType | None
    members: tuple[Member, ...]  # its own; a base's members come before them in a value
    modifier: str = "none"  # none, custom, abstract, truncatable
    named: bool = field(default=False, compare=False)

    kind = "value"


@dataclass(frozen=True, slots=True)
class Recursive:
    """Stands for the enclosing type of this repository id."""

    id: str

    kind = "recursive"


IdlType: TypeAlias = (
    Basic | String | WString | Fixed | Struct | Exception_ | Union | Enum | Sequence | Array | Alias | ObjRef | ValueBox
    | Value | Recursive
)  # fmt: skip

NULL: Final = Basic("null")
VOID: Final = Basic("void")
BOOLEAN: Final = Basic("boolean")
CHAR: Final = Basic("char")
WCHAR: Final = Basic("wchar")
OCTET: Final = Basic("octet")
SHORT: Final = Basic("short")
USHORT: Final = Basic("ushort")
LONG: Final = Basic("long")
ULONG: Final = Basic("ulong")
LONGLONG: Final = Basic("longlong")
ULONGLONG: Final = Basic("ulonglong")
FLOAT: Final = Basic("float")
DOUBLE: Final = Basic("double")
LONGDOUBLE: Final = Basic("longdouble")
ANY: Final = Basic("any")
TYPECODE: Final = Basic("TypeCode")
OBJECT: Final = Basic("Object")
STRING: Final = String()
WSTRING: Final = WString()


def unalias(type_: IdlType) -> IdlType:
    """The type behind any number of typedefs."""
    while type(type_) is Alias:
        type_ = type_.type
    return type_
