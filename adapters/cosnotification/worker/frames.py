"""Frames between the gateway and the worker: a length, and a tuple in Python's `marshal` form (quick, and only plain values).

Both ends are the same Python and the same version of us, and nobody else can write to them. The gateway writes to a socket. The
worker writes to a pipe, which costs it half of what a socket would, for every event: what is in it outlives the worker.
"""

from __future__ import annotations

import fcntl
import marshal
import os
import select
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

_LENGTH: Final = struct.Struct("<I")
_CHUNK: Final = 256 * 1024
_PIPE_BYTES: Final = 1024 * 1024  # what a user without rights may have
MARSHAL_VERSION: Final = 2  # no references inside: the same tuple gives the same bytes


class Closed(Exception):
    """The other side has gone."""


class Frames:
    """Any number of threads send, one receives."""

    def __init__(self, connection: socket.socket, *, reader: int | None = None, writer: int | None = None) -> None:
        """`reader` and `writer`: descriptors of a pipe, in place of one direction of the socket. They are ours from now on."""
        self._socket = connection
        self._reader = reader
        self._writer = writer
        self._lock = threading.Lock()

    def send(self, frame: tuple[Any, ...]) -> None:
        """When it returns, the frame will reach the other side even if we die now. Raises Closed."""
        self.send_packed(pack(frame))

    def send_packed(self, data: bytes) -> None:
        try:
            with self._lock:
                if self._writer is None:
                    self._socket.sendall(data)
                    return
                written = os.write(self._writer, data)
                while written < len(data):
                    written += os.write(self._writer, memoryview(data)[written:])
        except OSError as error:
            raise Closed from error

    def send_if_room(self, frame: tuple[Any, ...]) -> None:
        """Never waits: neither for the other side, which may hang, nor for somebody who waits for it."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            poll = select.poll()
            poll.register(self._socket, select.POLLOUT)
            if poll.poll(0):  # then there is room for far more than a small frame
                self._socket.sendall(pack(frame))
        except OSError as error:
            raise Closed from error
        finally:
            self._lock.release()

    def receive(
        self, timeout_secs: float | None = None, before: Callable[[], None] | None = None
    ) -> Iterator[tuple[Any, ...] | None]:
        """Every frame as it comes, and None whenever nothing came for so long. Ends when the other side has gone.

        `before` is called each time before we look for more.
        """
        self._socket.settimeout(None)
        descriptor = self._socket.fileno() if self._reader is None else self._reader
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        buffer = bytearray()
        while True:
            if before is not None:
                before()
            try:
                if timeout_secs is not None and not poll.poll(timeout_secs * 1000):
                    yield None
                    continue
                chunk = os.read(descriptor, _CHUNK)
            except OSError:
                return
            if not chunk:
                return
            buffer += chunk
            start = 0
            while len(buffer) - start >= 4:
                (length,) = _LENGTH.unpack_from(buffer, start)
                end = start + 4 + length
                if len(buffer) < end:
                    break
                with memoryview(buffer) as view:
                    frame = marshal.loads(view[start + 4 : end])
                start = end
                yield frame
            if start:
                del buffer[:start]

    def close(self) -> None:
        """The other side hears of it, and its end is heard here."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def release(self) -> None:
        """When nobody receives any more."""
        self.close()
        if self._reader is not None:
            os.close(self._reader)
            self._reader = None


def pipe() -> tuple[int, int]:
    """The two ends, with room for some thousands of events where the system allows."""
    reader, writer = os.pipe()
    with suppress(OSError):
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return reader, writer


def pack(frame: tuple[Any, ...]) -> bytes:
    data = marshal.dumps(frame, MARSHAL_VERSION)
    return _LENGTH.pack(len(data)) + data
