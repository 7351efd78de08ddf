"""FORMS.md, example by example, and realistic events (TMF 814, 3GPP, auction, control, untyped, typed)."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from mappings.forms.events import event_from_json, event_to_json
from mappings.forms.messages import message_from_json, message_to_json
from mappings.forms.types import type_from_json, type_to_json
from mappings.forms.values import value_from_json, value_to_json
from mappings.idl_types import (
    ANY,
    BASIC_KINDS,
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
    ULONGLONG,
    VOID,
    WCHAR,
    WSTRING,
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
)
from mappings.known_types import KNOWN, NAME, TIME_T
from mappings.model import (
    NULL_ANY,
    Any_,
    Body,
    Headers,
    Message,
    MessageProperty,
    Property,
    StreamElement,
    StructuredEvent,
    TypedEvent,
    UnionValue,
    UntypedEvent,
)

EVENTS = [
    json.loads(line) for line in (Path(__file__).parent / "data" / "events.jsonl").read_text("utf-8").splitlines()
]

ALARM = Struct("IDL:Acme/Alarm:1.0", "Alarm", (Member("AlarmName", STRING), Member("Severity", LONG)))
LEVEL = Enum("IDL:L:1.0", "Level", ("minor", "major"))
CHOICE = Union(
    "IDL:U:1.0", "U", LONG, (UnionMember(1, "lo", LONG), UnionMember(2, "lo", LONG), UnionMember(None, "hi", STRING))
)
GAPPED = Union("IDL:G:1.0", "G", BOOLEAN, (UnionMember(True, "x", LONG),))
BASE = Value("IDL:Base:1.0", "Base", None, (Member("b", LONG, "private"),))
DERIVED = Value("IDL:Derived:1.0", "Derived", BASE, (Member("d", LONG),), "truncatable")
NODE = Struct("IDL:N:1.0", "N", (Member("n", LONG), Member("kids", Sequence(Recursive("IDL:N:1.0")))))


# Section 1: types ---------------------------------------------------------------------------------------------------------

TYPES: list[tuple[Any, IdlType]] = [
    *((kind, Basic(kind)) for kind in BASIC_KINDS),
    ("string", STRING),
    ("wstring", WSTRING),
    (
        {
            "kind": "struct", "id": "IDL:Acme/Alarm:1.0", "name": "Alarm",
            "members": [{"name": "AlarmName", "type": "string"}, {"name": "Severity", "type": "long"}],
        },
        ALARM,
    ),
    ({"kind": "exception", "id": "IDL:X:1.0", "name": "X", "members": []}, Exception_("IDL:X:1.0", "X", ())),
    (
        {
            "kind": "union", "id": "IDL:U:1.0", "name": "U", "discriminator": "long",
            "members": [
                {"label": 1, "name": "lo", "type": "long"},
                {"label": 2, "name": "lo", "type": "long"},
                {"label": "default", "name": "hi", "type": "string"},
            ],
        },
        CHOICE,
    ),
    (
        {
            "kind": "union", "id": "IDL:C:1.0", "name": "C",
            "discriminator": {"kind": "alias", "id": "IDL:A:1.0", "name": "A", "type": "char"},
            "members": [{"label": "a", "name": "x", "type": "long"}],
        },
        Union("IDL:C:1.0", "C", Alias("IDL:A:1.0", "A", CHAR), (UnionMember("a", "x", LONG),)),
    ),
    (
        {
            "kind": "union", "id": "IDL:W:1.0", "name": "W", "discriminator": "ulonglong",
            "members": [{"label": "18446744073709551615", "name": "x", "type": "long"}, {"label": 0, "name": "y", "type": "long"}],
        },
        Union("IDL:W:1.0", "W", ULONGLONG, (UnionMember(2**64 - 1, "x", LONG), UnionMember(0, "y", LONG))),
    ),
    ({"kind": "enum", "id": "IDL:L:1.0", "name": "Level", "members": ["minor", "major"]}, LEVEL),
    ({"kind": "sequence", "element": "octet", "bound": 0}, Sequence(OCTET)),
    ({"kind": "array", "element": {"kind": "array", "element": "long", "length": 2}, "length": 4}, Array(Array(LONG, 2), 4)),
    ({"kind": "alias", "id": "IDL:A:1.0", "name": "Name", "type": "string"}, Alias("IDL:A:1.0", "Name", STRING)),
    ({"kind": "string", "bound": 32}, String(32)),
    ({"kind": "wstring", "bound": 32}, WString(32)),
    ({"kind": "fixed", "digits": 8, "scale": 2}, Fixed(8, 2)),
    ({"kind": "objref", "id": "IDL:I:1.0", "name": "I"}, ObjRef("IDL:I:1.0", "I")),
    ({"kind": "value_box", "id": "IDL:B:1.0", "name": "B", "type": "wstring"}, ValueBox("IDL:B:1.0", "B", WSTRING)),
    (
        {
            "kind": "value", "id": "IDL:Derived:1.0", "name": "Derived",
            "base": {
                "kind": "value", "id": "IDL:Base:1.0", "name": "Base", "base": None,
                "members": [{"name": "b", "type": "long", "visibility": "private"}],
            },
            "members": [{"name": "d", "type": "long", "visibility": "public"}],
            "modifier": "truncatable",
        },
        DERIVED,
    ),
    (
        {
            "kind": "struct", "id": "IDL:N:1.0", "name": "N",
            "members": [
                {"name": "n", "type": "long"},
                {"name": "kids", "type": {"kind": "sequence", "element": {"kind": "recursive", "id": "IDL:N:1.0"}, "bound": 0}},
            ],
        },
        NODE,
    ),
    ({"kind": "named", "id": "IDL:omg.org/CosNaming/Name:1.0"}, NAME),
]  # fmt: skip


@pytest.mark.parametrize(("form", "type_"), TYPES, ids=lambda part: getattr(part, "kind", None) and str(part)[:60])
def test_type(form: Any, type_: IdlType) -> None:
    read = type_from_json(form)
    assert read == type_
    assert type_to_json(read) == form


def test_what_may_be_left_out_of_a_type() -> None:
    assert type_from_json({"kind": "sequence", "element": "long"}) == Sequence(LONG)
    assert type_from_json({"kind": "string"}) == STRING
    value = {"kind": "value", "id": "IDL:V:1.0", "name": "V", "members": [{"name": "a", "type": "long"}]}
    assert type_from_json(value) == Value("IDL:V:1.0", "V", None, (Member("a", LONG),))


def test_named_types_are_spelt_as_they_came() -> None:
    by_name = type_from_json({"kind": "named", "id": TIME_T.id})
    spelt = {"kind": "alias", "id": TIME_T.id, "name": "TimeT", "type": "ulonglong"}
    assert by_name == type_from_json(spelt) == TIME_T
    assert type_to_json(by_name) == {"kind": "named", "id": TIME_T.id}
    assert type_to_json(type_from_json(spelt)) == type_to_json(TIME_T) == spelt


@pytest.mark.parametrize("id_", KNOWN)
def test_every_known_type_can_be_named(id_: str) -> None:
    assert type_from_json({"kind": "named", "id": id_}) == KNOWN[id_]
    assert type_from_json(type_to_json(KNOWN[id_])) == KNOWN[id_]


def test_types_that_a_configuration_loads_can_be_named() -> None:
    registry = {ALARM.id: ALARM}
    form = {"kind": "sequence", "element": {"kind": "named", "id": ALARM.id}, "bound": 0}
    assert type_from_json(form, registry=registry) == Sequence(ALARM)
    assert type_to_json(type_from_json(form, registry=registry)) == form
    assert type_from_json({"kind": "named", "id": NAME.id}, registry=registry) == NAME
    any_ = {"type": {"kind": "named", "id": ALARM.id}, "value": {"AlarmName": "x", "Severity": 1}}
    assert value_from_json(ANY, any_, registry=registry) == Any_(ALARM, {"AlarmName": "x", "Severity": 1})
    assert event_from_json({"any": any_}, registry=registry) == UntypedEvent(Any_(ALARM, any_["value"]))


def test_an_enum_with_a_label_called_default() -> None:
    """`default` is the default arm; the label of that name stands as its number."""
    enum = Enum("IDL:D:1.0", "D", ("other", "default"))
    arms = (UnionMember("default", "a", LONG), UnionMember("other", "b", LONG), UnionMember(None, "c", LONG))
    union = Union("IDL:U:1.0", "U", enum, arms)
    form = type_to_json(union)
    assert isinstance(form, dict)
    assert [member["label"] for member in form["members"]] == [1, "other", "default"]
    assert type_from_json(form) == union


# Section 2: values --------------------------------------------------------------------------------------------------------

VALUES: list[tuple[IdlType, Any, Any]] = [
    (BOOLEAN, True, True),
    (OCTET, 200, 200),
    (SHORT, -5, -5),
    (LONGLONG, 2**53, 2**53),
    (LONGLONG, -(2**53), -(2**53)),
    (LONGLONG, 2**53 + 1, "9007199254740993"),
    (LONGLONG, -(2**63), "-9223372036854775808"),
    (ULONGLONG, 2**64 - 1, "18446744073709551615"),
    (FLOAT, 1.100000023841858, 1.1),
    (FLOAT, 3.4028234663852886e38, 3.4028235e38),
    (FLOAT, float("inf"), "Infinity"),
    (DOUBLE, 0.1, 0.1),
    (DOUBLE, float("-inf"), "-Infinity"),
    (LONGDOUBLE, 0.1, 0.1),
    (CHAR, "é", "é"),
    (WCHAR, "☃", "☃"),
    (STRING, "Zürich 🚀", "Zürich 🚀"),
    (WSTRING, "", ""),
    (Fixed(8, 2), Decimal("12.50"), "12.50"),
    (Fixed(8, 2), Decimal("-0.05"), "-0.05"),
    (Fixed(31, 31), Decimal("0.1234567890123456789012345678901"), "0.1234567890123456789012345678901"),
    (LEVEL, "major", "major"),
    (ALARM, {"AlarmName": "LOS", "Severity": 3}, {"AlarmName": "LOS", "Severity": 3}),
    (DERIVED, {"b": 1, "d": 2}, {"b": 1, "d": 2}),
    (DERIVED, None, None),
    (CHOICE, UnionValue(2, 7), {"d": 2, "v": 7}),
    (CHOICE, UnionValue(-9, "x"), {"d": -9, "v": "x"}),
    (GAPPED, UnionValue(False), {"d": False}),
    (Sequence(Sequence(LONG)), [[1], []], [[1], []]),
    (Sequence(LONGLONG), [1, 2**53 + 1], [1, "9007199254740993"]),
    (Sequence(LONGLONG), [], []),
    (Sequence(DOUBLE), [1.0, float("inf")], [1.0, "Infinity"]),
    (Sequence(FLOAT), [1.100000023841858, 2.0], [1.1, 2.0]),
    (Sequence(OCTET), b"\1\2", {"base64": "AQI="}),
    (Array(Alias("IDL:A:1.0", "A", OCTET), 2), b"\1\2", {"base64": "AQI="}),
    (ANY, Any_(ANY, Any_(SHORT, 7)), {"type": "any", "value": {"type": "short", "value": 7}}),
    (OBJECT, None, None),
    (OBJECT, "IOR:0001", "IOR:0001"),
    (TYPECODE, Sequence(LONG), {"kind": "sequence", "element": "long", "bound": 0}),
    (ValueBox("IDL:B:1.0", "B", LONG), 7, 7),
    (ValueBox("IDL:B:1.0", "B", LONG), None, None),
    (NULL, None, None),
    (VOID, None, None),
    (NODE, {"n": 1, "kids": [{"n": 2, "kids": []}]}, {"n": 1, "kids": [{"n": 2, "kids": []}]}),
]


@pytest.mark.parametrize(("type_", "value", "form"), VALUES, ids=lambda part: str(part)[:40])
def test_value(type_: IdlType, value: Any, form: Any) -> None:
    written = value_to_json(type_, value)
    assert written == form
    assert json.loads(json.dumps(written)) == form
    assert value_from_json(type_, form) == value


def test_nan() -> None:
    assert value_to_json(DOUBLE, float("nan")) == "NaN"
    for type_ in (FLOAT, DOUBLE, LONGDOUBLE):
        assert str(value_from_json(type_, "NaN")) == "nan"


def test_both_spellings_of_64_bits_are_read() -> None:
    assert value_from_json(ULONGLONG, 2**64 - 1) == value_from_json(ULONGLONG, str(2**64 - 1)) == 2**64 - 1
    assert value_from_json(LONGLONG, "-5") == -5


def test_whole_numbers_are_floats_too() -> None:
    value = value_from_json(DOUBLE, 3)
    assert value == 3.0
    assert isinstance(value, float)


def test_a_fixed_may_leave_out_decimals() -> None:
    assert str(value_from_json(Fixed(8, 2), "12.5")) == "12.50"
    assert str(value_from_json(Fixed(8, 2), "12.500")) == "12.50"
    assert value_to_json(Fixed(8, 2), Decimal("1E+2")) == "100.00"


def test_members_come_in_the_order_of_the_type() -> None:
    assert list(value_from_json(ALARM, {"Severity": 3, "AlarmName": "LOS"})) == ["AlarmName", "Severity"]
    assert list(value_to_json(ALARM, {"Severity": 3, "AlarmName": "LOS"})) == ["AlarmName", "Severity"]


# Section 3: events --------------------------------------------------------------------------------------------------------


def test_structured_event() -> None:
    form = {
        "domain_name": "Telecom",
        "type_name": "Alarm",
        "event_name": "LOS-17",
        "variable_header": [{"name": "Priority", "type": "short", "value": 2}],
        "filterable_data": [{"name": "Severity", "type": "long", "value": 3}],
        "remainder_of_body": {"type": "string", "value": "loss of signal on port 7"},
    }
    event = StructuredEvent(
        "Telecom", "Alarm", "LOS-17", (Property("Priority", SHORT, 2),), (Property("Severity", LONG, 3),),
        Any_(STRING, "loss of signal on port 7"),
    )  # fmt: skip
    assert event_from_json(form) == event
    assert event_to_json(event) == form


def test_what_may_be_left_out_of_an_event() -> None:
    event = event_from_json({"domain_name": "", "type_name": "", "event_name": ""})
    assert event == StructuredEvent("", "", "", (), (), NULL_ANY)
    assert event_to_json(event) == {
        "domain_name": "", "type_name": "", "event_name": "", "variable_header": [], "filterable_data": [],
        "remainder_of_body": {"type": "null", "value": None},
    }  # fmt: skip


def test_untyped_event() -> None:
    form = {"any": {"type": "long", "value": 3}}
    assert event_from_json(form) == UntypedEvent(Any_(LONG, 3))
    assert event_to_json(UntypedEvent(Any_(LONG, 3))) == form


def test_typed_event() -> None:
    form = {
        "typed": {
            "interface": "IDL:Cafe/Coffee:1.0",
            "operation": "drinking_coffee",
            "parameters": [{"name": "cups", "type": "long", "value": 2}],
        }
    }
    event = TypedEvent("IDL:Cafe/Coffee:1.0", "drinking_coffee", (Property("cups", LONG, 2),))
    assert event_from_json(form) == event
    assert event_to_json(event) == form


def spelt_as_written(form: Any) -> Any:
    """64-bit numbers beyond 2^53 become text; everything else stays."""
    match form:
        case int() if abs(form) > 2**53:
            return str(form)
        case dict():
            return {key: spelt_as_written(value) for key, value in form.items()}
        case list():
            return [spelt_as_written(value) for value in form]
    return form


@pytest.mark.parametrize("form", EVENTS, ids=lambda form: str(form.get("type_name", next(iter(form)))))
def test_realistic_event(form: dict[str, Any]) -> None:
    event = event_from_json(form)
    written = event_to_json(event)
    expected = spelt_as_written(form)
    if isinstance(event, StructuredEvent):
        expected.setdefault("remainder_of_body", {"type": "null", "value": None})
    assert written == expected
    assert event_from_json(json.loads(json.dumps(written))) == event


# Section 4: messages ------------------------------------------------------------------------------------------------------


def test_message() -> None:
    form = {
        "headers": {
            "JMSType": "Structured Event", "JMSDeliveryMode": "PERSISTENT", "JMSPriority": 6, "JMSTimeToLive": 0,
            "JMSMessageID": "ID:1", "JMSTimestamp": 1795000000000, "JMSDestination": "topic://nms.alarms",
            "JMSCorrelationID": None, "JMSReplyTo": None,
        },
        "properties": [
            {"name": "$domain_type", "type": "String", "value": "Telecom"},
            {"name": "$Severity", "type": "int", "value": 3},
        ],
        "body": {"type": "TextMessage", "value": "loss of signal on port 7"},
    }  # fmt: skip
    message = Message(
        Headers(
            JMSType="Structured Event", JMSPriority=6, JMSMessageID="ID:1", JMSTimestamp=1795000000000,
            JMSDestination="topic://nms.alarms",
        ),
        (MessageProperty("$domain_type", "String", "Telecom"), MessageProperty("$Severity", "int", 3)),
        Body("TextMessage", "loss of signal on port 7"),
    )  # fmt: skip
    assert message_from_json(form) == message
    assert message_to_json(message) == form


BODIES: list[tuple[Body, Any]] = [
    (Body(), {"type": "Message", "value": None}),
    (Body("TextMessage", "a\0b"), {"type": "TextMessage", "value": "a\0b"}),
    (Body("TextMessage", None), {"type": "TextMessage", "value": None}),
    (Body("BytesMessage", b"\0\xff"), {"type": "BytesMessage", "value": {"base64": "AP8="}}),
    (Body("ObjectMessage", b""), {"type": "ObjectMessage", "value": {"base64": ""}}),
    (
        Body("StreamMessage", (StreamElement("int", 7), StreamElement("char", "é"), StreamElement("bytes", b"\1"))),
        {
            "type": "StreamMessage",
            "value": [
                {"type": "int", "value": 7},
                {"type": "char", "value": "é"},
                {"type": "bytes", "value": {"base64": "AQ=="}},
            ],
        },
    ),
    (
        Body("MapMessage", (MessageProperty("a", "long", 2**63 - 1), MessageProperty("b", "float", 1.100000023841858))),
        {
            "type": "MapMessage",
            "value": [
                {"name": "a", "type": "long", "value": "9223372036854775807"},
                {"name": "b", "type": "float", "value": 1.1},
            ],
        },
    ),
]


@pytest.mark.parametrize(("body", "form"), BODIES, ids=lambda part: str(part)[:30])
def test_body(body: Body, form: Any) -> None:
    assert message_to_json(Message(body=body))["body"] == form
    assert message_from_json({"body": form}) == Message(body=body)


def test_what_may_be_left_out_of_a_message() -> None:
    assert message_from_json({}) == Message()
    assert message_from_json({"headers": {"JMSPriority": None, "JMSType": None}}) == Message()


def test_headers_of_received_messages() -> None:
    message = Message(Headers(JMSExpiration=1795000000000, JMSRedelivered=True))
    form = message_to_json(message)
    assert (form["headers"]["JMSExpiration"], form["headers"]["JMSRedelivered"]) == (1795000000000, True)
    assert message_from_json(form) == message


def test_a_string_property_may_be_null() -> None:
    message = Message(properties=(MessageProperty("x", "String", None),))
    assert message_to_json(message)["properties"] == [{"name": "x", "type": "String", "value": None}]
    assert message_from_json(message_to_json(message)) == message
