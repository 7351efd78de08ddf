"""One peer's connection to the doorway: which of its requests are taken as octets, and everything else to the library and back.

Behind it stands a connection of its own to the library, made when the first message goes there. Messages are passed on whole, so
that replies of ours can come between those of the library; what is no GIOP, or too long, turns the two connections into a pipe:
the library then judges it as if we were not there.

The first request of a connection says which code sets the two have agreed on. The library has to know that too: where the doorway
has taken that request, it says so to the library in a request of its own, ahead of what is passed on first.
"""

from __future__ import annotations

import select
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple, Protocol

from adapters.cosnotification.giop.held import Held
from adapters.cosnotification.giop.messages import (
    FRAGMENT,
    FRAGMENT_HEAD,
    REPLY,
    UTF_8,
    UTF_16,
    NotGiop,
    RequestHead,
    RequestMaker,
    Splitter,
    has_more,
    id_of,
    is_little,
    is_whole_request,
    kind,
    read_request,
    refusal,
    void_reply,
)

Handler = Callable[[bytes, bool], bool | Held]
"""The octets of a call's arguments, the first of which stands where 8 divides the offset, and whether they are little-endian.

True: it is done, and a reply without results is sent. False: the library is asked, as if there were no handler. Held: the answer
comes later; where it is not done by then, the peer is told to try again (TRANSIENT).
"""
Handlers = dict[tuple[bytes, bytes], Handler]
"""By object key and operation."""

_CHUNK: Final = 64 * 1024
_MOST_WAITING: Final = (
    1024 * 1024
)  # octets for somebody who does not read: then nothing more is taken from the other side
_LONGEST_FROM_LIBRARY: Final = 1 << 33
_INTRODUCTION: Final = 0xFFFFFFF0  # id of that request, which no peer will come to
_LOST: Final = select.EPOLLHUP | select.EPOLLERR
_READ: Final = select.EPOLLIN | _LOST
_WRITE: Final = select.EPOLLOUT


_INTRODUCE: Final = RequestMaker(b"doorway", b"_non_existent", little=True, code_sets=True).request(_INTRODUCTION, b"")
_INTRODUCED: Final = _INTRODUCTION.to_bytes(4, sys.byteorder)  # in the library's byte order


class Watch(Protocol):
    """What a visitor needs of the doorway."""

    handlers: Handlers

    def connect_library(self, visitor: Visitor) -> socket.socket:
        """A connection that is being made. Raises OSError."""

    def interested(self, end: socket.socket, events: int) -> None: ...

    def forget(self, end: socket.socket) -> None: ...

    def hold(self, visitor: Visitor, request_id: int, held: Held) -> None:
        """`on_answer` is called when there is one."""


class _Known(NamedTuple):
    """The head of the last request that was taken, to know the next by: only ids differ."""

    start: bytes  # octets 4 to 8
    head: bytes  # octets from 16 up to the arguments
    called: tuple[bytes, bytes]
    arguments_at: int
    little: bool


_NONE_YET: Final = _Known(b"none", b"none", (b"", b""), 0, True)


class _Side:
    """One of the two connections: what waits to be written to it, and whether it is read."""

    __slots__ = ("closing", "events", "reads", "socket", "waiting")

    def __init__(self, end: socket.socket) -> None:
        self.socket = end
        self.waiting = bytearray()
        self.reads = True
        self.closing = False  # when all is written
        self.events = _READ


class Visitor:
    """Everything here is called by the doorway's thread."""

    def __init__(self, watch: Watch, end: socket.socket, host: str, longest: int) -> None:
        self.host: Final = host
        self._watch = watch
        self._peer = _Side(end)
        self._library: _Side | None = None
        self._longest = longest
        self._from_peer = Splitter(longest)
        self._from_library = Splitter(_LONGEST_FROM_LIBRARY)
        self._code_sets_fit: bool | None = None  # None: nothing was said yet
        self._known = _NONE_YET
        self._introduced = False  # and nobody has heard the answer yet
        self._parts: dict[int, list[bytes]] = {}  # requests of which fragments are still to come, by id
        self._parts_size = 0  # of them all
        self._pipe = False

    @property
    def ends(self) -> tuple[socket.socket, ...]:
        return (self._peer.socket,) if self._library is None else (self._peer.socket, self._library.socket)

    def on_event(self, end: socket.socket, events: int) -> None:
        """Whatever fails here ends this visit alone."""
        try:
            if end is self._peer.socket:
                if events & _WRITE:
                    self._flush(self._peer)
                if events & (_READ if self._peer.reads else _LOST):
                    self._read_peer()
            elif self._library is not None and end is self._library.socket:
                if events & _WRITE:
                    self._flush(self._library)
                if events & (_READ if self._library.reads else _LOST):
                    self._read_library(self._library)
            self._balance()
        except BlockingIOError:
            pass  # what the event told of was another connection, whose number this one has now
        except OSError:
            self.close()

    def close(self) -> None:
        for end in self.ends:
            self._watch.forget(end)
            end.close()

    # From the peer

    def _read_peer(self) -> None:
        data = self._peer.socket.recv(_CHUNK)
        if not data:
            raise ConnectionError("closed")
        if self._pipe:
            self._to_library(data)
            return
        try:
            for message in self._from_peer.feed(data):
                self._take(message)
        except NotGiop:
            self._pipe = True
            self._leave_parts()
            self._to_library(self._from_peer.take_rest())
        if self._peer.waiting:
            self._flush(self._peer)

    def _take(self, message: bytes) -> None:
        known = self._known
        if message.startswith(known.head, 16) and message.startswith(known.start, 4):
            handler = self._watch.handlers.get(known.called)
            if handler is None or not self._handled(handler, message, message[known.arguments_at :], known.little):
                self._to_library(message)
        elif is_whole_request(message):
            self._take_request(message)
        elif self._parts or has_more(message):
            self._take_part(message)
        else:
            self._to_library(message)

    def _take_request(self, message: bytes) -> None:
        head = self._wanted(message)
        if head is None:
            self._to_library(message)
            return
        at = head.arguments_at
        self._known = _Known(message[4:8], message[16:at], (head.key, head.operation), at, is_little(message))
        self._take(message)

    def _take_part(self, message: bytes) -> None:
        """A request in fragments is taken when it is whole. Others are passed on part by part."""
        if kind(message) != FRAGMENT:
            if has_more(message) and self._wanted(message) is not None:
                self._parts[id_of(message)] = [message]
                self._add_part(message)
            else:
                self._to_library(message)
            return
        parts = self._parts.get(id_of(message)) if len(message) >= FRAGMENT_HEAD else None
        if parts is None:
            self._to_library(message)
            return
        parts.append(message)
        if has_more(message):
            self._add_part(message)
            return
        del self._parts[id_of(message)]
        self._parts_size -= sum(map(len, parts)) - len(message)
        if not self._taken_whole(parts):
            self._to_library(b"".join(parts))

    def _add_part(self, message: bytes) -> None:
        self._parts_size += len(message)
        if self._parts_size > self._longest:
            self._leave_parts()

    def _leave_parts(self) -> None:
        """What is here of requests in fragments is the library's, and so is what follows of them."""
        for parts in self._parts.values():
            self._to_library(b"".join(parts))
        self._parts.clear()
        self._parts_size = 0

    def _taken_whole(self, parts: list[bytes]) -> bool:
        first = parts[0]
        head = self._wanted(first)
        if head is None:
            return False
        arguments = b"".join((first[head.arguments_at :], *(part[FRAGMENT_HEAD:] for part in parts[1:])))
        handler = self._watch.handlers.get((head.key, head.operation))  # others may take it away at any time
        return handler is not None and self._handled(handler, first, arguments, is_little(first))

    def _wanted(self, message: bytes) -> RequestHead | None:
        """Where this is a request for one of our handlers, on a connection whose code sets are those that handlers know."""
        head = read_request(message)
        if head is None:
            return None
        if head.code_sets is not None and not self._agrees(head.code_sets):
            return None
        wanted = self._code_sets_fit and head.answer_wanted and (head.key, head.operation) in self._watch.handlers
        return head if wanted else None

    def _agrees(self, code_sets: tuple[int, int]) -> bool:
        fit = code_sets[0] == UTF_8 and code_sets[1] in (0, UTF_16)
        self._code_sets_fit = fit and self._code_sets_fit is not False
        if not fit:
            self._known = _NONE_YET
        return fit

    def _handled(self, handler: Handler, request: bytes, arguments: bytes, little: bool) -> bool:
        """Whether it is, or will be, answered."""
        try:
            done = handler(arguments, little)
        except Exception:  # noqa: BLE001 - the library is there for whatever a handler is not up to
            return False
        if done is True:
            self._peer.waiting += void_reply(id_of(request))
        elif done:
            self._watch.hold(self, id_of(request), done)
        return bool(done)

    def on_answer(self, request_id: int, done: bool) -> None:
        """A peer that has gone hears nothing."""
        if self._peer.socket.fileno() < 0:
            return
        try:
            self._send(self._peer, void_reply(request_id) if done else refusal(request_id, "TRANSIENT"))
        except OSError:
            self.close()

    # Between the two

    def _to_library(self, data: bytes) -> None:
        library = self._library
        if library is None:
            library = self._library = _Side(self._watch.connect_library(self))
            if self._code_sets_fit:
                self._introduced = True
                library.waiting += _INTRODUCE
            library.waiting += data
            self._watch_for(library)
        else:
            self._send(library, data)

    def _read_library(self, library: _Side) -> None:
        data = library.socket.recv(_CHUNK)
        if not data:
            self._library_has_gone(library)
            return
        if self._pipe:
            data = self._from_library.take_rest() + data
        else:
            data = self._whole_messages(data)
        if data:
            self._send(self._peer, data)

    def _whole_messages(self, data: bytes) -> bytes:
        messages = bytearray()
        try:
            for message in self._from_library.feed(data):
                if self._introduced and message.startswith(_INTRODUCED, 12) and kind(message) == REPLY:
                    self._introduced = False
                else:
                    messages += message
        except NotGiop:
            self._pipe = True
            messages += self._from_library.take_rest()
        return bytes(messages)

    def _library_has_gone(self, library: _Side) -> None:
        """What it has said is still for the peer to hear."""
        if not self._peer.waiting:
            raise ConnectionError("closed")
        self._watch.forget(library.socket)
        library.socket.close()
        self._peer.closing = True

    def _send(self, side: _Side, data: bytes) -> None:
        if side.waiting:
            side.waiting += data
            return
        try:
            sent = side.socket.send(data)
        except BlockingIOError:
            sent = 0
        if sent < len(data):
            side.waiting += data[sent:]
            self._watch_for(side)

    def _flush(self, side: _Side) -> None:
        with suppress(BlockingIOError):
            del side.waiting[: side.socket.send(side.waiting)]
        if side.closing and not side.waiting:
            raise ConnectionError("closed")
        self._watch_for(side)

    def _balance(self) -> None:
        """Who is not listened to by one side is not listened to by the other."""
        peer, library = self._peer, self._library
        peer_hears = len(peer.waiting) <= _MOST_WAITING
        library_hears = library is None or len(library.waiting) <= _MOST_WAITING
        if peer.reads != (peer_hears and library_hears and not peer.closing):
            peer.reads = not peer.reads
            self._watch_for(peer)
        if library is not None and library.reads != peer_hears and not peer.closing:
            library.reads = peer_hears
            self._watch_for(library)

    def _watch_for(self, side: _Side) -> None:
        events = (_READ if side.reads else 0) | (_WRITE if side.waiting else 0)
        if events != side.events:
            side.events = events
            self._watch.interested(side.socket, events)
