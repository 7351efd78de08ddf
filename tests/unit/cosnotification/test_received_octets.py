"""Events that are read from octets: what is taken past the ORB library, and what becomes of octets that cannot be read."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.cosnotification.encoding import encoder_of
from adapters.cosnotification.giop.held import Held
from adapters.cosnotification.received_octets import Content, Form, ReceivedOctets
from adapters.cosnotification.service.engine.carried_event import EVENTS as FLAT_EVENTS
from adapters.cosnotification.service.engine.carried_event import CarriedStructured
from adapters.cosnotification.stubs import CORBA, omniORB
from adapters.cosnotification.worker.gate import Gate
from adapters.cosnotification.worker.octet_intake import OctetIntake
from mappings.cdr import encode_bare
from mappings.cdr.events import event_octets, event_reader
from mappings.cdr.original import OriginalEvent, read_original
from mappings.event_forms import structured_value, to_structured
from mappings.idl_types import ANY, LONG, SHORT, Member, Value
from mappings.known_types import EVENT_BATCH
from mappings.model import Any_, Property, StructuredEvent, UntypedEvent
from tests.properties.strategies import structured_events


def event(number: int) -> StructuredEvent:
    return StructuredEvent("Telecom", "Alarm", f"n{number}", (), (Property("Number", LONG, number),))


def batch(events: list[StructuredEvent], *, little: bool = True) -> bytes:
    return encode_bare(EVENT_BATCH, list(map(structured_value, events)), little=little)


EVENTS = [event(n) for n in range(4)]
RELIABLE = StructuredEvent("Telecom", "Alarm", "n", (Property("EventReliability", SHORT, 1),))


class Rig:
    def __init__(self, room: int) -> None:
        self.passed: list[tuple[int, int, Form]] = []
        self.noticed = 0
        self.gate = Gate(room, 0.1, lambda number, contents: None)
        self.intake = OctetIntake(self.gate, lambda *push: self.passed.append(push[:3]), self._notice)

    def _notice(self) -> None:
        self.noticed += 1


# What is taken


def test_best_effort_events_are_taken_while_there_is_room() -> None:
    rig = Rig(3)
    assert rig.intake.take("event", event_octets(EVENTS[0], True), True)
    assert rig.intake.take("events", batch(EVENTS, little=False), False), "one free place is enough for a sequence"
    assert not rig.intake.take("event", event_octets(EVENTS[0], True), True)
    rig.gate.credit(10)
    assert rig.intake.take("any", encode_bare(ANY, Any_(LONG, 7)), True)
    assert rig.passed == [(0, 1, "event"), (1, 4, "events"), (5, 1, "any")]
    assert rig.noticed == 4


def test_numbers_are_those_of_the_long_way() -> None:
    rig = Rig(10)
    rig.gate.offer([(False, None, None, None)] * 2)
    assert rig.intake.take("event", event_octets(EVENTS[0], True), True)
    assert rig.passed == [(2, 1, "event")]


@pytest.mark.parametrize("little", [True, False])
def test_a_push_with_persistent_events_is_answered_when_they_are_settled(little: bool) -> None:
    rig = Rig(10)
    one = rig.intake.take("event", event_octets(RELIABLE, little), little)
    many = rig.intake.take("events", batch([*EVENTS, RELIABLE], little=little), little)
    assert isinstance(one, Held)
    assert isinstance(many, Held)
    assert rig.passed == [(0, 1, "event"), (1, 5, "events")]
    rig.gate.settled([1])
    assert (one.answer, many.answer) == (None, True)
    rig.gate.settled([0])
    assert one.answer is True


def test_a_push_that_is_not_settled_in_time_is_refused_and_its_retry_joins_it() -> None:
    rig = Rig(10)
    octets = event_octets(RELIABLE, True)
    first = rig.intake.take("event", octets, True)
    assert isinstance(first, Held)
    first.expire()
    assert first.answer is False
    again = rig.intake.take("event", other_pads(octets), True)
    assert isinstance(again, Held)
    assert rig.passed == [(0, 1, "event")], "the gateway has it already"
    rig.gate.settled([0])
    assert (first.answer, again.answer) == (False, True)
    later = rig.intake.take("event", octets, True)
    assert isinstance(later, Held), "what looks the same is another event"
    assert len(rig.passed) == 2


def test_the_retry_of_a_push_that_is_settled_meanwhile_is_answered_at_once() -> None:
    rig = Rig(10)
    octets = event_octets(RELIABLE, True)
    first = rig.intake.take("event", octets, True)
    assert isinstance(first, Held)
    first.expire()
    rig.gate.settled([0])
    assert first.answer is False, "the first word counts"
    assert rig.intake.take("event", octets, True) is True
    assert len(rig.passed) == 1


def test_a_push_that_is_settled_just_in_time_is_not_refused() -> None:
    rig = Rig(10)
    held = rig.intake.take("event", event_octets(RELIABLE, True), True)
    assert isinstance(held, Held)
    rig.gate.settled([0])
    held.expire()
    assert held.answer is True
    assert isinstance(rig.intake.take("event", event_octets(RELIABLE, True), True), Held)
    assert len(rig.passed) == 2


def test_close_refuses_what_is_held() -> None:
    rig = Rig(10)
    held = rig.intake.take("event", event_octets(RELIABLE, True), True)
    assert isinstance(held, Held)
    rig.gate.close()
    assert held.answer is False


def other_pads(octets: bytes) -> bytes:
    """The same event as another moment's memory would have it: what stands behind `Alarm` is a pad."""
    at = octets.index(b"Alarm\0") + 6
    changed = octets[:at] + b"?" + octets[at + 1 :]
    assert event_reader(True).event(changed) == event_reader(True).event(octets)
    return changed


def test_without_room_persistent_events_take_the_long_way() -> None:
    rig = Rig(0)
    assert rig.intake.take("event", event_octets(RELIABLE, True), True) is False
    assert rig.passed == []


def test_nothing_is_taken_by_who_has_closed() -> None:
    rig = Rig(10)
    rig.gate.close()
    assert not rig.intake.take("event", event_octets(EVENTS[0], True), True)
    assert rig.passed == []


@pytest.mark.parametrize("count", [0, 1000, 0xFFFFFFFF])
def test_a_count_that_cannot_be_is_the_librarys_to_judge(count: int) -> None:
    rig = Rig(10)
    octets = struct.pack("<L", count) + batch(EVENTS)[4:]
    assert not rig.intake.take("events", octets, True)
    assert rig.passed == []


# What is read


def contents(form: Form, count: int, octets: bytes, *, little: bool = True) -> list[Content]:
    received = ReceivedOctets(0, count, form, little, octets)
    return [received.content(index) for index in range(count)]


@given(events=st.lists(structured_events, min_size=1, max_size=3), little=st.booleans())
def test_events_are_what_they_were(events: list[StructuredEvent], little: bool) -> None:
    got = contents("events", len(events), batch(events, little=little), little=little)
    got += contents("event", 1, event_octets(events[0], little), little=little)
    assert [content[:3] for content in got] == [(False, event, None) for event in (*events, events[0])]
    for content in got:
        assert type(content.original) is OriginalEvent
        assert read_original(content.original) == content.payload


@pytest.mark.usefixtures("orb")
def test_events_that_can_be_read_together_only_have_no_octets_of_their_own() -> None:
    """The second names the value of the first again."""
    type_ = Value("IDL:Acme/Value:1.0", "Value", None, (Member("n", LONG),))
    value = encoder_of(type_)
    assert value.convert is not None
    held = CORBA.Any(value.type_code, value.convert({"n": 5}))
    both = [CarriedStructured("d", "t", name, [], [], held) for name in ("one", "two")]
    octets = bytes(omniORB.cdrMarshal(omniORB.tcInternal.createTypeCode(FLAT_EVENTS), both, True))
    got = contents("events", 2, octets)
    assert [content.payload for content in got] == [
        StructuredEvent("d", "t", name, (), (), Any_(type_, {"n": 5})) for name in ("one", "two")
    ]
    assert [content.original for content in got] == [None, None]


def test_an_any_is_an_event_of_its_form() -> None:
    any_ = Any_(LONG, 7)
    octets = encode_bare(ANY, any_)
    event = to_structured(UntypedEvent(any_))
    assert contents("any", 1, octets) == [(False, event, None, b"\1" + bytes(7) + octets)]


def test_an_event_that_cannot_be_read_is_a_dead_letter_with_its_octets() -> None:
    octets = event_octets(EVENTS[0], True)[:-6]
    (content,) = contents("event", 1, octets)
    assert content.error is not None
    assert content.error.code.startswith("MAP-CDR-")
    assert (content.persistent, content.payload) == (True, None)
    assert content.original == b"\1" + bytes(7) + octets


@pytest.mark.parametrize("little", [True, False])
def test_what_stands_before_a_fault_in_a_sequence_is_read(little: bool) -> None:
    octets = batch(EVENTS, little=little)
    at = 4
    for _ in range(2):
        _, at = event_reader(little).event(octets, at)
    broken = octets[:at] + bytes(-at % 4) + b"\xff" * 4 + octets[at + -at % 4 + 4 :]
    got = contents("events", 4, broken, little=little)
    assert [content.payload for content in got] == [*EVENTS[:2], None, None]
    assert [content.error and content.error.code for content in got][3] == "COR-SEQUENCE"
    original = got[2].original
    assert original is not None
    at += -at % 4
    assert original == bytes((little, at % 8, *bytes(6 + at % 8))) + broken[at:]
    assert got[3].original is None


def test_what_stands_behind_the_last_event_is_nothing() -> None:
    got = contents("events", 4, batch(EVENTS) + b"pad")
    assert [content.payload for content in got] == EVENTS


@given(data=st.data(), events=st.lists(structured_events, min_size=1, max_size=3), little=st.booleans())
def test_every_event_of_a_damaged_push_is_accounted_for(
    data: st.DataObject, events: list[StructuredEvent], little: bool
) -> None:
    octets = bytearray(batch(events, little=little))
    place = data.draw(st.integers(4, len(octets) - 1))
    octets[place] = data.draw(st.integers(0, 255))
    for content in contents("events", len(events), bytes(octets), little=little):
        assert (content.payload is None) == (content.error is not None)
