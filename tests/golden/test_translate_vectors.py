"""The worked vectors of RULES.md 5.6, row by row: what each event becomes, and that it comes back.

Expected values are those of the table. `$se` and `$gid` are left out of it, as there; a test of its own looks at them.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from mappings.cdr import decode_any, encode_any
from mappings.errors import Expired
from mappings.event_forms import to_structured
from mappings.idl_types import (
    CHAR,
    LONG,
    NULL,
    OCTET,
    SHORT,
    STRING,
    ULONG,
    ULONGLONG,
    WSTRING,
    Enum,
    Fixed,
    IdlType,
    Member,
    Sequence,
    Struct,
)
from mappings.known_types import NAME, PROPERTY_SEQ, TIME_T, UTC_T
from mappings.model import (
    Any_,
    Body,
    Headers,
    Message,
    MessageProperty,
    Property,
    StreamElement,
    StructuredEvent,
    TypedEvent,
    UntypedEvent,
)
from mappings.translate import Options, Translator

NOW_MS = 1_795_000_000_000
UTC_OF_NOW = 122_192_928_000_000_000 + NOW_MS * 10_000  # UtcT counts 100 ns from 1582-10-15

ALARM = Struct("IDL:Acme/Alarm:1.0", "Alarm", (Member("AlarmName", STRING), Member("Severity", LONG)))
SEVERITY = Enum("IDL:Acme/Sev:1.0", "Sev", ("minor", "major"))
POINT = Struct("IDL:M/P:1.0", "P", (Member("n", STRING), Member("v", LONG)))

FIXED = [("$domain_type", "String", "Telecom"), ("$type_name", "String", "Alarm"), ("$event_name", "String", "a1")]


def event(
    header: list[tuple[str, IdlType, Any]] | None = None,
    data: list[tuple[str, IdlType, Any]] | None = None,
    remainder: Any_ | None = None,
) -> StructuredEvent:
    return StructuredEvent(
        "Telecom",
        "Alarm",
        "a1",
        tuple(Property(*field) for field in header or []),
        tuple(Property(*field) for field in data or []),
        remainder or Any_(NULL, None),
    )


def translated(the_event: StructuredEvent, profile: str = "borland") -> Message:
    """The message without `$se`; the event must come back from the whole one."""
    translator = Translator(Options(profile=profile))  # type: ignore[arg-type]
    message = translator.forward(the_event, now_ms=NOW_MS)
    assert translator.forward(the_event, now_ms=NOW_MS) == message, "the plan says something else than the walk"
    assert translator.reverse(message, now_ms=NOW_MS) == the_event
    metadata = {"borland": "$se", "strict": "$se", "mq": "_sse"}[profile]
    assert [p.name for p in message.properties].count(metadata) == 1
    return Message(message.headers, tuple(p for p in message.properties if p.name != metadata), message.body)


def fields(message: Message) -> list[tuple[str, str, Any]]:
    """The properties after the three of the fixed header."""
    assert [tuple(p) for p in message.properties[:3]] == FIXED
    return [tuple(p) for p in message.properties[3:]]  # type: ignore[misc]


@pytest.mark.parametrize("profile", ["borland", "strict"])
def test_v1_fixed_header_only(profile: str) -> None:
    """SE-HDR-4, SE-FIX-1, SE-FIX-2, SE-FIX-3, SE-VAR-4, OC-BODY-1."""
    message = translated(event(), profile)
    assert message.headers == Headers("Structured Event", "PERSISTENT", 4, 0, JMSTimestamp=NOW_MS)
    assert fields(message) == []
    assert message.body == Body("Message", None)


@pytest.mark.parametrize("profile", ["borland", "strict"])
def test_v2_quality_of_service_becomes_header_fields(profile: str) -> None:
    """SE-VAR-1, SE-VAR-2, SE-VAR-3, OC-VAR-7."""
    header = [("EventReliability", SHORT, 0), ("Priority", SHORT, 2), ("Timeout", TIME_T, 50_000_000)]
    message = translated(event(header), profile)
    assert message.headers.JMSDeliveryMode == "NON_PERSISTENT"
    assert message.headers.JMSPriority == 6
    assert message.headers.JMSTimeToLive == 5000
    assert fields(message) == []


@pytest.mark.parametrize(("timeout", "ttl"), [(1, 1), (0, 0)])
def test_v3_timeouts_round_up_and_zero_is_none(timeout: int, ttl: int) -> None:
    """OC-VAR-2."""
    message = translated(event([("Timeout", TIME_T, timeout)]))
    assert message.headers.JMSTimeToLive == ttl
    assert fields(message) == []


def test_v4_a_priority_out_of_range_goes_beside_its_header_field() -> None:
    """OC-VAR-1."""
    message = translated(event([("Priority", SHORT, 100)]))
    assert message.headers.JMSPriority == 9
    assert fields(message) == [("$Priority", "short", 100)]


@pytest.mark.parametrize(("profile", "separator"), [("strict", "$_"), ("borland", ".")])
def test_v5_a_struct_is_one_property_for_each_member(profile: str, separator: str) -> None:
    """SE-PROP-6, OC-NAME-1: the name of the struct's type is no part of the names."""
    message = translated(event(data=[("Fd1", ALARM, {"AlarmName": "LOS", "Severity": 3})]), profile)
    assert fields(message) == [
        (f"$Fd1{separator}AlarmName", "String", "LOS"),
        (f"$Fd1{separator}Severity", "int", 3),
    ]


@pytest.mark.parametrize(("profile", "separator"), [("strict", "$_"), ("borland", ".")])
def test_v6_a_name_is_numbered_below_the_name_of_its_typedef(profile: str, separator: str) -> None:
    """SE-PROP-7, OC-NAME-1, OC-TYPE-18."""
    name = [{"id": "NC1", "kind": "k1"}, {"id": "NC2", "kind": "k2"}]
    message = translated(event([("Ohf1", NAME, name)]), profile)
    expected = {
        "Ohf1.Name._length": ("int", 2),
        "Ohf1.Name.1.id": ("String", "NC1"),
        "Ohf1.Name.1.kind": ("String", "k1"),
        "Ohf1.Name.2.id": ("String", "NC2"),
        "Ohf1.Name.2.kind": ("String", "k2"),
    }
    assert {name: (type_, value) for name, type_, value in fields(message)} == {
        "$" + path.replace(".", separator): typed for path, typed in expected.items()
    }


def test_v7_unsigned_numbers_and_octets_are_widened() -> None:
    """OC-TYPE-2, OC-TYPE-3, OC-TYPE-4."""
    data = [("n", ULONG, 4294967295), ("u", ULONGLONG, 18446744073709551615), ("o", OCTET, 200)]
    assert fields(translated(event(data=data))) == [
        ("$n", "long", 4294967295),
        ("$u", "String", "18446744073709551615"),
        ("$o", "short", 200),
    ]


def test_v8_labels_characters_and_decimals_are_text() -> None:
    """OC-TYPE-5, OC-TYPE-7, OC-TYPE-11."""
    data = [("e", SEVERITY, "major"), ("c", CHAR, "x"), ("f", Fixed(4, 2), Decimal("12.50"))]
    assert fields(translated(event(data=data))) == [
        ("$e", "String", "major"),
        ("$c", "String", "x"),
        ("$f", "String", "12.50"),
    ]


@pytest.mark.parametrize(("profile", "second"), [("strict", "$x$_$u0000232"), ("borland", "$x.#2")])
def test_v9_the_header_comes_first_and_the_second_of_a_name_is_numbered(profile: str, second: str) -> None:
    """OC-NAME-3."""
    message = translated(event([("x", LONG, 2)], [("x", LONG, 1)]), profile)
    assert fields(message) == [("$x", "int", 2), (second, "int", 1)]


@pytest.mark.parametrize(
    ("profile", "name"),
    [
        ("strict", "$Managed$u000020Object"),
        ("mq", "_sManaged_u000020Object"),
        ("borland", "$Managed Object"),
    ],
)
def test_v10_names_that_are_no_identifiers(profile: str, name: str) -> None:
    """OC-NAME-4."""
    message = translated(event(data=[("Managed Object", STRING, "ne1")]), profile)
    assert tuple(message.properties[-1]) == (name, "String", "ne1")


@pytest.mark.parametrize(
    ("value", "expected"),
    [([], [("$l._length", "int", 0)]), ([5, 6], [("$l._length", "int", 2), ("$l.1", "int", 5), ("$l.2", "int", 6)])],
)
def test_v11_an_empty_sequence_is_not_an_absent_one(value: list[int], expected: list[tuple[str, str, Any]]) -> None:
    """OC-TYPE-18."""
    assert fields(translated(event(data=[("l", Sequence(LONG), value)]))) == expected


def test_v12_octets_are_base64() -> None:
    """OC-TYPE-19."""
    assert fields(translated(event(data=[("b", Sequence(OCTET), b"\1\2")]))) == [("$b", "String", "AQI=")]


@pytest.mark.parametrize("type_", [STRING, WSTRING])
def test_v13_a_text_alone_is_a_text_message(type_: IdlType) -> None:
    """SE-BODY-2, OC-BODY-3."""
    assert translated(event(remainder=Any_(type_, "hi"))).body == Body("TextMessage", "hi")


@pytest.mark.parametrize(("remainder", "elements"), [(Any_(LONG, 7), [7]), (Any_(Sequence(LONG), [1, 2]), [1, 2])])
def test_v14_basic_values_are_a_stream(remainder: Any_, elements: list[int]) -> None:
    """SE-BODY-1, OC-BODY-2."""
    body = translated(event(remainder=remainder)).body
    assert body == Body("StreamMessage", tuple(StreamElement("int", element) for element in elements))


def test_v15_a_property_list_is_a_map() -> None:
    """SE-BODY-3, OC-BODY-4."""
    value = [{"name": "a", "value": Any_(LONG, 1)}, {"name": "a", "value": Any_(STRING, "z")}]
    body = translated(event(remainder=Any_(PROPERTY_SEQ, value))).body
    assert body == Body("MapMessage", (MessageProperty("a", "int", 1), MessageProperty("a#2", "String", "z")))


def test_v16_octets_are_a_bytes_message() -> None:
    """SE-BODY-4, OC-BODY-6."""
    message = translated(event(remainder=Any_(Sequence(OCTET), b"\x00\xff")))
    assert message.body == Body("BytesMessage", b"\x00\xff")
    assert fields(message) == [("$body", "String", "octets")]


def test_v17_any_other_type_is_the_encapsulation_of_the_any() -> None:
    """SE-BODY-4, OC-BODY-6."""
    remainder = Any_(POINT, {"n": "x", "v": 1})
    message = translated(event(remainder=remainder))
    assert message.body == Body("BytesMessage", encode_any(remainder))
    assert decode_any(message.body.value) == remainder
    assert fields(message) == [("$body", "String", "cdr-any"), ("$body_type", "String", "IDL:M/P:1.0")]


def test_v18_an_untyped_event() -> None:
    """OC-EVT-2, SE-TYP-1."""
    message = translated(to_structured(UntypedEvent(Any_(LONG, 3))))
    assert [tuple(p) for p in message.properties] == [
        ("$domain_type", "String", ""),
        ("$type_name", "String", "%ANY"),
        ("$event_name", "String", ""),
    ]
    assert message.body == Body("StreamMessage", (StreamElement("int", 3),))


def test_v19_a_typed_event() -> None:
    """OC-EVT-2, SE-TYP-1."""
    typed = TypedEvent(
        "IDL:Cafe/Coffee:1.0",
        "drinking_coffee",
        (Property("name", STRING, "jim"), Property("minutes", LONG, 5)),
    )
    message = translated(to_structured(typed))
    assert [tuple(p) for p in message.properties[1:2] + message.properties[3:]] == [
        ("$type_name", "String", "%TYPED"),
        ("$operation", "String", "::Cafe::Coffee::drinking_coffee"),
        ("$name", "String", "jim"),
        ("$minutes", "int", 5),
    ]
    assert message.body == Body("Message", None)


def test_v20_an_event_whose_stop_time_is_past_is_expired() -> None:
    """OC-VAR-3."""
    past = {"time": UTC_OF_NOW - 10 * 10_000_000, "inacclo": 0, "inacchi": 0, "tdf": 0}
    with pytest.raises(Expired) as expired:
        Translator().forward(event([("StopTime", UTC_T, past)]), now_ms=NOW_MS)
    assert expired.value.code == "MAP-EXPIRED"
