"""Frames between us and a worker: MARK, a length of four bytes, then a tuple of plain values in Python's own marshal form.

Both sides are the same interpreter, and nobody else can write to the socket, so marshal is safe here; it is several times as fast
as JSON and, unlike pickle, makes nothing but plain values. A frame is a tuple whose first item names it. The mark is there so that
a stream that has come out of step is found out before marshal is asked to read it.
"""

from __future__ import annotations

import marshal
import select
import socket
import struct
from typing import Any, Final, TypeAlias

Frame: TypeAlias = tuple[Any, ...]

MAX_FRAME_BYTES: Final = 1 << 30
RECEIVE_BYTES: Final = 1 << 20
BUFFER_BYTES: Final = 4 << 20  # asked of the system, which may give less

MARK: Final = b"JMS\x01"

_HEAD: Final = struct.Struct(">4sI")


class FrameError(ValueError):
    """What came, or should go, is no frame."""


class FrameSocket:
    """One end of a socketpair. One thread may send while another reads."""

    def __init__(self, socket_: socket.socket, send_timeout_secs: float | None = None) -> None:
        self._socket = socket_
        self._socket.settimeout(send_timeout_secs)
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            self._socket.setsockopt(socket.SOL_SOCKET, option, BUFFER_BYTES)
        self._buffer = bytearray()

    def send(self, frame: Frame) -> int:
        """Returns its size. Raises FrameError, and OSError (TimeoutError when the other side does not read)."""
        data = encode(frame)
        self._socket.sendall(data)
        return len(data)

    def send_encoded(self, data: bytes) -> None:
        self._socket.sendall(data)

    def can_send(self) -> bool:
        """Whether a small frame would leave at once."""
        poller = select.poll()
        poller.register(self._socket, select.POLLOUT)
        return bool(poller.poll(0))

    def read(self, timeout_secs: float | None, wake: int | None = None) -> Frame | None:
        """The next frame; None after the time-out, or when the file descriptor `wake` can be read.

        Raises EOFError when the other side is gone, FrameError when it sends what is no frame, OSError.
        """
        frame = self._complete()
        if frame is not None:
            return frame
        poller = select.poll()
        poller.register(self._socket, select.POLLIN)
        if wake is not None:
            poller.register(wake, select.POLLIN)
        milliseconds = None if timeout_secs is None else max(0, timeout_secs * 1000)
        ready = [descriptor for descriptor, _ in poller.poll(milliseconds)]
        if self._socket.fileno() not in ready:
            return None
        while frame is None:  # whoever has begun a frame ends it at once: the socket's own time-out is enough
            data = self._socket.recv(RECEIVE_BYTES)
            if not data:
                raise EOFError
            self._buffer += data
            frame = self._complete()
        return frame

    def set_send_timeout(self, secs: float) -> None:
        self._socket.settimeout(secs)

    def close(self) -> None:
        self._socket.close()

    def _complete(self) -> Frame | None:
        buffer = self._buffer
        if len(buffer) < _HEAD.size:
            return None
        mark, length = _HEAD.unpack_from(buffer)
        if mark != MARK or length > MAX_FRAME_BYTES:
            raise FrameError("what came is no frame")
        end = _HEAD.size + length
        if len(buffer) < end:
            return None
        frame = decode(bytes(memoryview(buffer)[_HEAD.size : end]))
        del buffer[:end]
        return frame


def encode(frame: Frame) -> bytes:
    """Raises FrameError where it is no tuple of plain values, or too large."""
    try:
        data = marshal.dumps(frame)
    except ValueError as error:
        raise FrameError(str(error)) from None
    if len(data) > MAX_FRAME_BYTES:
        raise FrameError(f"a frame of {len(data)} bytes")
    return _HEAD.pack(MARK, len(data)) + data


def decode(data: bytes) -> Frame:
    """Raises FrameError."""
    try:
        frame = marshal.loads(data)
    except (ValueError, EOFError, TypeError) as error:
        raise FrameError(f"not in marshal form: {error}") from None
    if not isinstance(frame, tuple) or not frame or not isinstance(frame[0], str):
        raise FrameError("not a tuple with a name")
    return frame
