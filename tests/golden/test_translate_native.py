"""Messages that no gateway of ours made (RULES.md 5.5, point 2 and 3)."""

from __future__ import annotations

from typing import Any

import pytest

from mappings.errors import Expired
from mappings.idl_types import (
    ANY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    LONG,
    LONGLONG,
    NULL,
    OCTET,
    SHORT,
    STRING,
    WCHAR,
    WSTRING,
    IdlType,
    Sequence,
)
from mappings.known_types import OCTET_SEQ, PROPERTY_SEQ, TIME_T
from mappings.model import Any_, Body, Headers, Message, MessageProperty, Property, StreamElement, StructuredEvent
from mappings.translate import Options, Translator
from tests.unit.translate.build import NOW_MS


def read(message: Message, **options: Any) -> StructuredEvent:
    return Translator(Options(**options)).reverse(message, now_ms=NOW_MS)


def test_headers_become_the_variable_header() -> None:
    headers = Headers(
        "Order",
        "NON_PERSISTENT",
        6,
        JMSMessageID="ID:1",
        JMSTimestamp=NOW_MS - 5,
        JMSExpiration=NOW_MS + 2000,
        JMSDestination="queue://orders",
        JMSCorrelationID="c-1",
        JMSReplyTo="queue://answers",
        JMSRedelivered=False,
    )
    event = read(Message(headers))
    assert (event.domain_name, event.type_name, event.event_name) == ("JMS", "Order", "")
    assert event.variable_header == (
        Property("EventReliability", SHORT, 0),
        Property("Priority", SHORT, 2),
        Property("Timeout", TIME_T, 20_000_000),
        Property("JMSMessageID", STRING, "ID:1"),
        Property("JMSCorrelationID", STRING, "c-1"),
        Property("JMSReplyTo", STRING, "queue://answers"),
        Property("JMSTimestamp", LONGLONG, NOW_MS - 5),
        Property("JMSDestination", STRING, "queue://orders"),
        Property("JMSRedelivered", BOOLEAN, False),
    )


def test_what_is_not_known_is_not_there() -> None:
    event = read(Message())
    assert event.variable_header == (Property("EventReliability", SHORT, 1), Property("Priority", SHORT, 0))
    assert event.filterable_data == ()


@pytest.mark.parametrize(
    ("body", "type_name"),
    [
        (Body(), "Message"),
        (Body("TextMessage", "x"), "TextMessage"),
        (Body("BytesMessage", b""), "BytesMessage"),
        (Body("MapMessage", ()), "MapMessage"),
        (Body("StreamMessage", ()), "StreamMessage"),
        (Body("ObjectMessage", b""), "ObjectMessage"),
    ],
)
def test_without_a_jms_type_the_kind_of_message_is_the_type(body: Body, type_name: str) -> None:
    assert read(Message(body=body)).type_name == type_name


@pytest.mark.parametrize(
    ("property_", "field"),
    [
        (("boolean", True), (BOOLEAN, True)),
        (("byte", -56), (OCTET, 200)),
        (("short", -5), (SHORT, -5)),
        (("int", 7), (LONG, 7)),
        (("long", 2**40), (LONGLONG, 2**40)),
        (("float", 0.5), (FLOAT, 0.5)),
        (("double", 0.1), (DOUBLE, 0.1)),
        (("String", "12"), (STRING, "12")),
        (("String", "a\0b"), (STRING, "a\ufffdb")),
    ],
)
def test_properties_become_filterable_data_under_their_own_names(
    property_: tuple[str, Any], field: tuple[IdlType, Any]
) -> None:
    """OC-TYPE-10 for the last."""
    event = read(Message(properties=(MessageProperty("$x.y", *property_),)))
    assert event.filterable_data == (Property("$x.y", *field),)


def test_choices_of_the_configuration() -> None:
    message = Message(
        Headers(JMSMessageID="ID:9"),
        (MessageProperty("b", "byte", -1), MessageProperty("s", "String", "x"), MessageProperty("id", "int", 4)),
        Body("TextMessage", "t"),
    )
    event = read(message, byte_as="short", text_as="wstring", native_domain="Orders", event_name_from="JMSMessageID")
    assert (event.domain_name, event.event_name) == ("Orders", "ID:9")
    assert event.filterable_data[:2] == (Property("b", SHORT, -1), Property("s", WSTRING, "x"))
    assert event.remainder_of_body == Any_(WSTRING, "t")
    assert read(message, event_name_from="id").event_name == "4"
    assert read(message, event_name_from="nothing").event_name == ""


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("12", (LONG, 12)),
        ("-2147483649", (LONGLONG, -2147483649)),
        ("1.5", (DOUBLE, 1.5)),
        ("1e3", (DOUBLE, 1000.0)),
        ("9" * 19, (DOUBLE, 9999999999999999999.0)),
        ("1_000", (STRING, "1_000")),
        ("0x10", (STRING, "0x10")),
        ("NaN", (STRING, "NaN")),
        (" 1", (STRING, " 1")),
        ("", (STRING, "")),
    ],
)
def test_text_that_looks_like_a_number_is_one_only_where_it_is_asked_for(text: str, guess: tuple[IdlType, Any]) -> None:
    message = Message(properties=(MessageProperty("x", "String", text),))
    assert read(message).filterable_data == (Property("x", STRING, text),)
    assert read(message, numeric_headers="guess").filterable_data == (Property("x", *guess),)


@pytest.mark.parametrize(
    ("body", "remainder"),
    [
        (Body(), Any_(NULL, None)),
        (Body("TextMessage", None), Any_(NULL, None)),
        (Body("TextMessage", "hi"), Any_(STRING, "hi")),
        (Body("BytesMessage", b"\0\1"), Any_(OCTET_SEQ, b"\0\1")),
        (Body("ObjectMessage", b"\0\1"), Any_(OCTET_SEQ, b"\0\1")),
        (
            Body("MapMessage", (MessageProperty("a", "int", 1), MessageProperty("n", "String", None))),
            Any_(PROPERTY_SEQ, [{"name": "a", "value": Any_(LONG, 1)}, {"name": "n", "value": Any_(NULL, None)}]),
        ),
        (
            Body("StreamMessage", (StreamElement("char", "x"), StreamElement("bytes", b"\2"))),
            Any_(Sequence(ANY), [Any_(WCHAR, "x"), Any_(OCTET_SEQ, b"\2")]),
        ),
    ],
)
def test_bodies(body: Body, remainder: Any_) -> None:
    assert read(Message(body=body)).remainder_of_body == remainder


def test_the_class_of_a_serialized_object_is_named() -> None:
    data = b"\xac\xed\x00\x05sr\x00\x11java.lang.Integer\x12\xe2"
    event = read(Message(body=Body("ObjectMessage", data)))
    assert event.filterable_data == (Property("JMS_object", STRING, "java.lang.Integer"),)
    assert event.remainder_of_body == Any_(OCTET_SEQ, data)


def test_an_expired_message_is_not_shown() -> None:
    with pytest.raises(Expired):
        read(Message(Headers(JMSExpiration=NOW_MS)))


def test_a_message_of_ours_whose_metadata_was_lost_is_read_by_its_names() -> None:
    """RULES.md 5.5 point 1: JMSType and two properties are enough."""
    properties = (
        MessageProperty("$domain_type", "String", "d"),
        MessageProperty("$type_name", "String", "t"),
        MessageProperty("$x", "int", 1),
    )
    assert read(Message(Headers("Structured Event"), properties)) == StructuredEvent(
        "d", "t", "", (), (Property("x", LONG, 1),)
    )
    assert read(Message(Headers("Other"), properties)).domain_name == "JMS"


def test_native_messages_come_back_as_they_were_where_the_types_allow() -> None:
    """The way there and back again: stream, map and text stay what they are."""
    for body in (
        Body("TextMessage", "hi"),
        Body("StreamMessage", (StreamElement("int", 1), StreamElement("String", "x"))),
        Body("MapMessage", (MessageProperty("a", "int", 1), MessageProperty("b", "bytes", b"\1"))),
        Body("BytesMessage", b"\1"),
        Body(),
    ):
        translator = Translator()
        event = translator.reverse(Message(body=body), now_ms=NOW_MS)
        assert translator.forward(event, now_ms=NOW_MS).body == body


def test_what_became_of_every_part_is_explained() -> None:
    message = Message(Headers("T"), (MessageProperty("x", "int", 1),), Body("TextMessage", "hi"))
    entries = Translator().explain_reverse(message, now_ms=NOW_MS).entries
    assert {(entry.source, entry.rule, entry.to) for entry in entries} == {
        ("headers.JMSDeliveryMode", "NATIVE-HEADER", "variable_header[0]"),
        ("headers.JMSPriority", "NATIVE-HEADER", "variable_header[1]"),
        ("headers.JMSType", "NATIVE-TYPE", "type_name"),
        ("properties.x", "NATIVE-PROPERTY", "filterable_data[0]"),
        ("body", "NATIVE-BODY", "remainder_of_body"),
    }
