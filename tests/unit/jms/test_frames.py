"""Frames between the gateway and a worker."""

from __future__ import annotations

import marshal
import os
import socket
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.jms.frames import MARK, MAX_FRAME_BYTES, FrameError, FrameSocket, decode, encode
from adapters.jms.plain import from_plain, to_plain
from tests.properties import strategies


@pytest.fixture
def ends() -> Iterator[tuple[FrameSocket, socket.socket]]:
    ours, theirs = socket.socketpair()
    frames = FrameSocket(ours, send_timeout_secs=5.0)
    yield frames, theirs
    frames.close()
    theirs.close()


@given(strategies.messages)
@settings(max_examples=100, deadline=None)
def test_a_message_crosses_as_it_is(message: object) -> None:
    frame = ("message", to_plain(message))  # type: ignore[arg-type]
    assert repr(from_plain(decode(encode(frame)[8:])[1])) == repr(message)  # by repr: NaN is not itself


@given(st.binary(min_size=8, max_size=200).filter(lambda data: not data.startswith(MARK)))
@settings(max_examples=100, deadline=None)
def test_garbage_is_an_error_and_nothing_else(data: bytes) -> None:
    ours, theirs = socket.socketpair()
    frames = FrameSocket(ours)
    theirs.sendall(data)
    with pytest.raises(FrameError):
        frames.read(5.0)
    frames.close()
    theirs.close()


def test_frames_come_in_order_however_they_are_cut(ends: tuple[FrameSocket, socket.socket]) -> None:
    frames, theirs = ends
    data = b"".join(encode(("n", n, "x" * n)) for n in range(20))
    for start in range(0, len(data), 7):
        theirs.sendall(data[start : start + 7])
    assert [frames.read(5.0) for _ in range(20)] == [("n", n, "x" * n) for n in range(20)]
    assert frames.read(0.0) is None


def test_a_wake_ends_the_wait(ends: tuple[FrameSocket, socket.socket]) -> None:
    readable, writable = os.pipe()
    os.write(writable, b"!")
    assert ends[0].read(60.0, readable) is None
    os.close(readable)
    os.close(writable)


def test_an_end_shows(ends: tuple[FrameSocket, socket.socket]) -> None:
    ends[1].close()
    with pytest.raises(EOFError):
        ends[0].read(5.0)


@pytest.mark.parametrize(
    "data",
    [
        MARK + struct.pack(">I", MAX_FRAME_BYTES + 1),
        MARK + struct.pack(">I", 3) + b"abc",
        *(MARK + struct.pack(">I", len(data)) + data for data in map(marshal.dumps, (3, (), (3,)))),
    ],
)
def test_what_is_no_frame_is_refused(ends: tuple[FrameSocket, socket.socket], data: bytes) -> None:
    ends[1].sendall(data)
    with pytest.raises(FrameError):
        ends[0].read(5.0)


def test_what_is_not_plain_cannot_be_sent(ends: tuple[FrameSocket, socket.socket]) -> None:
    with pytest.raises(FrameError):
        ends[0].send(("object", object()))


def test_a_peer_that_does_not_read_is_noticed(ends: tuple[FrameSocket, socket.socket]) -> None:
    frames, _ = ends
    frames.set_send_timeout(0.2)
    with pytest.raises(TimeoutError):
        frames.send(("large", b"x" * (64 << 20)))
    assert not frames.can_send()
