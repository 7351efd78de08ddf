"""Events straight from octets are those that come through the ORB library, however often their shape came before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import omniORB
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from adapters.cosnotification.codec import event_from_orb, event_to_orb
from adapters.cosnotification.stubs import CosNotification
from mappings.cdr import encode_bare
from mappings.cdr.events import Walked, event_octets, event_reader
from mappings.cdr.moving import is_movable, is_movable_event
from mappings.errors import MappingError
from mappings.event_forms import structured_value
from mappings.idl_types import (
    ANY,
    DOUBLE,
    FLOAT,
    LONG,
    LONGDOUBLE,
    OBJECT,
    OCTET,
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
from mappings.known_types import EVENT_BATCH, NAME, STRING_VALUE, STRUCTURED_EVENT, UTC_T
from mappings.model import Any_, Property, StructuredEvent
from tests.interop.any_corpus import CARRIED
from tests.properties.strategies import anys, structured_events
from tests.unit.cdr.omniorb_model import CannotMarshal, Converter, plain_orb

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


def read_often(body: bytes, little: bool, pos: int = 0) -> StructuredEvent:
    """Read and walked so often that it was done in every way there is."""
    reader = event_reader(little)
    event, end = reader.event(body, pos)
    assert end == len(body)
    for _ in range(OFTEN):
        assert reader.event(body, pos) == (event, end)
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
    for _ in range(OFTEN):
        assert event_reader(little).any(octets, offset) == (any_, len(octets))


@given(events=st.lists(structured_events, max_size=3), times=st.integers(1, 3), little=st.booleans())
@settings(deadline=None)
def test_a_sequence_there_and_back(events: list[StructuredEvent], times: int, little: bool) -> None:
    events *= times
    octets = encode_bare(EVENT_BATCH, list(map(structured_value, events)), little=little)
    reader = event_reader(little)
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
    for _ in range(OFTEN):
        assert event_reader(little).events(octets) == events


DERIVED = "valuetype derived"  # to unmarshal one that it marshalled itself ends the library's process


@pytest.mark.parametrize("name", [name for name in CARRIED if name != DERIVED])
@pytest.mark.usefixtures("orb")
def test_the_adapter_makes_the_same_of_what_the_orb_unmarshals(name: str) -> None:
    any_ = CARRIED[name]
    event = StructuredEvent("d", "t", "e", (), (Property("f", any_.type, any_.value),), any_)
    octets = omniORB.cdrMarshal(CosNotification._tc_StructuredEvent, event_to_orb(event), True)
    theirs = event_from_orb(omniORB.cdrUnmarshal(CosNotification._tc_StructuredEvent, octets, True))
    assert read_often(octets, True) == theirs == event


# What nobody meant to be an event ---------------------------------------------------------------------------------------------


def assert_judged_alike(body: bytes, little: bool) -> None:
    """An event or MappingError, and nothing else; and whoever only walks says the same."""
    reader = event_reader(little)
    refusal = None
    try:
        event, end = reader.event(body)
    except MappingError as error:
        refusal = error
    if refusal is None:
        assert reader.walk(body) == walked(event, end)
        assert repr(reader.event(body)) == repr((event, end)), "NaN is unequal to itself"
    else:
        assert refusal.path
        with pytest.raises(MappingError):
            reader.walk(body)


@given(data=st.binary(max_size=200), little=st.booleans())
def test_arbitrary_octets(data: bytes, little: bool) -> None:
    assert_judged_alike(data, little)


@given(data=st.data(), event=structured_events, little=st.booleans())
@settings(max_examples=50, deadline=None)
def test_octets_with_a_fault(data: st.DataObject, event: StructuredEvent, little: bool) -> None:
    """The shape is known when the fault comes."""
    whole = event_octets(event, little)
    read_often(whole, little)
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
        assert_judged_alike(bytes(octets), little)


@given(event=structured_events, little=st.booleans())
@settings(max_examples=20, deadline=None)
def test_every_beginning_is_too_short(event: StructuredEvent, little: bool) -> None:
    octets = event_octets(event, little)
    reader = event_reader(little)
    read_often(octets, little)
    for end in range(len(octets)):
        for read in (reader.event, reader.walk):
            with pytest.raises(MappingError):
                read(octets[:end])
