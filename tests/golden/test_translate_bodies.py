"""Bodies (RULES.md 5.2 SE-BODY, 5.3 OC-BODY): what each remainder becomes, by which rule, and that it comes back."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from mappings.cdr import decode_any, decode_value
from mappings.idl_types import (
    ANY,
    BOOLEAN,
    CHAR,
    LONG,
    LONGDOUBLE,
    NULL,
    OBJECT,
    OCTET,
    SHORT,
    STRING,
    TYPECODE,
    ULONGLONG,
    VOID,
    WCHAR,
    WSTRING,
    Alias,
    Array,
    Enum,
    Fixed,
    IdlType,
    Member,
    Sequence,
    Struct,
    Value,
)
from mappings.known_types import OCTET_SEQ, PROPERTY_SEQ, QOS_PROPERTIES, STRING_SEQ, WSTRING_VALUE
from mappings.model import BODY_TYPES, Any_, Body, MessageProperty, StreamElement
from mappings.translate import Options, Translator
from tests.properties.strategies import SAMPLE_IOR
from tests.unit.translate.build import NOW_MS, event, fields, named, rules, sent

POINT = Struct("IDL:M/P:1.0", "P", (Member("n", STRING), Member("v", LONG)))
SEVERITY = Enum("IDL:M/S:1.0", "S", ("minor", "major"))


def of(type_: IdlType, value: Any, **options: Any) -> Body:
    return sent(event(remainder=Any_(type_, value)), **options).body


@pytest.mark.parametrize("type_", [NULL, VOID])
def test_nothing_is_a_message_without_a_body(type_: IdlType) -> None:
    """OC-BODY-1."""
    assert of(type_, None) == Body("Message", None)


@pytest.mark.parametrize(
    ("type_", "value", "rule"),
    [
        (STRING, "hi", "SE-BODY-2"),
        (STRING, "", "SE-BODY-2"),
        (WSTRING, "日本", "OC-BODY-3"),
        (Alias("IDL:T:1.0", "T", STRING), "hi", "SE-BODY-2"),
        (ANY, Any_(ANY, Any_(STRING, "hi")), "SE-BODY-2"),
        (WSTRING_VALUE, "boxed", "OC-BODY-3"),
    ],
)
def test_a_text_is_a_text_message(type_: IdlType, value: Any, rule: str) -> None:
    """SE-BODY-2, OC-BODY-3; layers of any and value boxes are taken off (OC-TYPE-13, OC-TYPE-16)."""
    body = of(type_, value)
    assert body.type == "TextMessage"
    assert isinstance(body.value, str)
    assert rules(event(remainder=Any_(type_, value)))["body"] == rule


@pytest.mark.parametrize(
    ("type_", "value", "elements"),
    [
        (LONG, 7, [("int", 7)]),
        (BOOLEAN, True, [("boolean", True)]),
        (OCTET, 200, [("short", 200)]),
        (ULONGLONG, 2**64 - 1, [("String", "18446744073709551615")]),
        (Fixed(4, 2), Decimal("1.50"), [("String", "1.50")]),
        (OBJECT, SAMPLE_IOR, [("String", SAMPLE_IOR)]),
        (CHAR, "x", [("char", "x")]),
        (WCHAR, "日", [("char", "日")]),
        (Sequence(SHORT), [], []),
        (Array(LONG, 2), [1, 2], [("int", 1), ("int", 2)]),
        (Sequence(WCHAR), ["a"], [("char", "a")]),
        (STRING_SEQ, ["a", "b"], [("String", "a"), ("String", "b")]),
        (Sequence(ANY), [Any_(LONG, 1), Any_(STRING, "x"), Any_(OCTET_SEQ, b"\1")],
         [("int", 1), ("String", "x"), ("bytes", b"\1")]),
    ],
)  # fmt: skip
def test_basic_values_are_a_stream(type_: IdlType, value: Any, elements: list[tuple[str, Any]]) -> None:
    """SE-BODY-1, OC-BODY-2, OC-BODY-3."""
    assert of(type_, value) == Body("StreamMessage", tuple(StreamElement(*element) for element in elements))


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (POINT, {"n": "x", "v": 1}),
        (SEVERITY, "major"),
        (Sequence(SEVERITY), ["minor"]),
        (Sequence(POINT), [{"n": "x", "v": 1}]),
        (LONGDOUBLE, 1.5),
        (TYPECODE, POINT),
        (OBJECT, None),
        (Sequence(ANY), [Any_(POINT, {"n": "x", "v": 1})]),
        (Value("IDL:V:1.0", "V", None, (Member("n", LONG),)), {"n": 3}),
    ],
)
def test_what_users_construct_is_the_encapsulation_of_the_any(type_: IdlType, value: Any) -> None:
    """SE-BODY-4, OC-BODY-6, OC-TYPE-6."""
    message = sent(event(remainder=Any_(type_, value)))
    assert message.body.type == "BytesMessage"
    assert decode_any(message.body.value) == Any_(type_, value)
    marks = {name: value for name, _, value in fields(message)}
    assert marks["$body"] == "cdr-any"
    assert marks.get("$body_type") == getattr(type_, "id", None)


def test_the_value_alone_for_clients_that_read_with_a_helper() -> None:
    """OC-BODY-6."""
    value = {"n": "x", "v": 1}
    message = sent(event(remainder=Any_(POINT, value)), body_cdr="value")
    assert decode_value(POINT, message.body.value) == value
    assert fields(message) == [("$body", "String", "cdr-value"), ("$body_type", "String", "IDL:M/P:1.0")]


def test_octets_are_sent_as_they_are() -> None:
    """SE-BODY-4, OC-BODY-6."""
    message = sent(event(remainder=Any_(OCTET_SEQ, b"\0\xff")))
    assert message.body == Body("BytesMessage", b"\0\xff")
    assert fields(message) == [("$body", "String", "octets")]


def entry(name: str, type_: IdlType, value: Any) -> dict[str, Any]:
    return {"name": name, "value": Any_(type_, value)}


@pytest.mark.parametrize("type_", [PROPERTY_SEQ, QOS_PROPERTIES])
def test_a_property_list_is_a_map(type_: IdlType) -> None:
    """SE-BODY-3, OC-BODY-4: an ordinal only where a name comes again, and where JMS forbids the empty one."""
    value = [entry("a", LONG, 1), entry("b", CHAR, "x"), entry("a", STRING, "z"), entry("", LONG, 2)]
    body = of(type_, value)
    assert [tuple(element) for element in body.value] == [
        ("a", "int", 1),
        ("b", "char", "x"),
        ("a#2", "String", "z"),
        ("#2", "int", 2),
    ]


def test_map_keys_as_the_paper_has_them() -> None:
    """OC-BODY-4."""
    value = [entry("a", LONG, 1), entry("b", LONG, 2), entry("a", LONG, 3)]
    body = of(PROPERTY_SEQ, value, map_keys="borland")
    assert [element.name for element in body.value] == ["a1", "b2", "a3"]


def test_complex_map_values_are_flattened_and_opaque_ones_are_bytes() -> None:
    """OC-BODY-5."""
    valuetype = Value("IDL:V:1.0", "V", None, (Member("n", LONG),))
    value = [
        entry("p", POINT, {"n": "x", "v": 1}),
        entry("l", Sequence(SHORT), [3]),
        entry("o", OCTET_SEQ, b"\1\2"),
        entry("v", valuetype, {"n": 3}),
        entry("nothing", NULL, None),
    ]
    body = of(PROPERTY_SEQ, value)
    elements = {element.name: (element.type, element.value) for element in body.value}
    opaque = elements.pop("v")
    assert elements == {
        "p.n": ("String", "x"),
        "p.v": ("int", 1),
        "l._length": ("int", 1),
        "l.1": ("short", 3),
        "o": ("bytes", b"\1\2"),
    }
    assert opaque[0] == "bytes"
    assert decode_any(opaque[1]) == Any_(valuetype, {"n": 3})


def test_a_map_value_beyond_the_limit_of_depth_is_bytes() -> None:
    """OC-BODY-5, OC-TYPE-21."""
    deep: IdlType = LONG
    value: Any = 1
    for _ in range(9):
        deep, value = Sequence(deep), [value]
    body = of(PROPERTY_SEQ, [entry("x", deep, value), entry("y", LONG, 2)])
    assert [(element.name, element.type) for element in body.value] == [("x", "bytes"), ("y", "int")]


def test_a_struct_is_a_map_where_it_is_asked_for() -> None:
    """OC-BODY-2."""
    body = of(POINT, {"n": "x", "v": 1}, struct_body="map")
    assert body == Body("MapMessage", (MessageProperty("n", "String", "x"), MessageProperty("v", "int", 1)))


def test_no_rule_makes_an_object_message() -> None:
    """SE-BODY-5: five body types are named, four of them are made, and a message without a body."""
    made = {
        of(type_, value).type
        for type_, value in [
            (NULL, None),
            (STRING, "x"),
            (LONG, 1),
            (PROPERTY_SEQ, []),
            (OCTET_SEQ, b""),
            (POINT, {"n": "", "v": 0}),
        ]
    }
    assert made == set(BODY_TYPES) - {"ObjectMessage"}


@pytest.mark.parametrize(
    ("sent_as", "arrives_as"),
    [
        (Any_(STRING, "hü"), Body("BytesMessage", "hü".encode())),
        (Any_(STRING, ""), Body("Message", None)),
        (Any_(NULL, None), Body("TextMessage", "")),
        (Any_(NULL, None), Body("BytesMessage", b"")),
        (Any_(OCTET_SEQ, b"abc"), Body("TextMessage", "abc")),
    ],
)
def test_text_and_bytes_that_a_wire_confuses_mean_the_same(sent_as: Any_, arrives_as: Body) -> None:
    """OC-BODY-1, OC-BODY-7."""
    translator = Translator()
    message = translator.forward(event(remainder=sent_as), now_ms=NOW_MS)
    arrived = type(message)(message.headers, message.properties, arrives_as)
    assert translator.reverse(arrived, now_ms=NOW_MS) == event(remainder=sent_as)


def test_a_body_that_an_application_replaced_is_taken_as_it_is() -> None:
    """RULES.md 5.5."""
    translator = Translator()
    message = translator.forward(event(remainder=Any_(LONG, 7)), now_ms=NOW_MS)
    other = type(message)(message.headers, message.properties, Body("TextMessage", "new"))
    assert translator.reverse(other, now_ms=NOW_MS).remainder_of_body == Any_(STRING, "new")


@pytest.mark.parametrize(
    ("choice", "type_", "value", "body_type"),
    [
        ("text", STRING, "x", "TextMessage"),
        ("text", POINT, {"n": "x", "v": 1}, "TextMessage"),
        ("text", LONG, 5, "TextMessage"),
        ("bytes", STRING, "hü", "BytesMessage"),
        ("bytes", LONG, 5, "BytesMessage"),
        ("bytes", OCTET_SEQ, b"x", "BytesMessage"),
        ("map", POINT, {"n": "x", "v": 1}, "MapMessage"),
        ("map", LONG, 5, "MapMessage"),
        ("map", PROPERTY_SEQ, [], "MapMessage"),
        ("stream", STRING, "x", "StreamMessage"),
        ("stream", LONG, 5, "StreamMessage"),
        ("stream", POINT, {"n": "x", "v": 1}, "BytesMessage"),  # cannot be put that way
        ("text", NULL, None, "Message"),
    ],
)
def test_a_link_may_choose_the_kind_of_body(choice: Any, type_: IdlType, value: Any, body_type: str) -> None:
    """LINK-BODY."""
    from mappings.translate.rules import ChooseBody

    the_event = event(remainder=Any_(type_, value))
    assert sent(the_event, rules=(ChooseBody(choice),)).body.type == body_type
    plain = Translator(Options()).forward(the_event, now_ms=NOW_MS).body
    by_rule = rules(the_event, rules=(ChooseBody(choice),))["body"] == "LINK-BODY"
    assert by_rule == (plain != sent(the_event, rules=(ChooseBody(choice),)).body)


def test_a_body_as_text_is_the_json_form_of_the_any() -> None:
    """LINK-BODY, FORMS section 2."""
    import json

    from mappings.translate.rules import ChooseBody

    message = sent(event(remainder=Any_(LONG, 5)), rules=(ChooseBody("text"),))
    assert json.loads(message.body.value) == {"type": "long", "value": 5}
    assert named(message)["$body"] == ("String", "json")
