"""CDR there and back in both byte orders, and octets that nobody meant to be CDR."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mappings.cdr import any_encoder, decode_any, decode_value, encode_any, encode_value
from mappings.checking import check_value
from mappings.errors import MappingError
from mappings.idl_types import ANY, LONGDOUBLE, TYPECODE, IdlType, Sequence
from mappings.model import Any_
from tests.properties.strategies import anys, idl_types


@given(any_=anys, little=st.booleans())
@settings(deadline=None)
def test_any_there_and_back(any_: Any_, little: bool) -> None:
    assert decode_any(encode_any(any_, little=little)) == any_


@given(any_=anys)
@settings(deadline=None)
def test_an_encoder_for_anys_of_one_type_writes_the_same_octets(any_: Any_) -> None:
    encode = any_encoder(any_.type)
    assert encode(any_.value) == encode(any_.value) == encode_any(any_)


@given(any_=anys, little=st.booleans())
@settings(deadline=None)
def test_value_there_and_back(any_: Any_, little: bool) -> None:
    assert decode_value(any_.type, encode_value(any_.type, any_.value, little=little)) == any_.value


@given(type_=idl_types, little=st.booleans())
@settings(deadline=None)
def test_typecode_there_and_back(type_: IdlType, little: bool) -> None:
    """Twice in a row: the second time the caches answer."""
    octets = encode_value(Sequence(TYPECODE), [type_, type_], little=little)
    assert decode_value(Sequence(TYPECODE), octets) == [type_, type_]
    assert encode_value(Sequence(TYPECODE), [type_, type_], little=little) == octets


@given(number=st.floats(allow_nan=False), little=st.booleans())
def test_every_double_is_a_long_double(number: float, little: bool) -> None:
    assert decode_value(LONGDOUBLE, encode_value(LONGDOUBLE, number, little=little)) == number


def assert_fits_or_refused(data: bytes) -> None:
    refusal = None
    try:
        any_ = decode_any(data)
    except MappingError as error:
        refusal = error
    if refusal is None:
        check_value(ANY, any_)
    else:
        assert refusal.path, refusal


@given(data=st.binary(max_size=200), order=st.sampled_from([b"\0", b"\1", b"\0\0\0\0", b"\1\0\0\0"]))
def test_arbitrary_octets(data: bytes, order: bytes) -> None:
    assert_fits_or_refused(order + data)


@given(data=st.data(), any_=anys, little=st.booleans())
@settings(max_examples=200, deadline=None)
def test_octets_with_a_fault(data: st.DataObject, any_: Any_, little: bool) -> None:
    """Changed here and there, cut short, or with something inserted: what is still read fits its own type."""
    octets = bytearray(encode_any(any_, little=little))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(octets) - 1))
        match data.draw(st.sampled_from(["change", "cut", "insert"])):
            case "change":
                octets[at] = data.draw(st.sampled_from([0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF]) | st.integers(0, 255))
            case "cut":
                del octets[at + 1 :]
            case _:
                octets[at:at] = data.draw(st.binary(min_size=1, max_size=8))
    assert_fits_or_refused(bytes(octets))


@given(any_=anys, little=st.booleans())
@settings(deadline=None)
def test_every_beginning_is_too_short(any_: Any_, little: bool) -> None:
    octets = encode_any(any_, little=little)
    for end in range(0, len(octets), max(1, len(octets) // 20)):
        with pytest.raises(MappingError):
            decode_any(octets[:end])
