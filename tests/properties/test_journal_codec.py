"""Every delivery of every event and message comes out of a record as it went in."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.base import Delivery
from gateway.journal.delivery_codec import DeliveryCodec
from gateway.journal.value_codec import type_from_form, type_to_form
from mappings.idl_types import IdlType
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
