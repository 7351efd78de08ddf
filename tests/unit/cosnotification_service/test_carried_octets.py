"""Events as octets: the same event to everybody, wherever its octets are put."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.base import DeadLetterError
from adapters.cosnotification.codec import event_from_orb, event_to_orb
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.service.engine.carried_event import EVENTS, TOLD, UNPACKED, CarriedStructured, carried
from adapters.cosnotification.service.engine.carried_octets import CarriedOctets, all_events, one_event
from adapters.cosnotification.service.engine.joining import of_many, of_one
from adapters.cosnotification.stubs import CORBA, omniORB
from mappings.cdr import encode_bare
from mappings.cdr.events import event_octets, event_reader
from mappings.errors import MappingError
from mappings.event_forms import structured_value
from mappings.idl_types import DOUBLE, LONG, LONGDOUBLE, SHORT, STRING, ULONGLONG, Member, Sequence, Value
from mappings.known_types import EVENT_BATCH, UTC_T
from mappings.model import Any_, Property, StructuredEvent
from tests.properties.strategies import structured_events
from tests.unit.cosnotification.test_codec import assume_carriable, patient

TEXT = Property("text", STRING, "short")
NUMBER = Property("number", DOUBLE, 0.5)
VALUE = Value("IDL:Acme/Value:1.0", "Value", None, (Member("n", LONG),))

orders = st.booleans()


@pytest.fixture(autouse=True, scope="module")
def orb() -> Iterator[LocalOrb]:
    orb = LocalOrb()
    orb.start()
    yield orb
    orb.stop()


def event(*fields: Property, type_: str = "t") -> StructuredEvent:
    return StructuredEvent("d", type_, "name", (), fields, Any_(LONG, 7))


def single(event: StructuredEvent, little: bool = True) -> CarriedOctets:
    found = one_event(event_octets(event, little), little)
    assert found is not None
    return found[0]


def batch(*events: StructuredEvent, little: bool = True) -> list[CarriedOctets]:
    found = all_events(encode_bare(EVENT_BATCH, list(map(structured_value, events)), little=little), little)
    assert found is not None
    return list(found)


def read(body: bytes | None, little: bool = True) -> list[StructuredEvent]:
    assert body is not None
    return event_reader(little).events(body)


@patient
@given(events=st.lists(structured_events, min_size=1, max_size=4), little=orders, data=st.data())
def test_whatever_is_joined_says_what_it_said(events: list[StructuredEvent], little: bool, data: st.DataObject) -> None:
    """Some of a sequence and some that came alone, in any order."""
    came = [*batch(*events, little=little), *(single(event, little) for event in events)]
    for each in data.draw(st.lists(st.sampled_from(came))):
        each.parted()
    chosen = data.draw(st.lists(st.sampled_from(came), min_size=1, max_size=6))
    body = of_many(chosen)
    if body is None:
        assert not all(each.movable for each in chosen)
    else:
        assert repr(read(body, little)) == repr([each.model for each in chosen]), "NaN is unequal to itself"
    for each in came:
        alone = of_one(each)
        assert alone is not None or not each.movable
        assert alone is None or repr(event_reader(little).event(alone)) == repr((each.model, len(alone)))


@patient
@given(event=structured_events, little=orders)
def test_whoever_takes_no_octets_sees_the_same_event(event: StructuredEvent, little: bool) -> None:
    fields = (*event.variable_header, *event.filterable_data)
    assume_carriable(*(Any_(field.type, field.value) for field in fields), event.remainder_of_body)
    octets = single(event, little)
    assert octets.type_key == (event.domain_name, event.type_name)
    assert octets.model == event
    assert isinstance(octets.structured, CarriedStructured)
    assert event_from_orb(octets.structured) == event
    if event.type_name != "%ANY":
        assert event_from_orb(octets.any.value()) == event


def test_the_store_keeps_it() -> None:
    form, packed = single(event(TEXT, NUMBER)).packed()
    assert UNPACKED[form](packed).model == event(TEXT, NUMBER)


def test_a_whole_call_goes_on_as_it_is() -> None:
    events = batch(event(TEXT), event(NUMBER), event(TEXT, NUMBER))
    assert of_many(events) is events[0].octets[0]
    alone = single(event(NUMBER))
    assert of_one(alone) is alone.octets[0]
    assert of_one(single(event(TEXT), little=False)) is not None


def test_another_order_is_another_call() -> None:
    events = batch(event(TEXT, type_="first"), event(TEXT, type_="next_"))
    assert [each.type_name for each in read(of_many(events[::-1]))] == ["next_", "first"]
    assert [each.type_name for each in read(of_many([events[0], events[0]]))] == ["first", "first"]
    assert [each.type_name for each in read(of_many(events[1:]))] == ["next_"]
    four = batch(*(event(TEXT, type_=f"t{n}") for n in range(4)))
    shuffled = [four[n] for n in (0, 2, 1, 3)]
    assert [each.type_name for each in read(of_many(shuffled))] == ["t0", "t2", "t1", "t3"]


def test_byte_orders_do_not_mix() -> None:
    assert of_many([single(event(TEXT)), single(event(TEXT), little=False)]) is None


def test_what_must_be_aligned_stays_where_it_is() -> None:
    """0.5 stands where 8 divides the offset: in a sequence that is elsewhere."""
    assert of_many([single(event(NUMBER))]) is None
    (found,) = batch(event(NUMBER))
    assert of_one(found) is None
    assert read(of_many([found])) == [event(NUMBER)]


def test_an_event_that_waits_apart_holds_its_own_octets_alone() -> None:
    events = batch(*(event(TEXT if n % 2 else NUMBER, type_="t" * n) for n in range(1, 20)))
    for each in events:
        each.parted()
        body, begin, end = each.octets
        assert len(body) == end
        assert begin < 8
    assert read(of_many(events)) == [each.model for each in events]
    before = events[0].octets
    events[0].parted()
    assert events[0].octets is before


def test_an_event_that_names_a_value_of_another_goes_with_it_or_not_at_all() -> None:
    from adapters.cosnotification.encoding import encoder_of

    value = encoder_of(VALUE)
    assert value.convert is not None
    held = CORBA.Any(value.type_code, value.convert({"n": 5}))
    both = [CarriedStructured("d", "t", name, [], [], held) for name in ("one", "two")]
    body = omniORB.cdrMarshal(omniORB.tcInternal.createTypeCode(EVENTS), both, True)
    with pytest.raises(MappingError):
        event_reader(True).event(body, event_reader(True).walk(body, 4).end)
    found = all_events(body, True)
    assert found is not None
    assert of_many(found) is body
    first, second = found
    second.parted()
    assert second.octets[0] is body
    assert of_one(second) is None
    assert of_many([second]) is None
    assert second.model.remainder_of_body.value == {"n": 5}  # type: ignore[union-attr]
    assert event_from_orb(second.structured).event_name == "two"
    assert of_many([first]) is not None


def test_what_the_library_cannot_carry_is_an_error_of_that_event() -> None:
    octets = single(event(Property("n", LONGDOUBLE, 0.5)))
    with pytest.raises(DeadLetterError):
        _ = octets.structured
    with pytest.raises(DeadLetterError):
        _ = octets.any
    assert not octets.can_be_given
    assert octets.model == event(Property("n", LONGDOUBLE, 0.5))


@pytest.mark.parametrize("read_", [one_event, all_events])
def test_octets_that_are_no_event(read_: Any) -> None:
    with pytest.raises(MappingError):
        read_(b"\1\0\0\0\5\0\0\0nonsense", True)


SAID = st.one_of(
    st.builds(Property, st.sampled_from(sorted(TOLD)), st.just(SHORT), st.integers(-2, 2)),
    st.builds(Property, st.sampled_from(sorted(TOLD)), st.just(ULONGLONG), st.integers(0, 5)),
    st.builds(
        Property,
        st.sampled_from(sorted(TOLD)),
        st.just(UTC_T),
        st.fixed_dictionaries(
            {"time": st.integers(0, 9), "inacclo": st.just(0), "inacchi": st.just(0), "tdf": st.just(60)}
        ),
    ),
    st.sampled_from([TEXT, Property("Priority", STRING, "high"), Property("StopTime", Sequence(LONG), [1])]),
)


@patient
@given(header=st.lists(SAID, max_size=4), little=orders)
def test_a_header_says_what_it_says_to_the_library(header: list[Property], little: bool) -> None:
    said = replace(event(NUMBER), variable_header=tuple(header))
    octets = batch(event(), said, little=little)[1]
    library = carried(event_to_orb(said))
    for name in ("plain", "priority", "timeout", "start", "stop", "persistent"):
        assert getattr(octets, name) == getattr(library, name), name


def test_octets_behind_the_event_are_the_librarys_to_judge() -> None:
    assert one_event(event_octets(event(), True) + b"more", True) is None


def test_no_events() -> None:
    assert all_events(bytes(4), True) == []
