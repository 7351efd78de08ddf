"""Messages are found in any stream of octets, and heads say what was asked for."""

from __future__ import annotations

import struct
from itertools import pairwise
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.cosnotification.giop import messages
from adapters.cosnotification.giop.messages import NotGiop, RequestMaker, Splitter, read_reply, read_request

LONGEST = 4096

keys = st.binary(min_size=1, max_size=40)
operations = st.from_regex(rb"[a-z_]{1,30}", fullmatch=True)
requests = st.builds(
    lambda key, operation, little, code_sets, id_, arguments: RequestMaker(
        key, operation, little=little, code_sets=code_sets
    ).request(id_, arguments),
    keys, operations, st.booleans(), st.booleans(), st.integers(0, 2**32 - 1), st.binary(max_size=60),
)  # fmt: skip


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


@given(
    key=keys,
    operation=operations,
    little=st.booleans(),
    code_sets=st.booleans(),
    id_=st.integers(0, 2**32 - 1),
    arguments=st.binary(max_size=60),
)
def test_what_is_asked_is_read(
    key: bytes, operation: bytes, little: bool, code_sets: bool, id_: int, arguments: bytes
) -> None:
    message = RequestMaker(key, operation, little=little, code_sets=code_sets).request(id_, arguments)
    head = read_request(message)
    assert head is not None
    said = (messages.UTF_8, messages.UTF_16) if code_sets else None
    assert head[:5] == (id_, key, operation, True, said)
    assert head.arguments_at % 8 == 0
    assert message[head.arguments_at :] == arguments
    assert messages.is_little(message) == little
    assert messages.id_of(message) == id_


@given(sent=st.lists(requests, max_size=6), places=st.lists(st.integers(0, 10_000), max_size=8))
def test_messages_are_found_however_they_are_cut(sent: list[bytes], places: list[int]) -> None:
    splitter = Splitter(LONGEST)
    assert [message for piece in cut(b"".join(sent), places) for message in splitter.feed(piece)] == sent
    assert splitter.rest == b""


@given(
    sent=st.lists(requests, max_size=3),
    garbage=st.binary(min_size=1, max_size=60),
    places=st.lists(st.integers(0, 9_999)),
)
def test_nothing_is_swallowed_where_no_message_begins(sent: list[bytes], garbage: bytes, places: list[int]) -> None:
    stream = b"".join(sent) + b"X" + garbage
    splitter = Splitter(LONGEST)
    found: list[bytes] = []
    pieces = cut(stream, places)
    while pieces:
        try:
            for message in splitter.feed(pieces.pop(0)):
                found.append(message)
        except NotGiop:
            break
    assert found == sent
    assert b"".join((*found, splitter.rest, *pieces)) == stream


def test_a_long_message_is_put_together_once() -> None:
    """What it costs grows with its length, not with the square of that: every piece is copied once or twice."""
    piece = bytes(1000)
    message = RequestMaker(b"key", b"push", little=True).request(1, piece * 1000)
    splitter = Splitter(1 << 30)
    with mock.patch.object(messages, "message_size", wraps=messages.message_size) as looked:
        found = [got for at in range(0, len(message), 1000) for got in splitter.feed(message[at : at + 1000])]
    assert found == [message]
    assert looked.call_count <= 3


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_message_that_is_too_long_is_none(order: str) -> None:
    header = b"GIOP\1\2" + bytes((order == "<", 0)) + struct.pack(f"{order}L", LONGEST)
    splitter = Splitter(LONGEST)
    with pytest.raises(NotGiop):
        list(splitter.feed(header))
    assert splitter.rest == header


@given(st.binary(max_size=100), requests, st.integers(0, 200))
def test_heads_of_anything_are_read_or_not(octets: bytes, request_: bytes, end: int) -> None:
    for message in (b"GIOP\1\2\1\0" + octets, request_[: max(12, end)]):
        head = read_request(message)
        assert head is None or head.arguments_at <= len(message) + 7
        read_reply(message)


def test_requests_of_other_versions_are_not_looked_into() -> None:
    message = bytearray(RequestMaker(b"key", b"push", little=True).request(1, b""))
    message[5] = 1
    assert read_request(bytes(message)) is None


def test_a_void_reply() -> None:
    reply = messages.void_reply(0x01020304)
    assert [reply] == list(Splitter(LONGEST).feed(reply))
    assert read_reply(reply) == (0x01020304, messages.NO_EXCEPTION, 24)
