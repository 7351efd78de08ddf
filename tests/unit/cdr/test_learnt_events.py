"""What is wrong with an event is seen as well once its shape has been learnt, also by who only walks."""

from __future__ import annotations

from decimal import Decimal
from struct import pack
from typing import Any

import pytest

from mappings.cdr import encode_bare
from mappings.cdr.event_decoder import EventDecoder
from mappings.cdr.events import EventReader, event_octets
from mappings.cdr.learnt_plans import WORTH
from mappings.cdr.typecode_kinds import BASIC_NUMBERS
from mappings.errors import MappingError
from mappings.event_forms import structured_value
from mappings.idl_types import (
    ANY,
    CHAR,
    DOUBLE,
    FLOAT,
    LONG,
    LONGLONG,
    NULL,
    OCTET,
    SHORT,
    STRING,
    WSTRING,
    Enum,
    Fixed,
    IdlType,
    Member,
    Sequence,
    String,
    Struct,
    Union,
    UnionMember,
    WString,
)
from mappings.known_types import EVENT_BATCH, STRING_VALUE
from mappings.limits import MAX_DEPTH, MAX_EMPTY_ELEMENTS
from mappings.model import Any_, Property, StructuredEvent, UnionValue

COLOUR = Enum("IDL:Colour:1.0", "Colour", ("blue", "green"))
PAIR = Struct("IDL:Pair:1.0", "Pair", (Member("name", STRING), Member("colour", COLOUR)))
EITHER = Union("IDL:Either:1.0", "Either", LONG, (UnionMember(1, "colour", COLOUR), UnionMember(2, "text", STRING)))
BEGINS_LIKE_A_PAIR = Struct("IDL:More:1.0", "More", (Member("name", STRING), Member("number", LONG)))
ANY_KIND = BASIC_NUMBERS["any"]
NOTHING_MORE = bytes(8)
"""No fields, and null."""


def octets(type_: IdlType, value: Any) -> bytes:
    return encode_bare(type_, value)


def long(*numbers: int) -> bytes:
    return pack(f"<{len(numbers)}l", *numbers)


def learnt(event: StructuredEvent) -> EventReader:
    reader = EventReader(little=True)
    for _ in range(WORTH + 2):
        assert reader.event(event_octets(event, True))[0] == event
        reader.walk(event_octets(event, True))
    return reader


def judged(reader: EventReader, body: bytes) -> str:
    """By event and walk alike, and by who has learnt nothing: the code of the refusal, or what was made."""
    codes = []
    for read in (reader.event, EventReader(little=True).event, reader.walk):
        try:
            codes.append(repr(read(body)))
        except MappingError as error:
            codes.append(error.code)
    assert codes[0] == codes[1]
    assert (codes[0] == codes[2]) is codes[0].startswith("MAP-")
    return codes[0]


@pytest.mark.parametrize(
    ("type_", "value", "bad", "code"),
    [
        (STRING, "abc", long(4) + b"a\0c\0", "MAP-CDR-TEXT"),
        (STRING, "abc", long(4) + b"abcd", "MAP-CDR-TEXT"),
        (STRING, "abc", long(4) + b"ab\xff\0", "MAP-CDR-TEXT"),
        (STRING, "abc", long(5) + b"abc\0", "MAP-CDR-END"),
        (STRING, "abc", long(-1) + b"abc\0", "MAP-CDR-END"),
        (STRING, "abc", long(4) + b"abc", "MAP-CDR-END"),
        (String(3), "abc", octets(STRING, "abcd"), "MAP-VALUE-LENGTH"),
        (WSTRING, "abc", long(5) + b"\xff\xfea\0b", "MAP-CDR-TEXT"),
        (WString(3), "abc", octets(WSTRING, "abcd"), "MAP-VALUE-LENGTH"),
        (COLOUR, "blue", long(2), "MAP-CDR-ENUM"),
        (COLOUR, "blue", long(-1), "MAP-CDR-ENUM"),
        (Fixed(3, 1), Decimal("12.3"), b"\x12\xac", "MAP-CDR-NUMBER"),
        (SHORT, 1, b"\1", "MAP-CDR-END"),
        (Sequence(SHORT), [1], long(2) + b"\0\0", "MAP-CDR-END"),
        (Sequence(FLOAT, 2), [1.0], octets(Sequence(FLOAT), [1.0] * 3), "MAP-VALUE-LENGTH"),
        (Sequence(FLOAT), [1.0], long(-1, 0), "MAP-CDR-END"),
        (Sequence(OCTET), b"abc", long(4) + b"abc", "MAP-CDR-END"),
        (Sequence(OCTET, 3), b"abc", long(4) + b"abcd", "MAP-VALUE-LENGTH"),
        (Sequence(CHAR), ["a"], long(-1), "MAP-CDR-END"),
        (Sequence(STRING, 1), ["a"], octets(Sequence(STRING), ["a", "b"]), "MAP-VALUE-LENGTH"),
        (Sequence(STRING), ["a"], long(2) + octets(STRING, "a"), "MAP-CDR-END"),
        (Sequence(PAIR), [], octets(Sequence(BEGINS_LIKE_A_PAIR), [{"name": "a", "number": 2}]), "MAP-CDR-ENUM"),
        (PAIR, {"name": "a", "colour": "blue"}, octets(BEGINS_LIKE_A_PAIR, {"name": "a", "number": 2}), "MAP-CDR-ENUM"),
        (EITHER, UnionValue(2, "a"), long(1, 2), "MAP-CDR-ENUM"),
        (ANY, Any_(LONG, 1), long(3), "MAP-CDR-END"),
    ],
)  # fmt: skip
def test_values_that_are_none(type_: IdlType, value: Any, bad: bytes, code: str) -> None:
    """They stand at the end of the event, or are the value of a field."""
    last = StructuredEvent("d", "t", "e", (), (), Any_(type_, value))
    good = octets(type_, value)
    whole = event_octets(last, True)
    assert whole.endswith(good)
    assert judged(learnt(last), whole[: -len(good)] + bad) == code
    as_field = StructuredEvent("d", "t", "e", (Property("f", type_, value),))
    whole = event_octets(as_field, True)
    at = whole.rindex(good, 0, len(whole) - len(NOTHING_MORE))
    assert judged(learnt(as_field), whole[:at] + bad) == code


@pytest.mark.parametrize("at", [4, 8, 12])
@pytest.mark.parametrize("bad", [b"a\0c\0", b"abcd", b"ab\xff\0"])
def test_names_of_the_event_that_are_none(at: int, bad: bytes) -> None:
    event = StructuredEvent("abc", "abc", "abc", (), (), Any_(LONG, 1))
    body = bytearray(event_octets(event, True))
    body[2 * at - 4 : 2 * at] = bad
    assert judged(learnt(event), bytes(body)) == "MAP-CDR-TEXT"


def test_elements_without_octets_count_over_all_fields() -> None:
    event = StructuredEvent("d", "t", "e", (), (Property("f", ANY, Any_(LONG, 1)), Property("g", ANY, Any_(LONG, 1))))
    reader = learnt(event)
    half = Any_(Sequence(NULL), [None] * (MAX_EMPTY_ELEMENTS // 2 + 1))
    body = event_octets(StructuredEvent("d", "t", "e", (), (Property("f", ANY, half), Property("g", ANY, half))), True)
    assert judged(reader, body) == "MAP-CDR-SIZE"


@pytest.mark.parametrize(
    ("type_", "value"),
    [(Sequence(ANY), [Any_(LONG, 1)]), (Struct("IDL:S:1.0", "S", (Member("m", ANY),)), {"m": Any_(LONG, 1)})],
)
def test_what_is_nested_too_deeply(type_: IdlType, value: Any) -> None:
    event = StructuredEvent("d", "t", "e", (), (), Any_(type_, value))
    reader = learnt(event)
    whole = event_octets(event, True)
    verdicts = [judged(reader, whole[:-8] + long(ANY_KIND) * levels + whole[-8:]) for levels in range(MAX_DEPTH)]
    assert verdicts[-1] == "MAP-DEPTH"
    refused = [verdict == "MAP-DEPTH" for verdict in verdicts]
    assert refused == sorted(refused), "from some level on"
    assert not refused[MAX_DEPTH // 2]


def test_types_of_the_same_length_are_told_apart() -> None:
    other = Enum("IDL:Colour:1.0", "Colour", ("grey", "green"))
    events = [StructuredEvent("d", "t", "e", (), (), Any_(type_, type_.members[0])) for type_ in (COLOUR, other)]
    assert len({len(event_octets(event, True)) for event in events}) == 1
    reader = learnt(events[0])
    for _ in range(WORTH + 2):
        for event in events:
            assert reader.event(event_octets(event, True))[0] == event


NAMED_TWICE = "named twice"
AS_BODY = StructuredEvent("d", "t", "e", (), (), Any_(STRING_VALUE, NAMED_TWICE))
AS_FIELD = StructuredEvent("d", "t", "e", (Property("f", STRING_VALUE, NAMED_TWICE),))


@pytest.mark.parametrize("boxed", [AS_BODY, AS_FIELD], ids=["body", "field"])
def test_an_event_of_a_sequence_may_name_a_value_of_one_before_it(boxed: StructuredEvent) -> None:
    plain = StructuredEvent("d", "t", "e", (), (), Any_(LONG, 1))
    batch = encode_bare(EVENT_BATCH, list(map(structured_value, [boxed, plain, boxed])))
    value = octets(STRING_VALUE, NAMED_TWICE)
    assert len(value) % 4 == 0
    assert batch.count(value) == 2
    first, second = batch.index(value), batch.rindex(value)
    named = batch[:second] + long(-1, first - second - 4) + batch[second + len(value) :]
    reader = EventReader(little=True)
    for _ in range(WORTH + 2):
        assert reader.events(named) == [boxed, plain, boxed]
        ways = reader.walk_all(named)
        assert [way.movable for way in ways] == [False, True, False]
        with pytest.raises(MappingError, match="MAP-CDR-INDIRECTION"):
            reader.walk(named, ways[1].end)


MIXED = Struct(
    "IDL:Mixed:1.0",
    "Mixed",
    tuple(
        Member(f"m{place}", type_)
        for place, type_ in enumerate(
            (OCTET, Sequence(DOUBLE), STRING, Sequence(SHORT), LONGLONG, Sequence(OCTET), SHORT, Sequence(LONG), DOUBLE, STRING)
        )
    ),
)  # fmt: skip


@pytest.mark.parametrize("little", [True, False])
def test_numbers_are_where_their_size_divides_the_offset(little: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is as long as a number says stands before them."""

    def event(length: int, count: int) -> StructuredEvent:
        numbers, text = list(range(1, count + 1)), "x" * length
        values = (7, list(map(float, numbers)), text, numbers, -2, bytes(numbers), -3, numbers, 1.5, text)
        value = dict(zip((member.name for member in MIXED.members), values, strict=True))
        return StructuredEvent("d", "t", "e", (), (Property("f", Sequence(MIXED), [value] * 2),), Any_(MIXED, value))

    reader = EventReader(little=little)
    for _ in range(WORTH + 1):
        reader.event(event_octets(event(1, 1), little))
        reader.walk(event_octets(event(1, 1), little))
    monkeypatch.setattr(EventDecoder, "event", None)
    for length in range(9):
        for count in range(9):
            batch = encode_bare(EVENT_BATCH, [structured_value(event(length, count))] * 3, little=little)
            assert reader.events(batch) == [event(length, count)] * 3
            assert reader.walk_all(batch)[-1].end == len(batch)
