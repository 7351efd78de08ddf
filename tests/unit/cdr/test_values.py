"""Valuetypes: chunks as omniORB cuts them, and as other ORBs may."""

from __future__ import annotations

from typing import Any

import pytest

from mappings.cdr import decode_value, encode_value
from mappings.errors import MappingError
from mappings.idl_types import (
    LONG,
    NULL,
    OCTET,
    STRING,
    Member,
    Recursive,
    Sequence,
    Struct,
    Value,
    ValueBox,
)

PAIR = Value("IDL:V:1.0", "V", None, (Member("a", LONG), Member("b", LONG)))
LIST = Value("IDL:L:1.0", "L", None, (Member("n", OCTET), Member("next", Recursive("IDL:L:1.0"))))
EMPTY = Value("IDL:N:1.0", "N", None, (Member("nothing", NULL),))
BYTES = Value("IDL:O:1.0", "O", None, (Member("data", Sequence(OCTET)), Member("numbers", Sequence(LONG))))
TWO = Struct("IDL:T:1.0", "T", (Member("x", PAIR), Member("y", PAIR)))
BOXED = ValueBox("RMI:B:0000000000000000", "B", STRING)
TREE = Value("IDL:R:1.0", "R", None, (Member("l", Recursive("IDL:R:1.0")), Member("r", Recursive("IDL:R:1.0"))))


def big(octets: str) -> bytes:
    return bytes.fromhex("00000000" + octets)


def refused(type_: Any, octets: str) -> str:
    with pytest.raises(MappingError) as caught:
        decode_value(type_, big(octets))
    return caught.value.code


def test_nested_values_stand_between_chunks_and_one_tag_ends_both() -> None:
    octets = big("7fffff08 00000004 01000000 7fffff08 00000008 02000000 00000000 ffffffff")
    value = {"n": 1, "next": {"n": 2, "next": None}}
    assert encode_value(LIST, value, little=False) == octets
    assert decode_value(LIST, octets) == value


def test_an_end_tag_for_each_value_is_read_too() -> None:
    octets = big("7fffff08 00000001 01000000 7fffff08 00000008 02000000 00000000 fffffffe ffffffff")
    assert decode_value(LIST, octets) == {"n": 1, "next": {"n": 2, "next": None}}


def test_empty_values_have_no_chunk() -> None:
    octets = big("7fffff08 ffffffff")
    assert encode_value(EMPTY, {"nothing": None}, little=False) == octets
    assert decode_value(EMPTY, octets) == {"nothing": None}


@pytest.mark.parametrize(
    "octets",
    [
        "7fffff00 00000001 00000002",  # not chunked, no repository id
        "7fffff02 0000000a 49444c3a563a312e3000 0000 00000001 00000002",  # not chunked, with the id
        "7fffff08 00000008 00000001 00000002 ffffffff",  # one chunk
        "7fffff08 00000004 00000001 00000004 00000002 ffffffff",  # two
        "7fffff0a 0000000a 49444c3a563a312e3000 0000 00000008 00000001 00000002 ffffffff",  # with the id
        "7fffff0e 00000001 0000000a 49444c3a563a312e3000 0000 00000008 00000001 00000002 ffffffff",  # in a list
        "7fffff01 00000002 7800 0000 00000001 00000002",  # a codebase URL, which nobody needs
    ],
)
def test_other_spellings(octets: str) -> None:
    assert decode_value(PAIR, big(octets)) == {"a": 1, "b": 2}


def test_octets_and_numbers_across_chunks() -> None:
    octets = big(
        "7fffff08 00000006 00000003 0102 0000 00000001 03 000000 00000008 00000002 00000007 00000004 00000008 ffffffff"
    )
    assert decode_value(BYTES, octets) == {"data": b"\1\2\3", "numbers": [7, 8]}


def test_repeated_repository_ids_are_indirections() -> None:
    """RMI ids only: others are not sent. The offset leads from where it stands to the length of the id."""
    octets = encode_value(Sequence(BOXED), ["x", "y"], little=False)
    assert octets.count(b"RMI:") == 1
    assert decode_value(Sequence(BOXED), octets) == ["x", "y"]
    first = octets.index(b"RMI:") - 4
    at = octets.index(b"\xff\xff\xff\xff") + 4
    assert int.from_bytes(octets[at : at + 4], "big", signed=True) == first - at


def test_a_value_that_is_named_again() -> None:
    octets = big("7fffff00 00000001 00000002 ffffffff fffffff0")
    assert decode_value(TWO, octets) == {"x": {"a": 1, "b": 2}, "y": {"a": 1, "b": 2}}


class TestRefused:
    def test_another_type_than_announced(self) -> None:
        assert refused(PAIR, "7fffff02 0000000a 49444c3a573a312e3000 0000 00000001 00000002") == "MAP-CDR-VALUE"

    def test_a_derived_type_whose_own_members_would_be_lost(self) -> None:
        ids = "00000002 0000000a 49444c3a573a312e3000 0000 0000000a 49444c3a563a312e3000 0000"
        assert refused(PAIR, f"7fffff0e {ids} 0000000c 00000001 00000002 00000003 ffffffff") == "MAP-CDR-VALUE"

    def test_no_tag_of_a_value(self) -> None:
        assert refused(PAIR, "00000007 00000001") == "MAP-CDR-VALUE"

    def test_an_end_tag_before_the_members_end(self) -> None:
        assert refused(PAIR, "7fffff08 00000004 00000001 ffffffff") == "MAP-CDR-CHUNK"

    def test_octets_behind_the_members(self) -> None:
        assert refused(PAIR, "7fffff08 0000000c 00000001 00000002 00000003 ffffffff") == "MAP-CDR-CHUNK"

    def test_no_end_tag(self) -> None:
        assert refused(PAIR, "7fffff08 00000008 00000001 00000002") == "MAP-CDR-END"
        assert refused(PAIR, "7fffff08 00000008 00000001 00000002 00000001") == "MAP-CDR-CHUNK"

    def test_a_chunk_that_ends_in_the_middle_of_a_number(self) -> None:
        assert refused(PAIR, "7fffff08 00000002 00000000 00000004 00000002 ffffffff") == "MAP-CDR-CHUNK"

    def test_a_value_without_chunks_inside_one_with(self) -> None:
        assert refused(LIST, "7fffff08 00000001 01000000 7fffff00 02000000 00000000 ffffffff") == "MAP-CDR-CHUNK"

    def test_a_circle(self) -> None:
        assert refused(LIST, "7fffff00 01000000 ffffffff fffffff4") == "MAP-CDR-INDIRECTION"

    def test_an_indirection_into_nowhere(self) -> None:
        assert refused(PAIR, "ffffffff 00001000") == "MAP-CDR-INDIRECTION"
        assert refused(BOXED, "7fffff02 ffffffff fffff000") == "MAP-CDR-INDIRECTION"

    @pytest.mark.parametrize("modifier", ["custom", "abstract"])
    def test_values_without_a_body_that_we_could_know(self, modifier: str) -> None:
        type_ = Value("IDL:V:1.0", "V", None, (Member("a", LONG),), modifier)
        assert refused(type_, "7fffff00 00000001") == "MAP-CDR-VALUE"
        assert decode_value(type_, big("00000000")) is None
        with pytest.raises(MappingError, match="MAP-CDR-VALUE"):
            encode_value(type_, {"a": 1})

    def test_values_that_double_with_each_level(self) -> None:
        """Twelve octets for each level, and 2^60 nodes at the end, if anybody believed it."""
        octets = bytearray(b"\0\0\0\0")
        levels = 60
        octets += b"\x7f\xff\xff\x00" * levels + bytes(8)
        for level in range(levels - 1, 0, -1):
            at = len(octets) + 4
            octets += b"\xff\xff\xff\xff" + (4 + 4 * level - at).to_bytes(4, "big", signed=True)
        with pytest.raises(MappingError, match="MAP-CDR-SIZE"):
            decode_value(TREE, bytes(octets))
