"""A connection of ours to a peer: one request at a time, and the reply to it, whatever else the peer may say instead."""

from __future__ import annotations

import socket
import struct
import time
from contextlib import suppress
from typing import Final

from adapters.cosnotification.giop import messages
from adapters.cosnotification.giop.messages import NotGiop, RequestMaker, Splitter
from adapters.cosnotification.ior import Address

_RECEIVED_AT_ONCE: Final = 65536
_MOST_FRAGMENTS: Final = 100_000


class NotTaken(Exception):
    """The peer has not got the request, or says that it has done nothing about it: it may be sent again."""


class Gone(Exception):
    """The connection has ended while the peer had the request."""


class Late(Exception):
    """The time is over."""


class Strange(Exception):
    """What came is no answer that a peer may give; it knows the request, or not."""


class Connection:
    """After any exception it is of no use any more: `close` it."""

    def __init__(self, address: Address, deadline: float, longest: int) -> None:
        """Raises OSError, Late."""
        self._longest = longest
        self._number = 0
        self._splitter = Splitter(longest)
        try:
            self._socket = socket.create_connection((address.host, address.port), _left(deadline))
        except TimeoutError:
            raise Late from None
        self._socket.settimeout(None)  # the system's own time-outs cost no call of their own
        self._patience = 0.0
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def is_over(self) -> bool:
        """Whether the peer has ended it, or has said something that nobody asked for."""
        if self._splitter.rest:
            return True
        try:
            self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True

    def ask(self, request: RequestMaker, arguments: bytes, timeout_secs: float, deadline: float) -> bytes | None:
        """The reply, put together if it came in fragments; None for the usual one, that all is well.

        Raises NotTaken, Gone, Late, Strange.
        """
        self._number = number = (self._number + 1) & 0xFFFFFFFF
        if self._patience != timeout_secs:
            self._wait_for(timeout_secs)
        self._send(request.request(number, arguments))
        data = self._receive()
        if data == messages.void_reply(number):
            return None
        return self._reply(data, number, deadline)

    def close(self) -> None:
        self._socket.close()

    def _send(self, request: bytes) -> None:
        try:
            self._socket.sendall(request)
        except BlockingIOError:
            raise Late from None
        except OSError:  # not all of it has gone: nobody can have acted on it
            raise NotTaken from None

    def _receive(self) -> bytes:
        try:
            data = self._socket.recv(_RECEIVED_AT_ONCE)
        except BlockingIOError:
            raise Late from None
        except OSError:
            raise Gone from None
        if not data:
            raise Gone
        return data

    def _reply(self, data: bytes, number: int, deadline: float) -> bytes:
        parts: list[bytes] = []
        size = 0
        while True:
            try:
                for message in self._splitter.feed(data):
                    part = _part_of_reply(message, number, is_first=not parts)
                    parts.append(part)
                    size += len(part)
                    if size > self._longest or len(parts) > _MOST_FRAGMENTS:
                        raise Strange
                    if not messages.has_more(message):
                        return b"".join(parts)
            except NotGiop:
                raise Strange from None
            self._wait_for(_left(deadline))
            data = self._receive()

    def _wait_for(self, secs: float) -> None:
        """For the next octets in either direction."""
        self._patience = secs
        time_value = struct.pack("ll", int(secs), int(secs % 1 * 1e6))
        with suppress(OSError):  # it has ended: that is seen right away
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, time_value)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, time_value)


def _part_of_reply(message: bytes, number: int, *, is_first: bool) -> bytes:
    """What of the reply is in this message. Raises NotTaken, Gone, Strange."""
    kind = messages.kind(message)
    if kind == messages.CLOSE_CONNECTION:
        raise NotTaken if is_first else Gone
    try:
        if message[4:6] == b"\1\2" and messages.id_of(message) == number:
            if is_first and kind == messages.REPLY:
                return message
            if not is_first and kind == messages.FRAGMENT:
                return message[messages.FRAGMENT_HEAD :]
    except struct.error:
        pass
    raise Strange


def _left(deadline: float) -> float:
    """Raises Late."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise Late
    return max(left, 0.001)
