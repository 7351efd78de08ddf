"""Events straight from octets are those that come through the ORB library, however often their shape came before."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from threading import Thread
from typing import Any

import omniORB
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from adapters.cosnotification.codec import event_from_orb, event_to_orb
from adapters.cosnotification.stubs import CosNotification
from mappings.cdr import encode_bare, encode_value
from mappings.cdr.event_decoder import EventDecoder
from mappings.cdr.event_plans import Plan, event_plan
from mappings.cdr.event_shape import Shape
from mappings.cdr.events import EventReader, Walked, event_octets, event_reader
from mappings.cdr.learnt_plans import PER_KEY, PLANS, WORTH, WORTH_A_PLACE, LearntPlans
from mappings.cdr.moving import is_movable, is_movable_event
from mappings.errors import MappingError
from mappings.event_forms import structured_value
from mappings.idl_types import (
    ANY,
    BOOLEAN,
    CHAR,
    DOUBLE,
    FLOAT,
    LONG,
    LONGDOUBLE,
    OBJECT,
    OCTET,
    SHORT,
    STRING,
    TYPECODE,
    WSTRING,
    Array,
    Fixed,
    IdlType,
    Member,
    Sequence,
    Struct,
)
from mappings.known_types import EVENT_BATCH, NAME, STRING_VALUE, STRUCTURED_EVENT, TIME_T, UTC_T
from mappings.model import Any_, Property, StructuredEvent
from tests.bench.cosnotification_supplier import event as everyday_event
from tests.interop.any_corpus import CARRIED
from tests.properties.strategies import anys, idl_types, structured_events, text, values
from tests.unit.cdr.omniorb_model import CannotMarshal, Converter, plain_orb
from tests.unit.cdr.pads import pads

EVERY_DAY = everyday_event()

OFTEN = 12
"""So many events of a shape that all has been learnt that is ever learnt from it."""

offsets = st.integers(0, 9)

MOVABLE = (
    (STRING, True),
    (WSTRING, True),
    (LONG, True),
    (FLOAT, True),
    (OBJECT, True),
    (TYPECODE, True),
    (NAME, True),
    (Fixed(31, 2), True),
    (DOUBLE, False),
    (LONGDOUBLE, False),
    (UTC_T, False),
    (ANY, False),
    (STRING_VALUE, False),
)


@pytest.fixture(scope="module")
def orb() -> Iterator[Any]:
    with plain_orb() as orb:
        yield orb


def read_often(body: bytes, little: bool, pos: int = 0, reader: EventReader | None = None) -> StructuredEvent:
    """Read and walked so often that it was done in every way there is."""
    reader = reader or EventReader(little=little)
    event, end = reader.event(body, pos)
    assert end == len(body)
    for _ in range(OFTEN):
        assert repr(reader.event(body, pos)) == repr((event, end)), "1 and True are equal"
        assert reader.walk(body, pos) == walked(event, end)
    return event


def walked(event: StructuredEvent, end: int) -> Walked:
    return Walked(event.domain_name, event.type_name, not event.variable_header, end, is_movable_event(event))


def at(offset: int, type_: IdlType, value: Any, little: bool) -> bytes:
    """A value behind so many octets."""
    if not offset:
        return encode_bare(type_, value, little=little)
    behind = Struct("IDL:Behind:1.0", "Behind", (Member("before", Array(OCTET, offset)), Member("it", type_)))
    return encode_bare(behind, {"before": b"\xaa" * offset, "it": value}, little=little)


@given(events=st.lists(structured_events, min_size=1, max_size=3), little=st.booleans())
@settings(deadline=None)
def test_a_movable_event_says_the_same_elsewhere(events: list[StructuredEvent], little: bool) -> None:
    octets = encode_bare(EVENT_BATCH, list(map(structured_value, events)), little=little)
    reader = event_reader(little)
    start = 4
    for event, way in zip(events, reader.walk_all(octets), strict=True):
        piece = octets[(start + 3) & ~3 : way.end]
        start = way.end
        if way.movable:
            for offset in (0, 4, 8, 12):
                assert reader.event(bytes(offset) + piece, offset) == (event, offset + len(piece))


@pytest.mark.parametrize(("type_", "movable"), MOVABLE)
def test_what_is_movable(type_: IdlType, movable: bool) -> None:
    assert is_movable(type_) is movable
    assert is_movable(Sequence(Struct("IDL:In:1.0", "In", (Member("it", type_),)))) is movable


@given(event=structured_events, offset=offsets, little=st.booleans())
@settings(deadline=None)
def test_an_event_there_and_back(event: StructuredEvent, offset: int, little: bool) -> None:
    assert read_often(at(offset, STRUCTURED_EVENT, structured_value(event), little), little, offset) == event


@given(any_=anys, offset=offsets, little=st.booleans())
@settings(deadline=None)
def test_an_any_there_and_back(any_: Any_, offset: int, little: bool) -> None:
    octets = at(offset, ANY, any_, little)
    reader = EventReader(little=little)
    for _ in range(OFTEN):
        assert repr(reader.any(octets, offset)) == repr((any_, len(octets)))


@given(data=st.data(), type_=idl_types, little=st.booleans())
@settings(deadline=None)
def test_anys_of_a_type_that_was_learnt(data: st.DataObject, type_: IdlType, little: bool) -> None:
    """Also behind other octets, and too short."""
    reader = EventReader(little=little)
    for _ in range(OFTEN):
        any_ = Any_(type_, data.draw(values(type_)))
        offset = data.draw(offsets)
        octets = at(offset, ANY, any_, little)
        assert repr(reader.any(octets, offset)) == repr((any_, len(octets)))
    for end in range(offset, len(octets)):
        with pytest.raises(MappingError):
            reader.any(octets[:end], offset)


@given(events=st.lists(structured_events, max_size=3), times=st.integers(1, 3), little=st.booleans())
@settings(deadline=None)
def test_a_sequence_there_and_back(events: list[StructuredEvent], times: int, little: bool) -> None:
    events *= times
    octets = encode_bare(EVENT_BATCH, list(map(structured_value, events)), little=little)
    reader = EventReader(little=little)
    for _ in range(OFTEN):
        assert reader.events(octets) == events
        ways = reader.walk_all(octets)
        assert ways == [walked(event, way.end) for event, way in zip(events, ways, strict=True)]
        assert [4, *(way.end for way in ways)][-1] == len(octets)


@given(events=st.lists(structured_events, min_size=1, max_size=3), little=st.booleans())
@settings(max_examples=100, deadline=None, derandomize=True)  # a crash of the ORB ends the whole run: no surprises
def test_what_the_orb_marshals(orb: Any, events: list[StructuredEvent], little: bool) -> None:
    values = list(map(structured_value, events))
    converter = Converter(orb, little=little)
    try:
        descriptor = converter.descriptor(EVENT_BATCH, {})
        batch = converter.value(EVENT_BATCH, descriptor, values, {})
        octets = omniORB.cdrMarshal(converter.typecode(EVENT_BATCH), batch, little)
    except CannotMarshal:
        assume(False)
    reader = EventReader(little=little)
    for _ in range(OFTEN):
        assert reader.events(octets) == events


DERIVED = "valuetype derived"  # to unmarshal one that it marshalled itself ends the library's process


@pytest.mark.parametrize("name", [name for name in CARRIED if name != DERIVED])
@pytest.mark.usefixtures("orb")
def test_the_adapter_makes_the_same_of_what_the_orb_unmarshals(name: str) -> None:
    any_ = CARRIED[name]
    event = StructuredEvent("d", "t", "e", (), (Property("f", any_.type, any_.value),), any_)
    octets = omniORB.cdrMarshal(CosNotification._tc_StructuredEvent, event_to_orb(event), True)
    theirs = event_from_orb(omniORB.cdrUnmarshal(CosNotification._tc_StructuredEvent, octets, True))
    assert read_often(octets, True) == theirs == event


# What was learnt --------------------------------------------------------------------------------------------------------------


@given(data=st.data(), event=structured_events, little=st.booleans())
@settings(deadline=None)
def test_what_was_learnt_from_one_event_reads_all_of_its_shape(
    data: st.DataObject, event: StructuredEvent, little: bool
) -> None:
    reader = EventReader(little=little)
    read_often(event_octets(event, little), little, reader=reader)
    for _ in range(4):
        offset = data.draw(offsets)
        other = data.draw(of_the_same_shape(event))
        octets = at(offset, STRUCTURED_EVENT, structured_value(other), little)
        assert repr(reader.event(octets, offset)) == repr((other, len(octets)))
        assert reader.walk(octets, offset) == walked(other, len(octets))


@st.composite
def of_the_same_shape(draw: st.DrawFn, event: StructuredEvent) -> StructuredEvent:
    def fields(of: tuple[Property, ...]) -> tuple[Property, ...]:
        return tuple(Property(name, type_, draw(values(type_))) for name, type_, _value in of)

    type_ = event.remainder_of_body.type
    names = draw(st.tuples(text, text, text)) if draw(st.booleans()) else (event.domain_name, event.type_name, "")
    header, body = fields(event.variable_header), fields(event.filterable_data)
    return StructuredEvent(*names, header, body, Any_(type_, draw(values(type_))))


@given(data=st.data(), event=structured_events, little=st.booleans())
@settings(max_examples=50, deadline=None)
def test_whatever_is_in_the_pads(data: st.DataObject, event: StructuredEvent, little: bool) -> None:
    """omniORB leaves in them what was in its memory, also inside TypeCodes."""
    octets = encode_value(STRUCTURED_EVENT, structured_value(event), little=little)
    places = pads(STRUCTURED_EVENT, structured_value(event), little=little)
    reader = EventReader(little=little)
    read_often(octets, little, 1, reader)
    for _ in range(3):
        filled = bytearray(octets)
        for place, octet in zip(places, data.draw(st.binary(min_size=len(places), max_size=len(places))), strict=True):
            filled[place] = octet
        assert read_often(bytes(filled), little, 1) == event, "learnt from these"
        assert read_often(bytes(filled), little, 1, reader) == event, "learnt before"


ALARM = EVERY_DAY.remainder_of_body.type
TMF = Sequence(Struct("IDL:NVS:1.0", "NVS", (Member("name", STRING), Member("value", STRING))))
TYPICAL = StructuredEvent(
    "tmf_mtnm",
    "NT_ALARM",
    "",
    (Property("Priority", SHORT, 4), Property("Timeout", TIME_T, 18_000_000_000)),
    (
        Property("notificationId", STRING, "N-1"),
        Property("objectName", TMF, [{"name": "EMS", "value": "Zürich"}, {"name": "PTP", "value": ""}]),
        Property("isClearable", BOOLEAN, True),
        Property("time", UTC_T, {"time": 2**60, "inacclo": 0, "inacchi": 1, "tdf": 60}),
        Property("path", NAME, [{"id": "a", "kind": "b"}]),
        Property("wide", WSTRING, "Genève"),
        Property("price", Fixed(5, 2), Decimal("1.50")),
        Property("any", ANY, Any_(STRING, "x")),
        Property("chars", Sequence(CHAR), ["ä", "b"]),
        Property("octets", Sequence(OCTET), b"xyz"),
        Property("numbers", Sequence(DOUBLE), [0.5] * 20),
        Property("alarms", Sequence(ALARM, 3), [EVERY_DAY.remainder_of_body.value] * 3),
    ),
    Any_(STRING, "Loss of signal"),
)


@pytest.mark.parametrize("little", [True, False])
@pytest.mark.parametrize("event", [EVERY_DAY, TYPICAL], ids=["everyday", "typical"])
def test_typical_events_are_not_read_thoroughly_for_long(
    event: StructuredEvent, little: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = EventReader(little=little)
    octets = encode_bare(EVENT_BATCH, [structured_value(event)] * OFTEN, little=little)
    reader.events(octets), reader.walk_all(octets)
    any_ = Any_(STRUCTURED_EVENT, structured_value(event))
    several = [reader.any(encode_bare(ANY, any_, little=little))[0] for _ in range(OFTEN)]
    monkeypatch.setattr(EventDecoder, "event", None)
    monkeypatch.setattr(EventDecoder, "any", None)
    assert [reader.any(encode_bare(ANY, any_, little=little))[0] for _ in range(OFTEN)] == several == [any_] * OFTEN
    assert reader.events(octets) == [event] * OFTEN
    assert [way.domain_name for way in reader.walk_all(octets)] == [event.domain_name] * OFTEN


def test_ever_new_shapes_take_no_more_room_and_make_no_more_plans() -> None:
    """And those that come often still get a plan, in the place of the oldest."""
    made: list[Shape] = []

    def make(shape: Shape) -> Plan | None:
        made.append(shape)
        return event_plan(shape, little=True)

    reader = EventReader(little=True)
    plans = reader._events = LearntPlans[Shape](make)
    for number in range(PLANS + 50):
        event = StructuredEvent("d", "t", "e", (), (Property(f"name {number}", LONG, number),))
        for _ in range(WORTH + 1):
            assert reader.event(event_octets(event, True))[0] == event
    assert len(made) == PLANS
    for _ in range(WORTH_A_PLACE):
        assert reader.event(event_octets(event, True))[0] == event
    assert len(made) == PLANS + 1
    assert sum(map(len, plans._by_key.values())) <= PER_KEY * 3, "there are names of three lengths"


def test_threads_share_what_is_learnt() -> None:
    reader = EventReader(little=True)
    events = [
        StructuredEvent("d", f"type {number % 3}", "e", (), (Property(f"name {number % 7}", LONG, number),))
        for number in range(40)
    ]
    wrong: list[StructuredEvent] = []

    def read(turn: int) -> None:
        for _ in range(30):
            for event in events[turn:] + events[:turn]:
                octets = event_octets(event, True)
                if reader.event(octets) != (event, len(octets)) or reader.walk(octets) != walked(event, len(octets)):
                    wrong.append(event)

    threads = [Thread(target=read, args=(turn * 7,)) for turn in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# What nobody meant to be an event ---------------------------------------------------------------------------------------------


def assert_judged_alike(body: bytes, little: bool, reader: EventReader) -> None:
    """An event or MappingError, and nothing else; whoever only walks says the same, and so does whoever has learnt nothing."""
    refusal = None
    try:
        event, end = reader.event(body)
    except MappingError as error:
        refusal = error
    assert judgement(body, EventReader(little=little)) == (repr((event, end)) if refusal is None else str(refusal))
    if refusal is None:
        assert reader.walk(body) == walked(event, end)
        assert repr(reader.event(body)) == repr((event, end)), "NaN is unequal to itself"
    else:
        assert refusal.path
        with pytest.raises(MappingError):
            reader.walk(body)


def judgement(body: bytes, reader: EventReader) -> str:
    try:
        return repr(reader.event(body))
    except MappingError as error:
        return str(error)


@given(data=st.binary(max_size=200), little=st.booleans())
def test_arbitrary_octets(data: bytes, little: bool) -> None:
    assert_judged_alike(data, little, event_reader(little))


@given(data=st.data(), event=structured_events, little=st.booleans())
@settings(max_examples=50, deadline=None)
def test_octets_with_a_fault(data: st.DataObject, event: StructuredEvent, little: bool) -> None:
    """The shape is known when the fault comes."""
    whole = event_octets(event, little)
    reader = EventReader(little=little)
    read_often(whole, little, reader=reader)
    for _ in range(10):
        octets = bytearray(whole)
        place = data.draw(st.integers(0, len(octets) - 1))
        match data.draw(st.sampled_from(["change", "cut", "insert"])):
            case "change":
                octets[place] = data.draw(st.sampled_from([0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF]) | st.integers(0, 255))
            case "cut":
                del octets[place:]
            case _:
                octets[place:place] = data.draw(st.binary(min_size=1, max_size=8))
        assert_judged_alike(bytes(octets), little, reader)


@given(event=structured_events, little=st.booleans())
@settings(max_examples=20, deadline=None)
def test_every_beginning_is_too_short(event: StructuredEvent, little: bool) -> None:
    octets = event_octets(event, little)
    reader = EventReader(little=little)
    read_often(octets, little, reader=reader)
    for end in range(len(octets)):
        for read in (reader.event, reader.walk):
            with pytest.raises(MappingError):
                read(octets[:end])
