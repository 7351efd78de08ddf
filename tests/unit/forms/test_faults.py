"""Every way in which a form can be wrong: the code says what, the path says exactly where."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from mappings.checking import check_value
from mappings.errors import MappingError
from mappings.forms.events import event_from_json, event_to_json
from mappings.forms.messages import message_from_json, message_to_json
from mappings.forms.types import type_from_json
from mappings.forms.values import value_from_json, value_to_json
from mappings.idl_types import (
    ANY,
    BOOLEAN,
    CHAR,
    DOUBLE,
    FLOAT,
    LONG,
    LONGLONG,
    NULL,
    OBJECT,
    OCTET,
    SHORT,
    STRING,
    TYPECODE,
    ULONGLONG,
    WCHAR,
    WSTRING,
    Array,
    Enum,
    Fixed,
    IdlType,
    Member,
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
from mappings.model import (
    Any_,
    Body,
    Message,
    MessageProperty,
    Property,
    StreamElement,
    StructuredEvent,
    TypedEvent,
    UnionValue,
    UntypedEvent,
)

ALARM = Struct("IDL:Acme/Alarm:1.0", "Alarm", (Member("AlarmName", STRING), Member("Severity", LONG)))
LEVEL = Enum("IDL:L:1.0", "Level", ("minor", "major"))
CHOICE = Union("IDL:U:1.0", "U", LONG, (UnionMember(1, "lo", SHORT),))
NODE = Value("IDL:V:1.0", "V", None, (Member("n", LONG), Member("next", Recursive("IDL:V:1.0"))))


def fault(call: Any, *arguments: Any) -> tuple[str, str]:
    with pytest.raises(MappingError) as caught:
        call(*arguments)
    error = caught.value
    assert error.message
    assert len(str(error)) < 500
    return error.code, error.path


def brief(part: Any) -> str:
    return "a long number" if isinstance(part, int) and part.bit_length() > 200 else str(part)[:60]


# Values -------------------------------------------------------------------------------------------------------------------

FORMS: list[tuple[IdlType, Any, str, str]] = [
    (BOOLEAN, 1, "MAP-VALUE-TYPE", "value"),
    (LONG, True, "MAP-VALUE-TYPE", "value"),
    (LONG, 5.0, "MAP-VALUE-TYPE", "value"),
    (LONG, "5", "MAP-VALUE-TYPE", "value"),
    (LONG, 2**31, "MAP-VALUE-RANGE", "value"),
    (LONG, 10**5000, "MAP-VALUE-RANGE", "value"),
    (OCTET, -1, "MAP-VALUE-RANGE", "value"),
    (OCTET, 256, "MAP-VALUE-RANGE", "value"),
    (LONGLONG, 2**63, "MAP-VALUE-RANGE", "value"),
    (LONGLONG, "9223372036854775808", "MAP-VALUE-RANGE", "value"),
    (LONGLONG, "1e3", "MAP-VALUE-TYPE", "value"),
    (LONGLONG, "٣", "MAP-VALUE-TYPE", "value"),
    (LONGLONG, "", "MAP-VALUE-TYPE", "value"),
    (ULONGLONG, -1, "MAP-VALUE-RANGE", "value"),
    (FLOAT, 1e39, "MAP-VALUE-RANGE", "value"),
    (FLOAT, "nan", "MAP-VALUE-TYPE", "value"),
    (DOUBLE, 10**400, "MAP-VALUE-RANGE", "value"),
    (DOUBLE, None, "MAP-VALUE-TYPE", "value"),
    (CHAR, "ab", "MAP-VALUE-TEXT", "value"),
    (CHAR, "", "MAP-VALUE-TEXT", "value"),
    (CHAR, "€", "MAP-VALUE-TEXT", "value"),
    (WCHAR, "🚀", "MAP-VALUE-TEXT", "value"),
    (WCHAR, "\ud800", "MAP-VALUE-TEXT", "value"),
    (WCHAR, 7, "MAP-VALUE-TYPE", "value"),
    (STRING, "a\0", "MAP-VALUE-TEXT", "value"),
    (STRING, "é\ud800", "MAP-VALUE-TEXT", "value"),
    (WSTRING, "\0", "MAP-VALUE-TEXT", "value"),
    (STRING, None, "MAP-VALUE-TYPE", "value"),
    (String(3), "éé", "MAP-VALUE-LENGTH", "value"),
    (WString(1), "ab", "MAP-VALUE-LENGTH", "value"),
    (Fixed(4, 2), "123.45", "MAP-VALUE-RANGE", "value"),
    (Fixed(4, 2), "1.234", "MAP-VALUE-RANGE", "value"),
    (Fixed(4, 2), 1.5, "MAP-VALUE-TYPE", "value"),
    (Fixed(4, 2), "1e1", "MAP-VALUE-TYPE", "value"),
    (Fixed(4, 2), "NaN", "MAP-VALUE-TYPE", "value"),
    (LEVEL, "medium", "MAP-VALUE-LABEL", "value"),
    (LEVEL, 0, "MAP-VALUE-TYPE", "value"),
    (ALARM, [], "MAP-VALUE-TYPE", "value"),
    (ALARM, {"AlarmName": "x"}, "MAP-VALUE-MEMBER", "value.Severity"),
    (ALARM, {"AlarmName": "x", "Severity": 1, "more": 2}, "MAP-VALUE-MEMBER", "value.more"),
    (ALARM, {"AlarmName": "x", "Severity": "high"}, "MAP-VALUE-TYPE", "value.Severity"),
    (CHOICE, {"v": 1}, "MAP-VALUE-TYPE", "value"),
    (CHOICE, {"d": 1, "v": 2, "x": 3}, "MAP-VALUE-TYPE", "value"),
    (CHOICE, {"d": "1", "v": 2}, "MAP-VALUE-TYPE", "value.d"),
    (CHOICE, {"d": 1, "v": "2"}, "MAP-VALUE-TYPE", "value.v"),
    (CHOICE, {"d": 1}, "MAP-VALUE-ARM", "value.v"),
    (CHOICE, {"d": 2, "v": 1}, "MAP-VALUE-ARM", "value.v"),
    (Sequence(LONG), {}, "MAP-VALUE-TYPE", "value"),
    (Sequence(LONG), [1, 2, "3"], "MAP-VALUE-TYPE", "value[2]"),
    (Sequence(LONG), [1, 2, 2**31], "MAP-VALUE-RANGE", "value[2]"),
    (Sequence(BOOLEAN), [True, 1], "MAP-VALUE-TYPE", "value[1]"),
    (Sequence(DOUBLE), [1.0, "x"], "MAP-VALUE-TYPE", "value[1]"),
    (Sequence(STRING), ["a", "b\0"], "MAP-VALUE-TEXT", "value[1]"),
    (Sequence(Sequence(ALARM)), [[], [{"AlarmName": "", "Severity": None}]], "MAP-VALUE-TYPE", "value[1][0].Severity"),
    (Sequence(LONG, 1), [1, 2], "MAP-VALUE-LENGTH", "value"),
    (Array(LONG, 3), [1, 2], "MAP-VALUE-LENGTH", "value"),
    (Sequence(OCTET), [1, 2], "MAP-VALUE-TYPE", "value"),
    (Sequence(OCTET), {"base64": "AQ="}, "MAP-VALUE-TYPE", "value.base64"),
    (Sequence(OCTET), {"base64": "A*=="}, "MAP-VALUE-TYPE", "value.base64"),
    (Sequence(OCTET), {"base64": 7}, "MAP-VALUE-TYPE", "value.base64"),
    (Array(OCTET, 3), {"base64": "AQI="}, "MAP-VALUE-LENGTH", "value"),
    (ANY, {"type": "long"}, "MAP-VALUE-TYPE", "value"),
    (ANY, {"type": "long", "value": 1, "x": 1}, "MAP-VALUE-TYPE", "value"),
    (ANY, {"type": "int", "value": 1}, "MAP-TYPE-FORM", "value.type"),
    (ANY, {"type": "any", "value": {"type": "long", "value": "x"}}, "MAP-VALUE-TYPE", "value.value.value"),
    (TYPECODE, "int", "MAP-TYPE-FORM", "value"),
    (OBJECT, "corbaloc::host/key", "MAP-VALUE-REFERENCE", "value"),
    (OBJECT, "IOR:0", "MAP-VALUE-REFERENCE", "value"),
    (OBJECT, "IOR:0g", "MAP-VALUE-REFERENCE", "value"),
    (OBJECT, "IOR:00 00 ", "MAP-VALUE-REFERENCE", "value"),
    (OBJECT, 7, "MAP-VALUE-TYPE", "value"),
    (ValueBox("IDL:B:1.0", "B", ALARM), {"AlarmName": 1, "Severity": 1}, "MAP-VALUE-TYPE", "value.AlarmName"),
    (NODE, {"n": 1, "next": {"n": 2, "next": {"n": "x", "next": None}}}, "MAP-VALUE-TYPE", "value.next.next.n"),
    (NULL, 0, "MAP-VALUE-TYPE", "value"),
    (Recursive("IDL:X:1.0"), {}, "MAP-TYPE-FORM", "value"),
]


@pytest.mark.parametrize(("type_", "form", "code", "path"), FORMS, ids=brief)
def test_value_form(type_: IdlType, form: Any, code: str, path: str) -> None:
    assert fault(value_from_json, type_, form) == (code, path)
    assert fault(value_from_json, type_, form, "body") == (code, path.replace("value", "body", 1))


VALUES: list[tuple[IdlType, Any, str, str]] = [
    (BOOLEAN, 1, "MAP-VALUE-TYPE", "value"),
    (LONG, True, "MAP-VALUE-TYPE", "value"),
    (LONG, -(2**31) - 1, "MAP-VALUE-RANGE", "value"),
    (FLOAT, 1e39, "MAP-VALUE-RANGE", "value"),
    (FLOAT, 1, "MAP-VALUE-TYPE", "value"),
    (DOUBLE, 1, "MAP-VALUE-TYPE", "value"),
    (CHAR, "ab", "MAP-VALUE-TEXT", "value"),
    (STRING, "\0", "MAP-VALUE-TEXT", "value"),
    (STRING, b"x", "MAP-VALUE-TYPE", "value"),
    (String(1), "ab", "MAP-VALUE-LENGTH", "value"),
    (Fixed(4, 2), "1.5", "MAP-VALUE-TYPE", "value"),
    (Fixed(4, 2), Decimal("NaN"), "MAP-VALUE-RANGE", "value"),
    (Fixed(4, 2), Decimal("100"), "MAP-VALUE-RANGE", "value"),
    (Fixed(4, 2), Decimal("1E+999999"), "MAP-VALUE-RANGE", "value"),
    (LEVEL, "medium", "MAP-VALUE-LABEL", "value"),
    (ALARM, {"AlarmName": "x", "Severity": 2**31}, "MAP-VALUE-RANGE", "value.Severity"),
    (ALARM, None, "MAP-VALUE-TYPE", "value"),
    (ALARM, {"AlarmName": "x"}, "MAP-VALUE-MEMBER", "value.Severity"),
    (CHOICE, {"d": 1, "v": 2}, "MAP-VALUE-TYPE", "value"),
    (CHOICE, UnionValue("x", 1), "MAP-VALUE-TYPE", "value.d"),
    (CHOICE, UnionValue(1), "MAP-VALUE-ARM", "value.v"),
    (CHOICE, UnionValue(2, 1), "MAP-VALUE-ARM", "value.v"),
    (Sequence(LONG), (1, 2), "MAP-VALUE-TYPE", "value"),
    (Sequence(LONG), [1, 2**31], "MAP-VALUE-RANGE", "value[1]"),
    (Sequence(OCTET), [1, 2], "MAP-VALUE-TYPE", "value"),
    (Sequence(OCTET, 1), b"ab", "MAP-VALUE-LENGTH", "value"),
    (Array(LONG, 1), [], "MAP-VALUE-LENGTH", "value"),
    (ANY, 7, "MAP-VALUE-TYPE", "value"),
    (ANY, Any_(LONG, "x"), "MAP-VALUE-TYPE", "value.value"),
    (ANY, Any_(Recursive("IDL:X:1.0"), 1), "MAP-TYPE-FORM", "value.type"),
    (TYPECODE, "long", "MAP-VALUE-TYPE", "value"),
    (OBJECT, "x", "MAP-VALUE-REFERENCE", "value"),
    (NODE, {"n": 1, "next": {"n": 2, "next": 3}}, "MAP-VALUE-TYPE", "value.next.next"),
]


@pytest.mark.parametrize(("type_", "value", "code", "path"), VALUES, ids=brief)
def test_value(type_: IdlType, value: Any, code: str, path: str) -> None:
    assert fault(check_value, type_, value) == (code, path)
    assert fault(value_to_json, type_, value) == (code, path)


# Types --------------------------------------------------------------------------------------------------------------------


def struct(**changes: Any) -> dict[str, Any]:
    return {"kind": "struct", "id": "IDL:S:1.0", "name": "S", "members": [{"name": "a", "type": "long"}], **changes}


def union(*labels: Any, discriminator: Any = "short") -> dict[str, Any]:
    members = [{"label": label, "name": "a", "type": "long"} for label in labels]
    return {"kind": "union", "id": "IDL:U:1.0", "name": "U", "discriminator": discriminator, "members": members}


def without(form: dict[str, Any], key: str) -> dict[str, Any]:
    return {other: value for other, value in form.items() if other != key}


VALUE_FORM = {"kind": "value", "id": "IDL:V:1.0", "name": "V", "base": None, "members": [{"name": "a", "type": "long"}]}
BOX_FORM = {"kind": "value_box", "id": "IDL:B:1.0", "name": "B", "type": "long"}

TYPES: list[tuple[Any, str, str]] = [
    ("int", "MAP-TYPE-FORM", "type"),
    (None, "MAP-TYPE-FORM", "type"),
    (["long"], "MAP-TYPE-FORM", "type"),
    ({}, "MAP-TYPE-FORM", "type.kind"),
    ({"kind": "native"}, "MAP-TYPE-FORM", "type.kind"),
    ({"kind": ["struct"]}, "MAP-TYPE-FORM", "type.kind"),
    (without(struct(), "id"), "MAP-TYPE-FORM", "type.id"),
    (struct(id=7), "MAP-TYPE-FORM", "type.id"),
    (struct(id="a\0"), "MAP-VALUE-TEXT", "type.id"),
    (struct(extra=1), "MAP-TYPE-FORM", "type.extra"),
    (struct(members={}), "MAP-TYPE-FORM", "type.members"),
    (struct(members=[{"name": "a"}]), "MAP-TYPE-FORM", "type.members[0].type"),
    (struct(members=[{"name": "", "type": "long"}]), "MAP-TYPE-FORM", "type.members[0].name"),
    (struct(members=[{"name": "a", "type": "long", "visibility": "public"}]), "MAP-TYPE-FORM", "type.members[0].visibility"),
    (struct(members=[{"name": "a", "type": "long"}] * 2), "MAP-TYPE-FORM", "type.members[1].name"),
    (struct(members=[{"name": "a", "type": "lung"}]), "MAP-TYPE-FORM", "type.members[0].type"),
    (union(1, 1), "MAP-TYPE-FORM", "type.members[1].label"),
    (union("default", "default"), "MAP-TYPE-FORM", "type.members[1].label"),
    (union(2**15), "MAP-TYPE-FORM", "type.members[0].label"),
    (union("x"), "MAP-TYPE-FORM", "type.members[0].label"),
    (union(None), "MAP-TYPE-FORM", "type.members[0].label"),
    (union(1, discriminator="octet"), "MAP-TYPE-FORM", "type.discriminator"),
    (union(1, discriminator="string"), "MAP-TYPE-FORM", "type.discriminator"),
    (
        union("x", discriminator={"kind": "enum", "id": "", "name": "", "members": ["y"]}),
        "MAP-TYPE-FORM", "type.members[0].label",
    ),
    ({"kind": "enum", "id": "IDL:E:1.0", "name": "E", "members": []}, "MAP-TYPE-FORM", "type.members"),
    ({"kind": "enum", "id": "IDL:E:1.0", "name": "E", "members": ["a", "a"]}, "MAP-TYPE-FORM", "type.members[1]"),
    ({"kind": "enum", "id": "IDL:E:1.0", "name": "E", "members": ["a", 1]}, "MAP-VALUE-TYPE", "type.members[1]"),
    ({"kind": "sequence"}, "MAP-TYPE-FORM", "type.element"),
    ({"kind": "sequence", "element": "long", "bound": -1}, "MAP-TYPE-FORM", "type.bound"),
    ({"kind": "sequence", "element": "long", "bound": 2**32}, "MAP-TYPE-FORM", "type.bound"),
    ({"kind": "sequence", "element": {"kind": "sequence", "element": 1}}, "MAP-TYPE-FORM", "type.element.element"),
    ({"kind": "array", "element": "long"}, "MAP-TYPE-FORM", "type.length"),
    ({"kind": "array", "element": "long", "length": 0}, "MAP-TYPE-FORM", "type.length"),
    ({"kind": "array", "element": "long", "length": True}, "MAP-TYPE-FORM", "type.length"),
    ({"kind": "string", "bound": "5"}, "MAP-TYPE-FORM", "type.bound"),
    ({"kind": "fixed", "digits": 32, "scale": 0}, "MAP-TYPE-FORM", "type.digits"),
    ({"kind": "fixed", "digits": 3, "scale": 4}, "MAP-TYPE-FORM", "type.scale"),
    ({"kind": "alias", "id": "IDL:A:1.0", "name": "A"}, "MAP-TYPE-FORM", "type.type"),
    ({"kind": "objref", "id": "IDL:I:1.0"}, "MAP-TYPE-FORM", "type.name"),
    ({**BOX_FORM, "type": BOX_FORM}, "MAP-TYPE-FORM", "type.type"),
    ({**VALUE_FORM, "base": "long"}, "MAP-TYPE-FORM", "type.base"),
    ({**VALUE_FORM, "base": VALUE_FORM}, "MAP-TYPE-FORM", "type.members[0].name"),
    ({**VALUE_FORM, "modifier": "static"}, "MAP-TYPE-FORM", "type.modifier"),
    (
        {**VALUE_FORM, "members": [{"name": "a", "type": "long", "visibility": "secret"}]},
        "MAP-TYPE-FORM", "type.members[0].visibility",
    ),
    ({"kind": "recursive", "id": "IDL:S:1.0"}, "MAP-TYPE-FORM", "type.id"),
    (struct(members=[{"name": "a", "type": {"kind": "recursive", "id": "IDL:T:1.0"}}]), "MAP-TYPE-FORM", "type.members[0].type.id"),
    ({"kind": "named", "id": "IDL:Acme/Alarm:1.0"}, "MAP-TYPE-UNKNOWN", "type.id"),
    ({"kind": "named"}, "MAP-TYPE-FORM", "type.id"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "code", "path"), TYPES, ids=brief)
def test_type(form: Any, code: str, path: str) -> None:
    assert fault(type_from_json, form) == (code, path)
    assert fault(type_from_json, form) == (code, path), "a second time, when something may have been kept"


# Events -------------------------------------------------------------------------------------------------------------------


def event(**changes: Any) -> dict[str, Any]:
    return {"domain_name": "d", "type_name": "t", "event_name": "e", **changes}


def field(**changes: Any) -> dict[str, Any]:
    return {"name": "n", "type": "long", "value": 1, **changes}


ALARM_FORM = {
    "kind": "struct", "id": "IDL:Acme/Alarm:1.0", "name": "Alarm",
    "members": [{"name": "AlarmName", "type": "string"}, {"name": "Severity", "type": "long"}],
}  # fmt: skip

EVENTS: list[tuple[Any, str, str]] = [
    ([], "MAP-EVENT-FORM", ""),
    (None, "MAP-EVENT-FORM", ""),
    ({}, "MAP-EVENT-FORM", "domain_name"),
    (event(type_name=None), "MAP-EVENT-FORM", "type_name"),
    (event(event_name="\0"), "MAP-VALUE-TEXT", "event_name"),
    (event(body=1), "MAP-EVENT-FORM", "body"),
    (event(filterable_data={}), "MAP-EVENT-FORM", "filterable_data"),
    (event(filterable_data=[7]), "MAP-EVENT-FORM", "filterable_data[0]"),
    (event(filterable_data=[field(), field(name=1)]), "MAP-EVENT-FORM", "filterable_data[1].name"),
    (event(filterable_data=[field(note=1)]), "MAP-EVENT-FORM", "filterable_data[0].note"),
    (event(filterable_data=[without(field(), "value")]), "MAP-EVENT-FORM", "filterable_data[0].value"),
    (event(variable_header=[field(type="int")]), "MAP-TYPE-FORM", "variable_header[0].type"),
    (event(variable_header=[field(value="x")]), "MAP-VALUE-TYPE", "variable_header[0].value"),
    (
        event(filterable_data=[field(type=ALARM_FORM, value={"AlarmName": "LOS", "Severity": "high"})]),
        "MAP-VALUE-TYPE", "filterable_data[0].value.Severity",
    ),
    (event(remainder_of_body=None), "MAP-VALUE-TYPE", "remainder_of_body"),
    (event(remainder_of_body={"type": "long", "value": None}), "MAP-VALUE-TYPE", "remainder_of_body.value"),
    ({"any": {"type": "long", "value": 1}, "domain_name": "d"}, "MAP-EVENT-FORM", "domain_name"),
    ({"any": {"type": "long", "value": "x"}}, "MAP-VALUE-TYPE", "any.value"),
    ({"typed": {"interface": "IDL:I:1.0"}}, "MAP-EVENT-FORM", "typed.operation"),
    ({"typed": {"interface": "", "operation": "x"}}, "MAP-EVENT-FORM", "typed.interface"),
    (
        {"typed": {"interface": "IDL:I:1.0", "operation": "x", "parameters": [field(value=None)]}},
        "MAP-VALUE-TYPE", "typed.parameters[0].value",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("form", "code", "path"), EVENTS, ids=brief)
def test_event_form(form: Any, code: str, path: str) -> None:
    assert fault(event_from_json, form) == (code, path)


@pytest.mark.parametrize(
    ("event_", "code", "path"),
    [
        (StructuredEvent("\0", "", ""), "MAP-VALUE-TEXT", "domain_name"),
        (
            StructuredEvent("", "", "", (), (Property("a", ALARM, {"AlarmName": "", "Severity": "x"}),)),
            "MAP-VALUE-TYPE", "filterable_data[0].value.Severity",
        ),
        (StructuredEvent("", "", "", (Property("\ud800", LONG, 1),)), "MAP-VALUE-TEXT", "variable_header[0].name"),
        (StructuredEvent("", "", "", (), (), Any_(LONG, 2**40)), "MAP-VALUE-RANGE", "remainder_of_body.value"),
        (UntypedEvent(Any_(LONG, None)), "MAP-VALUE-TYPE", "any.value"),
        (TypedEvent("I", "\0"), "MAP-VALUE-TEXT", "typed.operation"),
        (TypedEvent("I", "o", (Property("p", LONG, None),)), "MAP-VALUE-TYPE", "typed.parameters[0].value"),
    ],
)  # fmt: skip
def test_event(event_: Any, code: str, path: str) -> None:
    assert fault(event_to_json, event_) == (code, path)


# Messages -----------------------------------------------------------------------------------------------------------------

MESSAGES: list[tuple[Any, str, str]] = [
    ([], "MAP-MESSAGE-FORM", ""),
    ({"header": {}}, "MAP-MESSAGE-FORM", "header"),
    ({"headers": {"JMSXGroupID": "x"}}, "MAP-MESSAGE-FORM", "headers.JMSXGroupID"),
    ({"headers": {"JMSPriority": 10}}, "MAP-VALUE-RANGE", "headers.JMSPriority"),
    ({"headers": {"JMSDeliveryMode": 2}}, "MAP-MESSAGE-FORM", "headers.JMSDeliveryMode"),
    ({"headers": {"JMSTimeToLive": -1}}, "MAP-VALUE-RANGE", "headers.JMSTimeToLive"),
    ({"headers": {"JMSTimestamp": "yesterday"}}, "MAP-VALUE-TYPE", "headers.JMSTimestamp"),
    ({"headers": {"JMSRedelivered": "true"}}, "MAP-VALUE-TYPE", "headers.JMSRedelivered"),
    ({"headers": {"JMSType": 7}}, "MAP-VALUE-TYPE", "headers.JMSType"),
    ({"properties": {}}, "MAP-MESSAGE-FORM", "properties"),
    ({"properties": [{"name": "a", "type": "integer", "value": 1}]}, "MAP-MESSAGE-FORM", "properties[0].type"),
    ({"properties": [{"name": "a", "type": "bytes", "value": {"base64": ""}}]}, "MAP-MESSAGE-FORM", "properties[0].type"),
    ({"properties": [{"name": None, "type": "int", "value": 1}]}, "MAP-MESSAGE-FORM", "properties[0].name"),
    ({"properties": [{"name": "\udfff", "type": "int", "value": 1}]}, "MAP-VALUE-TEXT", "properties[0].name"),
    ({"properties": [{"name": "a", "type": "byte", "value": 128}]}, "MAP-VALUE-RANGE", "properties[0].value"),
    ({"properties": [{"name": "a", "type": "boolean", "value": 0}]}, "MAP-VALUE-TYPE", "properties[0].value"),
    ({"properties": [{"name": "a", "type": "String", "value": "\ud800"}]}, "MAP-VALUE-TEXT", "properties[0].value"),
    ({"properties": [{"name": "a", "type": "int"}]}, "MAP-MESSAGE-FORM", "properties[0].value"),
    ({"body": None}, "MAP-MESSAGE-FORM", "body"),
    ({"body": {"type": "XMLMessage", "value": ""}}, "MAP-MESSAGE-FORM", "body.type"),
    ({"body": {"type": ["Message"]}}, "MAP-MESSAGE-FORM", "body.type"),
    ({"body": {"type": "Message", "value": ""}}, "MAP-VALUE-TYPE", "body.value"),
    ({"body": {"type": "TextMessage", "value": 7}}, "MAP-VALUE-TYPE", "body.value"),
    ({"body": {"type": "BytesMessage", "value": "AQI="}}, "MAP-VALUE-TYPE", "body.value"),
    ({"body": {"type": "BytesMessage"}}, "MAP-VALUE-TYPE", "body.value"),
    ({"body": {"type": "StreamMessage", "value": [{"type": "char", "value": "ab"}]}}, "MAP-VALUE-TEXT", "body.value[0].value"),
    (
        {"body": {"type": "StreamMessage", "value": [{"name": "a", "type": "int", "value": 1}]}},
        "MAP-MESSAGE-FORM", "body.value[0].name",
    ),
    ({"body": {"type": "MapMessage", "value": [{"type": "int", "value": 1}]}}, "MAP-MESSAGE-FORM", "body.value[0].name"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "code", "path"), MESSAGES, ids=brief)
def test_message_form(form: Any, code: str, path: str) -> None:
    assert fault(message_from_json, form) == (code, path)


@pytest.mark.parametrize(
    ("message", "code", "path"),
    [
        (Message(properties=(MessageProperty("a", "int", 2**31),)), "MAP-VALUE-RANGE", "properties[0].value"),
        (Message(properties=(MessageProperty("a", "int", "1"),)), "MAP-VALUE-TYPE", "properties[0].value"),
        (Message(properties=(MessageProperty("a", "bytes", b""),)), "MAP-MESSAGE-FORM", "properties[0].type"),
        (Message(body=Body("StreamMessage", (StreamElement("char", ""),))), "MAP-VALUE-TEXT", "body.value[0].value"),
        (Message(body=Body("BytesMessage", "text")), "MAP-VALUE-TYPE", "body.value"),
        (Message(body=Body("TextMessage", b"octets")), "MAP-VALUE-TYPE", "body.value"),
        (Message(body=Body("Text", "x")), "MAP-MESSAGE-FORM", "body.type"),
    ],
)
def test_message(message: Message, code: str, path: str) -> None:
    assert fault(message_to_json, message) == (code, path)
