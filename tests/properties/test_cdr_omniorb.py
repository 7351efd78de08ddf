"""Our CDR and omniORBpy's are the same octets, pads aside, for everything that omniORBpy can marshal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import omniORB
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from omniORB import tcInternal

from mappings.cdr import decode_value, encode_value
from mappings.idl_types import ANY, LONG, OCTET, Array, IdlType, Member, Sequence, Struct
from mappings.model import Any_
from tests.properties.strategies import anys
from tests.unit.cdr.omniorb_model import CannotMarshal, Converter, Record, plain_orb
from tests.unit.cdr.pads import pads


@pytest.fixture(scope="module")
def orb() -> Iterator[Any]:
    with plain_orb() as orb:
        yield orb


def wrapped(type_: IdlType, size: int) -> tuple[Struct, dict[str, Any]]:
    """A struct with the type as its last member, and values for the others.

    omniORB cuts a valuetype's chunk where its buffer is full, which says nothing about CDR. A large member before it makes
    the buffer grow by half of that, and then there is room.
    """
    before = Member("before", Sequence(OCTET)), Member("grow", Array(LONG, 8))
    struct = Struct("IDL:Test/Wrapped:1.0", "Wrapped", (*before, Member("it", type_)))
    return struct, {"before": bytes(4096 + 4 * size), "grow": [0] * 8}


def marshal(orb: Any, type_: Struct, value: dict[str, Any], *, little: bool) -> bytes:
    """As an encapsulation: the octet before the members has the place of the byte order."""
    converter = Converter(orb, little=little)
    descriptor = converter.descriptor(type_, {})
    with_order = (*descriptor[:4], "order", tcInternal.tv_octet, *descriptor[4:])
    made: Any = Record()
    made.order = int(little)
    for index, member in enumerate(type_.members):
        setattr(made, member.name, converter.value(member.type, descriptor[5 + 2 * index], value[member.name], {}))
    octets: bytes = omniORB.cdrMarshal(tcInternal.createTypeCode(with_order), made, little)
    return octets


def assert_same_octets(orb: Any, type_: IdlType, value: Any, *, little: bool) -> None:
    struct, members = wrapped(type_, len(encode_value(type_, value)))
    members["it"] = value
    theirs = bytearray(marshal(orb, struct, members, little=little))
    ours = encode_value(struct, members, little=little)
    assert decode_value(struct, bytes(theirs)) == members, "what omniORB writes is read, whatever its pads hold"
    for position in pads(struct, members, little=little):
        theirs[position] = 0
    assert ours.hex(" ") == bytes(theirs).hex(" ")


@given(any_=anys, little=st.booleans())
@settings(max_examples=200, deadline=None, derandomize=True)  # a crash of the ORB ends the whole run: no surprises
def test_any_value(orb: Any, any_: Any_, little: bool) -> None:
    try:
        assert_same_octets(orb, any_.type, any_.value, little=little)
        assert_same_octets(orb, ANY, any_, little=little)
    except CannotMarshal:
        pass
