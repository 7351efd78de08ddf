"""Every delivery of every event and message comes out of a record as it went in."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.base import Delivery
from gateway.journal.delivery_codec import DeliveryCodec
from gateway.journal.value_codec import type_from_form, type_to_form
from mappings.cdr import encode_bare
from mappings.cdr.original import OriginalEvent, original_event
from mappings.event_forms import structured_value
from mappings.idl_types import OCTET, Array, IdlType, Member, Struct
from mappings.known_types import STRUCTURED_EVENT
from mappings.model import StructuredEvent
from tests.properties.strategies import idl_types, messages, structured_events

CODEC = DeliveryCodec()  # one for all: what is cached must not change what comes out

deliveries = st.builds(
    Delivery,
    structured_events | messages,
    st.text(max_size=20),
    st.floats(0, 1e11),
    st.booleans(),
    st.booleans(),
    st.none() | st.binary(max_size=50),
)


@given(deliveries)
@settings(deadline=None)
def test_a_delivery_comes_back(delivery: Delivery) -> None:
    got = CODEC.decode(CODEC.encode(delivery))
    assert got.error is None
    assert got.payload == delivery.payload
    for field in ("id", "received_at", "persistent", "redelivered", "original"):
        assert getattr(got, field) == getattr(delivery, field)


@given(
    event=structured_events,
    before=st.binary(max_size=9),
    little=st.booleans(),
    id_=st.text(max_size=20),
    persistent=st.booleans(),
)
@settings(deadline=None)
def test_an_event_is_kept_as_the_octets_in_which_it_came(
    event: StructuredEvent, before: bytes, little: bool, id_: str, persistent: bool
) -> None:
    """Wherever they stood in the call that brought them."""
    offset = len(before)
    behind = Struct("IDL:B:1.0", "B", (Member("before", Array(OCTET, offset)), Member("it", STRUCTURED_EVENT)))
    value = {"before": before, "it": structured_value(event)}
    body = (
        encode_bare(behind, value, little=little)
        if offset
        else encode_bare(STRUCTURED_EVENT, value["it"], little=little)
    )
    original = original_event(body + b"behind", offset, len(body), little=little)
    delivery = Delivery(event, id_, 1.5, persistent, False, original)
    record = CODEC.encode(delivery)
    got = CODEC.decode(record)
    for field in ("payload", "id", "received_at", "persistent", "redelivered", "original", "error"):
        assert getattr(got, field) == getattr(delivery, field)
    assert type(got.original) is OriginalEvent
    assert CODEC.encode(got) == record
    assert len(record) < len(original) + 200, "nothing is written twice"


@given(st.binary(max_size=60))
def test_octets_that_are_no_event_are_an_item_all_the_same(octets: bytes) -> None:
    record = CODEC.encode(Delivery(None, "id", 1.5, original=OriginalEvent(octets)))
    got = CODEC.decode(record)
    assert (got.payload is None) == (got.error is not None)


@given(idl_types)
@settings(deadline=None)
def test_a_type_comes_back(type_: IdlType) -> None:
    assert type_from_form(type_to_form(type_)) == type_


@given(deliveries, st.data())
@settings(deadline=None)
def test_a_changed_record_never_raises(delivery: Delivery, data: st.DataObject) -> None:
    """The checksums keep such a record from being decoded; should one ever be, it is an item and not a crash."""
    payload = bytearray(CODEC.encode(delivery))
    for _ in range(data.draw(st.integers(1, 3))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    CODEC.decode(bytes(payload))


@given(st.binary(max_size=60))
def test_anything_at_all_never_raises(payload: bytes) -> None:
    CODEC.decode(payload)
    CODEC.decode(b"\x01e" + payload)
    CODEC.decode(b"\x01m\0\0\0\0\0\0\0" + payload)
