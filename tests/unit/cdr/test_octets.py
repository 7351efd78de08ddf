"""Octets that follow from the CORBA specification (CDR, GIOP 1.2), written out by hand (OC-BODY-6, OC-TYPE-20)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from mappings.cdr import decode_any, decode_value, encode_any, encode_value
from mappings.idl_types import (
    ANY,
    BOOLEAN,
    CHAR,
    DOUBLE,
    LONG,
    LONGDOUBLE,
    LONGLONG,
    NULL,
    OBJECT,
    OCTET,
    SHORT,
    STRING,
    ULONG,
    USHORT,
    WCHAR,
    WSTRING,
    Array,
    Enum,
    Exception_,
    Fixed,
    IdlType,
    Member,
    Sequence,
    Struct,
    Union,
    UnionMember,
    Value,
    ValueBox,
)
from mappings.model import Any_, UnionValue

COLOUR = Enum("IDL:E:1.0", "E", ("red", "green"))
POINT = Struct("IDL:P:1.0", "P", (Member("o", OCTET), Member("l", LONG), Member("s", SHORT), Member("d", DOUBLE)))
SHAPE = Union("IDL:U:1.0", "U", SHORT, (UnionMember(1, "n", LONG), UnionMember(None, "s", STRING)))
FAULT = Exception_("IDL:X:1.0", "X", (Member("why", LONG),))
NODE = Value("IDL:V:1.0", "V", None, (Member("a", OCTET), Member("b", LONG)))
BOX = ValueBox("IDL:B:1.0", "B", STRING)
RMI_BOX = ValueBox("RMI:B:0000000000000000", "B", STRING)

# Type, value, and the big-endian octets behind the order octet, pads included.
VALUES: list[tuple[IdlType, Any, str]] = [
    (NULL, None, ""),
    (BOOLEAN, True, "01"),
    (CHAR, "é", "e9"),
    (WCHAR, "é", "02 00e9"),
    (OCTET, 200, "c8"),
    (SHORT, -2, "00 fffe"),
    (USHORT, 65535, "00 ffff"),
    (LONG, -2, "000000 fffffffe"),
    (ULONG, 2**32 - 1, "000000 ffffffff"),
    (LONGLONG, -2, "00000000000000 fffffffffffffffe"),
    (DOUBLE, 1.5, "00000000000000 3ff8000000000000"),
    (LONGDOUBLE, 1.0, "00000000000000 3fff0000000000000000000000000000"),
    (LONGDOUBLE, -0.1, "00000000000000 bffb999999999999a000000000000000"),
    (LONGDOUBLE, float("inf"), "00000000000000 7fff0000000000000000000000000000"),
    (LONGDOUBLE, 5e-324, "00000000000000 3bcd0000000000000000000000000000"),
    (STRING, "né", "000000 00000004 6ec3a9 00"),
    (STRING, "", "000000 00000001 00"),
    (WSTRING, "é", "000000 00000004 fffe e900"),
    (WSTRING, "", "000000 00000000"),
    (Fixed(5, 2), Decimal("-123.45"), "12345d"),
    (Fixed(4, 1), Decimal("12.3"), "00123c"),
    (Fixed(5, 2), Decimal("1.2"), "00120c"),
    (COLOUR, "green", "000000 00000001"),
    (POINT, {"o": 1, "l": 2, "s": 3, "d": 0.0}, "01 0000 00000002 0003 000000000000 0000000000000000"),
    (FAULT, {"why": 7}, "000000 0000000a 49444c3a583a312e3000 0000 00000007"),
    (SHAPE, UnionValue(1, 7), "00 0001 00000007"),
    (SHAPE, UnionValue(9, "x"), "00 0009 00000002 7800"),
    (Sequence(OCTET), b"\1\2", "000000 00000002 0102"),
    (Array(OCTET, 2), b"\1\2", "0102"),
    (Sequence(LONGLONG), [], "000000 00000000"),
    (Sequence(LONGLONG), [1], "000000 00000001 0000000000000001"),
    (Sequence(DOUBLE), [0.0, 1.5], "000000 00000002 0000000000000000 3ff8000000000000"),
    (Sequence(BOOLEAN), [True, False], "000000 00000002 0100"),
    (Sequence(CHAR), ["a", "é"], "000000 00000002 61e9"),
    (Sequence(STRING), ["a", "b"], "000000 00000002 00000002 6100 0000 00000002 6200"),
    (Array(SHORT, 2), [1, 2], "00 0001 0002"),
    (OBJECT, None, "000000 00000001 00 000000 00000000"),
    (BOX, None, "000000 00000000"),
    (BOX, "x", "000000 7fffff00 00000002 7800"),
    (RMI_BOX, "x", "000000 7fffff02 00000017 524d493a423a3030303030303030303030303030303000 00 00000002 7800"),
    (NODE, None, "000000 00000000"),
    (NODE, {"a": 1, "b": 2}, "000000 7fffff08 00000008 01 000000 00000002 ffffffff"),
    (ANY, Any_(SHORT, 5), "000000 00000002 0005"),
    (ANY, Any_(NULL, None), "000000 00000000"),
]


@pytest.mark.parametrize(("type_", "value", "octets"), VALUES, ids=lambda part: str(part)[:40])
def test_big_endian(type_: IdlType, value: Any, octets: str) -> None:
    expected = b"\0" + bytes.fromhex(octets)
    assert encode_value(type_, value, little=False) == expected
    assert decode_value(type_, expected) == value


@pytest.mark.parametrize(("type_", "value", "_octets"), VALUES, ids=lambda part: str(part)[:40])
def test_little_endian(type_: IdlType, value: Any, _octets: str) -> None:
    octets = encode_value(type_, value, little=True)
    assert octets[0] == 1
    assert len(octets) == len(encode_value(type_, value, little=False))
    assert decode_value(type_, octets) == value


def test_little_endian_numbers() -> None:
    octets = bytes.fromhex("01 01 0000 02000000 0300 000000000000 000000000000f83f")
    assert encode_value(POINT, {"o": 1, "l": 2, "s": 3, "d": 1.5}) == octets


def test_typecode() -> None:
    """The parameters are an encapsulation of their own, little-endian."""
    octets = bytes.fromhex(
        "00 000000 0000000f 00000038"
        " 01 000000 0a000000 49444c3a503a312e3000 0000 02000000 5000 0000 02000000"
        " 02000000 6100 0000 03000000"
        " 02000000 6200 0000 0a000000"
        " 00000007 09"
    )
    any_ = Any_(Struct("IDL:P:1.0", "P", (Member("a", LONG), Member("b", OCTET))), {"a": 7, "b": 9})
    assert encode_any(any_, little=False) == octets
    assert decode_any(octets) == any_


def test_typecode_of_a_type_that_occurs_twice() -> None:
    """The second time it is an indirection: so many octets back from where the offset stands."""
    struct = Struct("IDL:P:1.0", "P", (Member("a", COLOUR), Member("b", COLOUR)))
    octets = encode_any(Any_(struct, {"a": "red", "b": "green"}), little=False)
    assert octets.count(b"IDL:E:1.0") == 1
    kind = octets.index(bytes.fromhex("11000000"))
    indirection = octets.index(b"\xff\xff\xff\xff")
    assert int.from_bytes(octets[indirection + 4 : indirection + 8], "little", signed=True) == kind - (indirection + 4)
    assert decode_any(octets) == Any_(struct, {"a": "red", "b": "green"})


@pytest.mark.parametrize(
    ("octets", "number"),
    [
        ("3ffb999999999999 999999999999999a", 0.1),  # a tenth in 128 bits is nearest to a tenth in 64
        ("3fffffffffffffff ffffffffffffffff", 2.0),  # rounds up to the next power of two
        ("43feffffffffffff f000000000000000", 1.7976931348623157e308),
        ("43ff000000000000 0000000000000000", float("inf")),  # 2^1024
        ("7ffeffffffffffff ffffffffffffffff", float("inf")),
        ("3bcc000000000000 0000000000000000", 0.0),  # half of the smallest double: to even
        ("3bcc000000000000 0000000000000001", 5e-324),
        ("8000000000000000 0000000000000001", -0.0),
        ("ffff000000000000 0000000000000000", float("-inf")),
    ],
)
def test_long_doubles_that_are_no_doubles(octets: str, number: float) -> None:
    read = decode_value(LONGDOUBLE, b"\0" + bytes(7) + bytes.fromhex(octets))
    assert (read, str(read)) == (number, str(number))
