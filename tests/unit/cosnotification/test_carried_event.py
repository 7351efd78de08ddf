"""A StructuredEvent as one flat object: the same octets, the same event, and a stand-in for the nested structs of the IDL."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from adapters.cosnotification.codec import event_from_orb, event_to_orb
from adapters.cosnotification.service.engine.carried_event import (
    EVENT_CODE,
    UNPACKED,
    CarriedAny,
    CarriedStructured,
    carried,
)
from adapters.cosnotification.stubs import CORBA, CosNotification, omniORB
from mappings.idl_types import LONG, SHORT, STRING, ULONGLONG
from mappings.model import Any_, Property, StructuredEvent
from tests.properties.strategies import structured_events
from tests.unit.cosnotification.test_codec import assume_carriable, patient

pytestmark = pytest.mark.usefixtures("orb")

NESTED = CosNotification._tc_StructuredEvent


def there_and_back(event: Any, out: Any, into: Any) -> Any:
    return omniORB.cdrUnmarshal(into, omniORB.cdrMarshal(out, event))


@patient
@given(structured_events)
def test_flat_and_nested_are_the_same_on_the_wire(event: StructuredEvent) -> None:
    fields = (*event.variable_header, *event.filterable_data)
    assume_carriable(*(Any_(field.type, field.value) for field in fields), event.remainder_of_body)
    nested = event_to_orb(event)
    flat = there_and_back(nested, NESTED, EVENT_CODE)
    assert isinstance(flat, CarriedStructured)
    assert event_from_orb(flat) == flat.model == event
    assert event_from_orb(there_and_back(flat, EVENT_CODE, NESTED)) == event, "sent as it is"
    assert event_from_orb(there_and_back(flat, NESTED, NESTED)) == event, "sent by whoever knows the IDL alone"
    assert event_from_orb(carried(nested)) == event
    wrapped = there_and_back(flat.any, CORBA.TC_any, CORBA.TC_any)
    assert flat.type_name == "%ANY" or event_from_orb(wrapped.value()) == event
    form, octets = flat.packed()
    assert UNPACKED[form](octets).model == event


def test_the_descriptor_names_the_types_of_the_idl() -> None:
    assert EVENT_CODE.id() == NESTED.id()
    element = EVENT_CODE.member_type(3).content_type()
    assert element.id() == CosNotification._tc_Property.id()


def event(*header: Property) -> CarriedStructured:
    return carried(event_to_orb(StructuredEvent("d", "t", "n", header, (), Any_(LONG, 1))))


def test_an_event_is_plain_where_its_header_says_nothing_of_order_or_time() -> None:
    assert event().plain
    assert event(Property("EventReliability", SHORT, 1), Property("colour", STRING, "red")).plain
    assert not event(Property("Priority", SHORT, 0)).plain
    assert not event(Property("Timeout", ULONGLONG, 5)).plain
    assert event(Property("Timeout", ULONGLONG, 0)).plain, "none"
    assert event(Property("Priority", STRING, "high")).plain, "another type says nothing"


def test_defaults_are_for_events_that_say_nothing() -> None:
    said = event(Property("Priority", SHORT, 3))
    said.set_defaults(7, 100)
    assert (said.priority, said.timeout) == (3, 100)
    unsaid = event()
    unsaid.set_defaults(None, None)
    assert unsaid.plain
    unsaid.set_defaults(7, None)
    assert (unsaid.priority, unsaid.timeout, unsaid.plain) == (7, None, False)


def test_an_untyped_event_crosses_channels_unchanged() -> None:
    any_ = CORBA.Any(CORBA.TC_long, 5)
    assert CarriedAny(any_).structured.any is any_
    assert CarriedAny(any_).type_key == ("", "%ANY")
