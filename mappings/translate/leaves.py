"""IDL types that become one property: what JMS type each takes, and how its value is written and read back.

    IDL                          property          in a stream or map   rule
    boolean                      boolean                                OC-TYPE-1
    short, long, long long       short, int, long                       OC-TYPE-1
    float, double, string        float, double, String                  OC-TYPE-1
    octet                        short                                  OC-TYPE-2
    unsigned short, long         int, long                              OC-TYPE-3
    unsigned long long           long, String above 2^63-1              OC-TYPE-4
    fixed                        String                                 OC-TYPE-5
    char, wchar                  String            char                 OC-TYPE-7, OC-TYPE-8
    wstring                      String                                 OC-TYPE-9
    enum                         String, the label                      OC-TYPE-11
    Object, object reference     String, the IOR                        OC-TYPE-15

Reading back takes whatever an application or a broker made of the value, as long as it fits the IDL type: a wire that turns every
property into a String (STOMP) loses nothing.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from mappings.checking import INTEGER_RANGES, check_value
from mappings.errors import MappingError
from mappings.idl_types import Basic, Enum, Fixed, IdlType, ObjRef, String, WString

Write = Callable[[Any], Any]
Read = Callable[[Any, str], Any]
"""Takes a property's value and its name for an error; gives the IDL value. Raises MappingError."""


class Leaf(NamedTuple):
    kind: str  # of the IDL type
    jms: str  # property type; "" where it depends on the value
    rule: str
    write: Write | None  # None: the value as it is
    read: Read
    element: str = ""  # type in a stream or map, where it is not the property's
    bounded: bool = False

    @property
    def element_type(self) -> str:
        return self.element or self.jms


LARGEST_LONG: Final = 2**63 - 1
NUL_REPLACEMENT: Final = "\ufffd"  # OC-TYPE-10: CORBA strings cannot hold U+0000

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,40}")
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]{1,64}(?:\.[0-9]{0,64})?|\.[0-9]{1,64})")


def unfit(value: object, kind: str, name: str) -> MappingError:
    shown = repr(value) if not isinstance(value, str | bytes) or len(value) <= 40 else f"{value[:40]!r}…"
    return MappingError(
        "MAP-PROPERTY-VALUE",
        f"{shown[:80]} is no value of IDL type {kind}",
        path=f"properties.{name}",
        hint="the property was changed on its way; the IDL type is the one that $se names",
        rule="OC-META-1",
    )


def _integer(kind: str) -> Read:
    low, high = INTEGER_RANGES[kind]

    def read(value: Any, name: str) -> int:
        if type(value) is int:
            number = value
        elif type(value) is str and _INTEGER.fullmatch(value):
            number = int(value)
        else:
            raise unfit(value, kind, name)
        if low <= number <= high:
            return number
        raise unfit(value, kind, name)

    return read


def _boolean(value: Any, name: str) -> bool:
    if type(value) is bool:
        return value
    text = value.lower() if type(value) is str else ""
    if text in ("true", "false"):
        return text == "true"
    raise unfit(value, "boolean", name)


def _double(value: Any, name: str, kind: str = "double") -> float:
    if type(value) is float:
        return value
    try:
        if type(value) is int or (type(value) is str and len(value) <= 400 and "_" not in value):
            return float(value)
    except (ValueError, OverflowError):
        pass
    raise unfit(value, kind, name)


_SINGLE: Final = struct.Struct("f")


def _float(value: Any, name: str) -> float:
    number = _double(value, name, "float")
    try:
        single: float = _SINGLE.unpack(_SINGLE.pack(number))[0]
    except OverflowError:
        raise unfit(value, "float", name) from None
    return single


def text_of(value: Any) -> str | None:
    """A property's value as text (JMS table 3-2: everything can be read as a String)."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value)
    return None


def _string(kind: str) -> Read:
    def read(value: Any, name: str) -> str:
        text = value if type(value) is str else text_of(value)
        if text is None:
            raise unfit(value, kind, name)
        return text

    return read


def _character(kind: str, last: int) -> Read:
    def read(value: Any, name: str) -> str:
        text = text_of(value)
        if text is None or len(text) != 1 or ord(text) > last:
            raise unfit(value, kind, name)
        return text

    return read


def _reference(value: Any, name: str) -> str:
    if type(value) is not str:
        raise unfit(value, "Object", name)
    return value


def _write_ulonglong(value: int) -> int | str:
    return value if value <= LARGEST_LONG else str(value)


_BASIC: Final[Mapping[str, Leaf]] = MappingProxyType(
    {
        leaf.kind: leaf
        for leaf in (
            Leaf("boolean", "boolean", "OC-TYPE-1", None, _boolean),
            Leaf("octet", "short", "OC-TYPE-2", None, _integer("octet")),
            Leaf("short", "short", "OC-TYPE-1", None, _integer("short")),
            Leaf("ushort", "int", "OC-TYPE-3", None, _integer("ushort")),
            Leaf("long", "int", "OC-TYPE-1", None, _integer("long")),
            Leaf("ulong", "long", "OC-TYPE-3", None, _integer("ulong")),
            Leaf("longlong", "long", "OC-TYPE-1", None, _integer("longlong")),
            Leaf("ulonglong", "", "OC-TYPE-4", _write_ulonglong, _integer("ulonglong")),
            Leaf("float", "float", "OC-TYPE-1", None, _float),
            Leaf("double", "double", "OC-TYPE-1", None, _double),
            Leaf("char", "String", "OC-TYPE-7", None, _character("char", 0xFF), "char"),
            Leaf("wchar", "String", "OC-TYPE-8", None, _character("wchar", 0xFFFF), "char"),
            Leaf("Object", "String", "OC-TYPE-15", None, _reference),
        )
    }
)
_STRING: Final = Leaf("string", "String", "OC-TYPE-1", None, _string("string"))
_WSTRING: Final = Leaf("wstring", "String", "OC-TYPE-9", None, _string("wstring"))
_OBJREF: Final = Leaf("objref", "String", "OC-TYPE-15", None, _reference)

TEXTS: Final = frozenset({"string", "wstring"})
REFERENCES: Final = frozenset({"Object", "objref"})


def leaf_of(type_: IdlType) -> Leaf | None:
    """The leaf of a type whose aliases are taken off; None where it is no leaf."""
    match type_:
        case Basic(kind):
            return _BASIC.get(kind)
        case String(bound):
            return _bounded(type_) if bound else _STRING
        case WString(bound):
            return _bounded(type_) if bound else _WSTRING
        case Enum():
            return _enum(type_)
        case ObjRef():
            return _OBJREF
        case Fixed():
            return _fixed(type_)
    return None


@lru_cache(maxsize=256)
def _bounded(type_: String | WString) -> Leaf:
    plain = _STRING if isinstance(type_, String) else _WSTRING

    def read(value: Any, name: str) -> str:
        text: str = plain.read(value, name)
        check_value(type_, text.replace("\0", NUL_REPLACEMENT), f"properties.{name}")
        return text

    return plain._replace(read=read, bounded=True)


@lru_cache(maxsize=256)
def _fixed(type_: Fixed) -> Leaf:
    scale, limit = type_.scale, Decimal(10) ** (type_.digits - type_.scale)

    def write(value: Decimal) -> str:
        return f"{value:.{scale}f}"

    def read(value: Any, name: str) -> Decimal:
        if (type(value) is str and _DECIMAL.fullmatch(value)) or type(value) is int:
            number = Decimal(value)
        else:
            raise unfit(value, f"fixed<{type_.digits},{scale}>", name)
        exponent = number.as_tuple().exponent
        if not -limit < number < limit or not isinstance(exponent, int) or -exponent > scale:
            raise unfit(value, f"fixed<{type_.digits},{scale}>", name)
        return number

    return Leaf("fixed", "String", "OC-TYPE-5", write, read)


@lru_cache(maxsize=1024)
def _enum(type_: Enum) -> Leaf:
    labels = frozenset(type_.members)

    def read(value: Any, name: str) -> str:
        if type(value) is str and value in labels:
            return value
        raise unfit(value, f"enum {type_.name}", name)

    return Leaf("enum", "String", "OC-TYPE-11", None, read)


def property_type(value: int | str) -> str:
    """Of an unsigned long long as it was written."""
    return "long" if type(value) is int else "String"
