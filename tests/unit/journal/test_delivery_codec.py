"""Deliveries that the strategies of the model do not make: errors, odd values, records of other versions."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from adapters.base import DeadLetterError, Delivery
from gateway.journal.delivery_codec import DeliveryCodec
from mappings.idl_types import ANY, DOUBLE, LONG, STRING, Alias, Sequence
from mappings.model import Any_, Message, Property, StructuredEvent, UnionValue


def event(value: Any, type_: Any = LONG) -> StructuredEvent:
    return StructuredEvent("D", "T", "N", (), (Property("v", type_, value),))


def round_trip(delivery: Delivery) -> Delivery:
    """Through two codecs, so that nothing is found in a cache."""
    return DeliveryCodec().decode(DeliveryCodec().encode(delivery))


def test_everything_but_the_token_comes_back() -> None:
    error = DeadLetterError("STO-X", "not for us", path="body", hint="mend it")
    sent = Delivery(None, "id-1", 1795000000.25, False, True, b"\0\xff" * 10, error, token=object())
    got = round_trip(sent)
    assert (got.payload, got.id, got.received_at) == (None, "id-1", 1795000000.25)
    assert (got.persistent, got.redelivered, got.original, got.token) == (False, True, b"\0\xff" * 10, None)
    assert got.error is not None
    assert (got.error.code, got.error.message, got.error.path, got.error.hint) == (
        "STO-X",
        "not for us",
        "body",
        "mend it",
    )


@pytest.mark.parametrize("original", [None, b"", b"GIOP"])
def test_no_original_is_not_an_empty_one(original: bytes | None) -> None:
    assert round_trip(Delivery(Message(), "i", 0.0, original=original)).original == original


def test_values_that_do_not_fit_their_types_come_back_as_they_were() -> None:
    """The link refuses them later, with the place and the reason; the journal must not."""
    for value in (
        "text",
        None,
        [1, {"a": [True, None]}],
        2**70,
        UnionValue("x"),
        Decimal("1.50"),
        b"\x01",
        Any_(ANY, 1),
    ):
        got = round_trip(Delivery(event(value), "i", 0.0))
        assert got.error is None
        assert got.payload == event(value)


def test_numbers_keep_their_kind() -> None:
    for value in (1, 1.0, True, -0.0, math.inf, 2**63):
        got = round_trip(Delivery(event(value), "i", 0.0)).payload
        assert isinstance(got, StructuredEvent)
        back = got.filterable_data[0].value
        assert type(back) is type(value)
        assert back == value
        assert math.copysign(1, back) == math.copysign(1, value)
    nan = round_trip(Delivery(event(math.nan, DOUBLE), "i", 0.0)).payload
    assert isinstance(nan, StructuredEvent)
    assert math.isnan(nan.filterable_data[0].value)


def test_a_type_is_read_back_with_its_spelling() -> None:
    type_ = Alias("IDL:A:1.0", "A", Sequence(STRING, 4), named=True)
    got = round_trip(Delivery(event(["x"], type_), "i", 0.0)).payload
    assert isinstance(got, StructuredEvent)
    back = got.filterable_data[0].type
    assert back == type_
    assert isinstance(back, Alias)
    assert back.named


def test_equal_names_with_other_types_are_other_shapes() -> None:
    codec = DeliveryCodec()
    first, second = event(1, LONG), event("1", STRING)
    payloads = [codec.encode(Delivery(payload, "i", 0.0)) for payload in (first, second, first)]
    assert [codec.decode(payload).payload for payload in payloads] == [first, second, first]


def test_types_that_come_and_go_are_never_mixed_up() -> None:
    """The cache finds shapes by the identity of their types: a new type at the address of an old one must not be taken for it."""
    codec = DeliveryCodec()
    for number in range(3000):
        type_ = Alias(f"IDL:A{number}:1.0", f"A{number}", LONG)
        sent = event(number, type_)
        got = codec.decode(codec.encode(Delivery(sent, "i", 0.0)))
        assert got.payload == sent
        del sent, got, type_


class _Stranger:
    pass


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [_Stranger(), {"\0": [1]}, {(1, 2): 3}, deep(100_000), {1, 2}, 1j])
def test_what_cannot_be_kept_becomes_an_error_that_a_link_dead_letters(value: Any) -> None:
    got = round_trip(Delivery(event(value), "id-9", 5.0))
    assert got.payload is None
    assert got.error is not None
    assert got.error.code == "JNL-ENCODE"
    assert (got.id, got.received_at) == ("id-9", 5.0)
    assert got.original is not None


def test_the_original_of_what_cannot_be_kept_is_kept() -> None:
    assert round_trip(Delivery(event(_Stranger()), "i", 0.0, original=b"GIOP\x01")).original == b"GIOP\x01"


@pytest.mark.parametrize(
    "payload",
    [b"", b"\x01", b"\x02e" + bytes(8), b"\x01x\0\0\0\0\0\0\0\x0c[1,2,0,null,[]]"[:20], b"\x01e" + b"\xff" * 30, b"[]"],
)
def test_a_record_that_is_none_of_ours_is_an_error_with_the_record_in_it(payload: bytes) -> None:
    got = DeliveryCodec().decode(payload)
    assert got.payload is None
    assert got.error is not None
    assert got.error.code == "JNL-RECORD"
    assert got.original == payload
