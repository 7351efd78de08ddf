"""Octets and values that are meant to cost time or memory: an error that says so, soon."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from mappings.cdr import decode_any, decode_value, encode_any, encode_value
from mappings.errors import MappingError
from mappings.idl_types import (
    ANY,
    DOUBLE,
    LONG,
    NULL,
    OCTET,
    STRING,
    TYPECODE,
    Alias,
    Array,
    IdlType,
    Member,
    Recursive,
    Sequence,
    String,
    Struct,
    ValueBox,
    WString,
)
from mappings.limits import MAX_DEPTH
from mappings.model import Any_

NODE = Struct("IDL:N:1.0", "N", (Member("kids", Sequence(Recursive("IDL:N:1.0"))),))


@pytest.fixture
def little_memory() -> Iterator[None]:
    """Nobody makes room for more than a few times what is really there."""
    tracemalloc.start()
    yield
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 2**20


def code_of(call: Any, *arguments: Any) -> str:
    with pytest.raises(MappingError) as caught:
        call(*arguments)
    return caught.value.code


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("type_", [Sequence(LONG), Sequence(STRING), Sequence(OCTET), Sequence(Sequence(LONG)), STRING])
def test_a_length_that_is_a_lie(type_: IdlType) -> None:
    assert code_of(decode_value, type_, bytes.fromhex("00 000000 fffffff0 00000000")) == "MAP-CDR-END"


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(
    "element", [NULL, Struct("IDL:E:1.0", "E", ()), Array(NULL, 2**31), Alias("IDL:A:1.0", "A", NULL)], ids=str
)
def test_elements_that_take_no_octets(element: IdlType) -> None:
    octets = bytes.fromhex("00 000000 fffffff0")
    assert code_of(decode_value, Sequence(element), octets) == "MAP-CDR-SIZE"
    assert code_of(decode_value, Array(element, 2**32 - 1), b"\0") == "MAP-CDR-SIZE"
    assert decode_value(Sequence(NULL), bytes.fromhex("00 000000 00000003")) == [None] * 3


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("kind", [15, 16, 17, 22, 29])
def test_typecodes_with_a_count_that_is_a_lie(kind: int) -> None:
    parameters = bytes.fromhex("00 000000 00000001 00 000000 00000001 00 000000") + b"\xff" * 12
    octets = bytes(4) + kind.to_bytes(4, "big") + len(parameters).to_bytes(4, "big") + parameters
    assert code_of(decode_any, octets) in ("MAP-CDR-END", "MAP-CDR-TYPE", "MAP-CDR-INDIRECTION")


def test_a_type_that_doubles_with_each_level() -> None:
    """Each level names the one below twice, the second time by an indirection of eight octets."""
    type_: IdlType = Struct("IDL:T/0:1.0", "T0", (Member("x", LONG),))
    for level in range(1, 40):
        type_ = Struct(f"IDL:T/{level}:1.0", f"T{level}", (Member("a", type_), Member("b", OCTET)))
    octets = encode_value(TYPECODE, type_, little=False)
    # In the octets, `b` becomes an indirection to what `a` is.
    assert code_of(decode_value, TYPECODE, _twice(40)) == "MAP-CDR-SIZE"
    assert decode_value(TYPECODE, octets) == type_
    assert decode_value(TYPECODE, _twice(5)) == _doubled(5)


def _doubled(levels: int) -> IdlType:
    type_: IdlType = LONG
    for level in range(levels):
        type_ = Struct(f"IDL:T/{level}:1.0", "T", (Member("a", type_), Member("b", type_)))
    return type_


def _twice(levels: int) -> bytes:
    """The TypeCode of `_doubled`, written level by level, from the inside."""

    def text(value: str) -> bytes:
        octets = value.encode() + b"\0"
        return len(octets).to_bytes(4, "big") + octets + bytes(-len(octets) % 4)

    long = (3).to_bytes(4, "big")
    inner = long
    for level in range(levels):
        head = bytes(4) + text(f"IDL:T/{level}:1.0") + text("T") + (2).to_bytes(4, "big") + text("a")
        if level:
            back = len(inner) + len(text("b")) + 4
            again = b"\xff\xff\xff\xff" + (-back).to_bytes(4, "big", signed=True)
        else:
            again = long
        parameters = head + inner + text("b") + again
        inner = (15).to_bytes(4, "big") + len(parameters).to_bytes(4, "big") + parameters
    return bytes(4) + inner


def nested_any(levels: int) -> Any_:
    any_ = Any_(LONG, 1)
    for _ in range(levels):
        any_ = Any_(ANY, any_)
    return any_


def nested_nodes(levels: int) -> dict[str, Any]:
    node: dict[str, Any] = {"kids": []}
    for _ in range(levels):
        node = {"kids": [node]}
    return node


def nested_sequences(levels: int) -> IdlType:
    type_: IdlType = LONG
    for _ in range(levels):
        type_ = Sequence(type_)
    return type_


def test_depth_1000() -> None:
    assert code_of(encode_any, nested_any(1000)) == "MAP-DEPTH"
    assert code_of(encode_value, NODE, nested_nodes(1000)) == "MAP-DEPTH"
    assert code_of(encode_value, nested_sequences(1000), []) == "MAP-DEPTH"
    assert code_of(decode_value, nested_sequences(1000), b"\0\0\0\0\0\0\0\0") == "MAP-DEPTH"
    assert code_of(decode_any, b"\0\0\0\0" + b"\0\0\0\x0b" * 1000 + bytes(4)) == "MAP-DEPTH"
    assert code_of(decode_value, NODE, b"\0\0\0\0" + b"\0\0\0\1" * 1000 + bytes(4)) == "MAP-DEPTH"
    deep = b"\0\0\0\3"
    for _ in range(1000):
        deep = b"\0\0\0\x13" + (len(deep) + 8).to_bytes(4, "big") + b"\0\0\0\0" + deep + bytes(4)
    assert code_of(decode_any, b"\0\0\0\0" + deep) == "MAP-DEPTH"


def test_as_deep_as_allowed() -> None:
    any_ = nested_any(MAX_DEPTH - 1)
    assert decode_any(encode_any(any_)) == any_
    nodes = nested_nodes(MAX_DEPTH // 2 - 1)
    assert decode_value(NODE, encode_value(NODE, nodes)) == nodes


def test_a_struct_that_holds_itself_has_no_end() -> None:
    struct = Struct("IDL:S:1.0", "S", (Member("s", Recursive("IDL:S:1.0")),))
    assert code_of(decode_value, struct, b"\0") == "MAP-DEPTH"


def test_a_million_elements_and_ten_million_characters() -> None:
    for type_, value in [
        (Sequence(DOUBLE), [0.5] * 10**6),
        (Sequence(STRING), ["x"] * 10**6),
        (Sequence(OCTET), bytes(10**6)),
        (STRING, "é" * 5_000_000),
        (WString(), "x" * 5_000_000),
    ]:
        assert decode_value(type_, encode_value(type_, value)) == value


@pytest.mark.parametrize(
    ("type_", "value", "code"),
    [
        (STRING, "a\0b", "MAP-VALUE-TEXT"),
        (WString(), "a\0b", "MAP-VALUE-TEXT"),
        (STRING, "\ud800", "MAP-VALUE-TEXT"),
        (String(3), "éé", "MAP-VALUE-LENGTH"),
        (Sequence(LONG, 1), [1, 2], "MAP-VALUE-LENGTH"),
        (Array(LONG, 3), [1, 2], "MAP-VALUE-LENGTH"),
        (Sequence(STRING), "abc", "MAP-VALUE-TYPE"),
        (Sequence(OCTET), [1, 2], "MAP-VALUE-TYPE"),
        (LONG, 2**31, "MAP-VALUE-RANGE"),
        (NODE, {}, "MAP-VALUE-MEMBER"),
        (ValueBox("IDL:B:1.0", "B", LONG), "x", "MAP-VALUE-TYPE"),
        (Recursive("IDL:N:1.0"), {}, "MAP-TYPE-FORM"),
        (ANY, Any_(Recursive("IDL:N:1.0"), {}), "MAP-TYPE-FORM"),
        (TYPECODE, Recursive("IDL:N:1.0"), "MAP-TYPE-FORM"),
    ],
)
def test_values_that_do_not_fit(type_: IdlType, value: Any, code: str) -> None:
    assert code_of(encode_value, type_, value) == code
