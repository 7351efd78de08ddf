"""Types of fields: what each becomes, by which rule, and that it comes back (RULES.md 5.3 OC-TYPE, SE-PROP; 6.1)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from mappings.cdr import decode_any
from mappings.idl_types import (
    ANY,
    BOOLEAN,
    CHAR,
    DOUBLE,
    FLOAT,
    LONG,
    LONGDOUBLE,
    LONGLONG,
    NULL,
    OBJECT,
    OCTET,
    SHORT,
    STRING,
    TYPECODE,
    ULONG,
    ULONGLONG,
    USHORT,
    VOID,
    WCHAR,
    WSTRING,
    Alias,
    Array,
    Enum,
    Fixed,
    IdlType,
    Member,
    ObjRef,
    Sequence,
    Struct,
    Union,
    UnionMember,
    Value,
    ValueBox,
)
from mappings.known_types import OCTET_SEQ, UTC_T, WSTRING_VALUE
from mappings.model import NO_ARM, Any_, UnionValue
from mappings.translate import Limits, Options, Translator
from mappings.translate.flatten import base64_of
from tests.properties.strategies import SAMPLE_IOR
from tests.unit.translate.build import NOW_MS, Field, event, fields, named, rules, sent

SEVERITY = Enum("IDL:Acme/Sev:1.0", "Sev", ("minor", "major"))
CHOICE = Union(
    "IDL:Acme/Choice:1.0",
    "Choice",
    LONG,
    (UnionMember(1, "lo", SHORT), UnionMember(2, "lo", SHORT), UnionMember(9, "text", STRING)),
)
CHILD = Value("IDL:Acme/V:1.0", "V", None, (Member("n", LONG),))


@pytest.mark.parametrize(
    ("rule", "type_", "value", "property_type", "property_value"),
    [
        ("OC-TYPE-1", BOOLEAN, True, "boolean", True),
        ("OC-TYPE-1", SHORT, -32768, "short", -32768),
        ("OC-TYPE-1", LONG, 2147483647, "int", 2147483647),
        ("OC-TYPE-1", LONGLONG, -(2**63), "long", -(2**63)),
        ("OC-TYPE-1", FLOAT, 1.5, "float", 1.5),
        ("OC-TYPE-1", DOUBLE, 0.1, "double", 0.1),
        ("OC-TYPE-1", DOUBLE, float("inf"), "double", float("inf")),
        ("OC-TYPE-1", STRING, "Zürich", "String", "Zürich"),
        ("OC-TYPE-2", OCTET, 200, "short", 200),
        ("OC-TYPE-3", USHORT, 65535, "int", 65535),
        ("OC-TYPE-3", ULONG, 4294967295, "long", 4294967295),
        ("OC-TYPE-4", ULONGLONG, 2**63 - 1, "long", 2**63 - 1),
        ("OC-TYPE-4", ULONGLONG, 2**63, "String", "9223372036854775808"),
        ("OC-TYPE-5", Fixed(8, 2), Decimal("-12.50"), "String", "-12.50"),
        ("OC-TYPE-5", Fixed(31, 0), Decimal(10**31 - 1), "String", "9" * 31),
        ("OC-TYPE-7", CHAR, "\xe4", "String", "ä"),
        ("OC-TYPE-8", WCHAR, "中", "String", "中"),
        ("OC-TYPE-9", WSTRING, "中文", "String", "中文"),
        ("OC-TYPE-11", SEVERITY, "major", "String", "major"),
        ("OC-TYPE-15", OBJECT, SAMPLE_IOR, "String", SAMPLE_IOR),
        ("OC-TYPE-15", ObjRef("IDL:X:1.0", "X"), SAMPLE_IOR, "String", SAMPLE_IOR),
        ("OC-TYPE-19", OCTET_SEQ, b"\0\xff", "String", "AP8="),
        ("OC-TYPE-19", Array(OCTET, 3), b"abc", "String", "YWJj"),
    ],
)
def test_a_simple_field_is_one_property(
    rule: str, type_: IdlType, value: Any, property_type: str, property_value: Any
) -> None:
    """SE-PROP-2, SE-PROP-5, and SE-PROP-1 for the name."""
    the_event = event([("x", type_, value)])
    assert fields(sent(the_event)) == [("$x", property_type, property_value)]
    assert rules(the_event)["$x"] == rule


@pytest.mark.parametrize("type_", [NULL, VOID])
def test_null_is_no_property(type_: IdlType) -> None:
    """OC-TYPE-14."""
    the_event = event([("x", type_, None), ("y", LONG, 1)])
    assert fields(sent(the_event)) == [("$y", "int", 1)]
    assert rules(the_event)["filterable_data[0].value"] == "OC-TYPE-14"


def test_a_nil_reference_is_no_property_and_comes_back() -> None:
    """OC-TYPE-15, OC-TYPE-14."""
    assert fields(sent(event([("x", OBJECT, None), ("l", Sequence(OBJECT), [None, SAMPLE_IOR])]))) == [
        ("$l._length", "int", 2),
        ("$l.2", "String", SAMPLE_IOR),
    ]


def test_long_double_is_dropped_and_counted_and_said() -> None:
    """OC-TYPE-6."""
    the_event = event([("x", LONGDOUBLE, 1.5), ("y", LONG, 1)])
    translator = Translator()
    explained = translator.explain(the_event, now_ms=NOW_MS)
    assert not explained.lossless
    assert [(e.rule, e.to) for e in explained.entries if not e.lossless] == [("OC-TYPE-6", "")]
    assert translator.counts["OC-TYPE-6"] == 1
    message = translator.forward(the_event, now_ms=NOW_MS)
    assert fields(message) == [("$y", "int", 1)]
    assert translator.reverse(message, now_ms=NOW_MS) == event([("y", LONG, 1)])
    translator.forward(the_event, now_ms=NOW_MS)
    assert translator.counts["OC-TYPE-6"] == 3, "the plan counts too"


def test_long_double_inside_a_value_is_kept_as_cdr() -> None:
    """OC-TYPE-6, OC-TYPE-20."""
    point = Struct("IDL:P:1.0", "P", (Member("x", LONGDOUBLE), Member("y", LONG)))
    message = sent(event([("p", point, {"x": 1.5, "y": 2})]))
    assert [name for name, _, _ in fields(message)] == ["$p.x", "$p.y"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (UnionValue(2, 7), [("$u._d", "int", 2), ("$u.lo", "short", 7)]),
        (UnionValue(9, "x"), [("$u._d", "int", 9), ("$u.text", "String", "x")]),
        (UnionValue(5, NO_ARM), [("$u._d", "int", 5)]),
    ],
)
def test_a_union_is_its_discriminator_and_its_active_arm(value: UnionValue, expected: list[Any]) -> None:
    """OC-TYPE-12."""
    assert fields(sent(event([("u", CHOICE, value)]))) == expected


def test_a_nested_any_is_what_is_inside() -> None:
    """OC-TYPE-13."""
    nested = Any_(ANY, Any_(ANY, Any_(SHORT, 3)))
    assert fields(sent(event([("x", ANY, nested)]))) == [("$x", "short", 3)]


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        (WSTRING_VALUE, "boxed", [("$x", "String", "boxed")]),
        (WSTRING_VALUE, None, []),
        (ValueBox("IDL:B:1.0", "B", Sequence(LONG)), [1], [("$x._length", "int", 1), ("$x.1", "int", 1)]),
    ],
)
def test_a_value_box_is_what_is_inside_and_nil_is_nothing(type_: IdlType, value: Any, expected: list[Field]) -> None:
    """OC-TYPE-16."""
    assert fields(sent(event([("x", type_, value)]))) == expected


@pytest.mark.parametrize(("type_", "value"), [(CHILD, {"n": 5}), (CHILD, None), (TYPECODE, Sequence(LONG))])
def test_valuetypes_and_typecodes_are_the_encapsulation_of_the_any(type_: IdlType, value: Any) -> None:
    """SE-PROP-8, OC-TYPE-16, OC-TYPE-20."""
    from base64 import b64decode

    message = sent(event([("x", type_, value)]))
    ((name, property_type, text),) = fields(message)
    assert (name, property_type) == ("$x", "String")
    assert decode_any(b64decode(text)) == Any_(type_, value)


def test_sequences_of_sequences_have_an_ordinal_for_each_level() -> None:
    """OC-TYPE-17, SE-PROP-3, SE-PROP-4."""
    message = sent(event([("f", Sequence(Sequence(LONG)), [[5, 6], []]), ("a", Array(Array(SHORT, 2), 1), [[1, 2]])]))
    assert fields(message) == [
        ("$f._length", "int", 2),
        ("$f.1._length", "int", 2),
        ("$f.1.1", "int", 5),
        ("$f.1.2", "int", 6),
        ("$f.2._length", "int", 0),
        ("$a.1.1", "short", 1),
        ("$a.1.2", "short", 2),
    ]


def test_a_time_is_flattened_like_any_struct() -> None:
    """OC-TYPE-22."""
    time = {"time": 140_140_000_000_000_000, "inacclo": 1, "inacchi": 2, "tdf": 60}
    assert fields(sent(event([("c", UTC_T, time)]))) == [
        ("$c.time", "long", 140_140_000_000_000_000),
        ("$c.inacclo", "long", 1),
        ("$c.inacchi", "int", 2),
        ("$c.tdf", "short", 60),
    ]


def nest(levels: int) -> Field:
    type_: IdlType = LONG
    value: Any = 7
    for _ in range(levels):
        type_, value = Sequence(type_), [value]
    return "x", type_, value


def test_eight_levels_are_flattened_and_nine_go_as_cdr() -> None:
    """OC-TYPE-21."""
    eight = sent(event([nest(8)]))
    assert ("$x" + ".1" * 8, "int", 7) in fields(eight)
    nine = sent(event([nest(9)]))
    assert [(name, type_) for name, type_, _ in fields(nine)] == [("$x", "String")]
    assert rules(event([nest(9)]))["$x"] == "OC-TYPE-21"


def test_a_field_that_takes_too_many_properties_goes_as_cdr_and_the_next_one_does_not() -> None:
    """OC-TYPE-21."""
    message = sent(event([("big", Sequence(LONG), list(range(256))), ("small", Sequence(LONG), [1])]))
    assert [name for name, _, _ in fields(message)] == ["$big", "$small._length", "$small.1"]


def test_fields_beyond_the_limit_of_an_event_travel_together() -> None:
    """OC-TYPE-21: 256 properties, and one for all that is beyond."""
    the_event = event([(f"f{n}", LONG, n) for n in range(300)])
    message = sent(the_event)
    assert len(fields(message)) == 257
    assert fields(message)[-2:-1] == [("$f255", "int", 255)]
    assert fields(message)[-1][0] == "$se.rest"


@pytest.mark.parametrize("size", [65_537, 400_000])
def test_a_text_that_is_too_long_for_a_property_goes_as_cdr_in_parts(size: int) -> None:
    """OC-TYPE-21."""
    message = sent(event([("x", STRING, "x" * size), ("y", LONG, 1)]))
    parts = fields(message)[:-1]
    assert [name for name, _, _ in parts] == ["$x", *(f"$x.{n}" for n in range(2, len(parts) + 1))]
    assert all(len(text) <= 65_536 for _, _, text in parts)


def test_limits_can_be_set() -> None:
    """OC-TYPE-21."""
    limits = Limits(depth=1, properties=4, property_bytes=200)
    message = sent(event([nest(2), ("s", STRING, "x" * 201), nest(1)]), limits=limits)
    assert [name for name, _, _ in fields(message)] == ["$x", "$s", "$s.2", "$x.#2"]


def test_members_that_cannot_stand_alone_take_the_whole_field_with_them() -> None:
    """OC-TYPE-20: a valuetype that speaks of the struct around it cannot be encoded by itself."""
    from mappings.idl_types import Recursive

    inner = Value("IDL:V:1.0", "V", None, (Member("up", Sequence(Recursive("IDL:S:1.0"))),))
    outer = Struct("IDL:S:1.0", "S", (Member("n", LONG), Member("v", inner)))
    message = sent(event([("s", outer, {"n": 1, "v": {"up": [{"n": 2, "v": None}]}})]))
    assert [name for name, _, _ in fields(message)] == ["$s"]


def test_recursive_types_are_walked_to_the_end_of_the_value() -> None:
    """SE-PROP-4, OC-TYPE-17."""
    from mappings.idl_types import Recursive

    tree = Struct("IDL:T:1.0", "T", (Member("n", LONG), Member("kids", Sequence(Recursive("IDL:T:1.0")))))
    message = sent(event([("t", tree, {"n": 1, "kids": [{"n": 2, "kids": []}]})]))
    assert fields(message) == [
        ("$t.n", "int", 1),
        ("$t.kids._length", "int", 1),
        ("$t.kids.1.n", "int", 2),
        ("$t.kids.1.kids._length", "int", 0),
    ]


def test_nan_is_kept() -> None:
    """OC-TYPE-1."""
    translator = Translator(Options())
    message = translator.forward(event([("x", DOUBLE, float("nan"))]), now_ms=NOW_MS)
    assert named(message)["$x"][1] != named(message)["$x"][1]
    back = translator.reverse(message, now_ms=NOW_MS)
    assert back.filterable_data[0].value != back.filterable_data[0].value


def test_alias_types_are_seen_through_and_come_back() -> None:
    """6.1: a typedef is as its target."""
    name = Alias("IDL:N:1.0", "N", Alias("IDL:M:1.0", "M", STRING))
    assert fields(sent(event([("x", name, "v")]))) == [("$x", "String", "v")]


def test_base64_is_the_plain_alphabet() -> None:
    """OC-TYPE-19."""
    assert base64_of(b"\xfb\xff") == "+/8="
