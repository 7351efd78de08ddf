"""The address that peers call, in front of the ORB library: pushes that somebody here takes as octets are answered here, everything
else goes on to the library, untouched, and so do its answers.

    peer ── visitor ─┬─ a handler: octets, at once
                     └─ the library, at an address of its own that takes connections from the doorway alone

One thread does it all, and waits for nobody. The library makes a thread wake up, values of Python and a reply for every push; what
the doorway does instead is a look at a few octets. And it unmarshals nothing: no event can crash it.
"""

from __future__ import annotations

import ipaddress
import itertools
import secrets
import select
import socket
import threading
import time
import traceback
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from heapq import heappop, heappush
from typing import Final

from adapters.cosnotification.giop.callers import address_of, callers
from adapters.cosnotification.giop.held import Held
from adapters.cosnotification.giop.visitor import Handlers, Visitor

_BACKLOG: Final = 1024
_EXHAUSTED_SECS: Final = 0.1  # how long nobody is let in where the system has no descriptors or memory to give
_KEEP_ALIVE: Final = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 60),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 6),
)
"""A peer that has gone without a word is noticed after two minutes."""


class Doorway:
    """`start`, `shut` and `stop` in this order; the last two twice is fine."""

    def __init__(self, address: tuple[str, int], *, longest: int, allow: Sequence[str] | None = None) -> None:
        """Nobody is let in before `start`. Raises OSError where the address cannot be had."""
        family, kind, protocol, _, found = min(
            socket.getaddrinfo(address[0] or None, address[1], type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE),
            key=lambda each: not address[0] and each[0] != socket.AF_INET6,  # every address: of both families
        )
        self._listener = socket.socket(family, kind, protocol)
        try:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._listener.bind(found)
        except BaseException:
            self._listener.close()
            raise
        self.port: Final[int] = self._listener.getsockname()[1]
        self.comes_from: Final = ".".join(("127", *(str(1 + secrets.randbelow(254)) for _ in range(3))))
        """The only address from which the library is to take connections."""
        self.handlers: Handlers = {}
        self._longest = longest
        self._allow = None if allow is None else tuple(map(ipaddress.ip_network, allow))
        self._library = ("", 0)
        self._visitors: dict[int, tuple[Visitor, socket.socket]] = {}  # by descriptor
        self._poll = select.epoll()
        self._words, self._ears = socket.socketpair()
        self._words.setblocking(False)
        self._shut = threading.Event()
        self._stopping = False
        self._open_again = 0.0
        self._held: list[tuple[float, int, Held]] = []  # a heap, by when their time is over
        self._hold_count = itertools.count()
        self._owed: dict[Held, tuple[Visitor, int]] = {}  # to whom, for which request
        self._answers: deque[Held] = deque()
        self._thread = threading.Thread(target=self._run, name="doorway", daemon=True)

    def start(self, library: tuple[str, int]) -> None:
        self._library = library
        self._listener.listen(_BACKLOG)
        self._listener.setblocking(False)
        self._poll.register(self._listener, select.EPOLLIN)
        self._poll.register(self._ears, select.EPOLLIN)
        self._thread.start()

    def shut(self) -> None:
        """Nobody is let in any more. Who is in stays: what was asked is answered."""
        self._shut.set()
        self._tell()

    def stop(self) -> None:
        self._stopping = True
        self._shut.set()
        if self._thread.is_alive():
            self._tell()
            self._thread.join()
        self._listener.close()
        self._poll.close()
        self._words.close()
        self._ears.close()

    def _tell(self) -> None:
        with suppress(OSError):
            self._words.send(b"!")  # who does not hear it has not heard the one before either

    # The doorway's thread

    def _run(self) -> None:
        while not self._stopping:
            try:
                for descriptor, events in self._poll.poll(self._pause_secs()):
                    self._on_event(descriptor, events)
            except Exception:  # noqa: BLE001 - without this thread nobody would be heard any more
                traceback.print_exc()
                time.sleep(_EXHAUSTED_SECS)
        for visitor in {visitor for visitor, _ in self._visitors.values()}:
            visitor.close()

    def _on_event(self, descriptor: int, events: int) -> None:
        visitor, end = self._visitors.get(descriptor, (None, None))
        if visitor is not None and end is not None:
            try:
                visitor.on_event(end, events)
            except Exception:  # noqa: BLE001 - a fault of ours must end this visit alone, and be seen
                traceback.print_exc()
                visitor.close()
        elif descriptor == self._listener.fileno():
            self._let_in()
        elif descriptor == self._ears.fileno():
            self._ears.recv(64)
            self._on_told()

    def _pause_secs(self) -> float | None:
        """Until something is due that nobody tells of."""
        if not self._open_again and not self._held:
            return None
        now = time.monotonic()
        if self._open_again and now >= self._open_again:
            self._open_again = 0.0
            self._poll.modify(self._listener, select.EPOLLIN)
        while self._held and (self._held[0][0] <= now or self._held[0][2].answer is not None):
            heappop(self._held)[2].expire()
        due = [at for at in (self._open_again, self._held[0][0] if self._held else 0.0) if at]
        return max(0.0, min(due) - now) if due else None

    def _on_told(self) -> None:
        while self._answers:
            held = self._answers.popleft()
            visitor, request_id = self._owed.pop(held, (None, 0))
            if visitor is not None:
                visitor.on_answer(request_id, held.answer is True)
        if self._shut.is_set() and self._listener.fileno() >= 0:
            self._open_again = 0.0
            self._poll.unregister(self._listener)
            self._listener.close()

    def _let_in(self) -> None:
        while True:
            try:
                end, address = self._listener.accept()
            except (BlockingIOError, ConnectionError, InterruptedError):
                return
            except OSError:
                self._open_again = time.monotonic() + _EXHAUSTED_SECS
                self._poll.modify(self._listener, 0)
                return
            try:
                self._welcome(end, str(address[0]))
            except OSError:
                end.close()

    def _welcome(self, end: socket.socket, host: str) -> None:
        if not self._is_allowed(host):
            end.close()
            return
        end.setblocking(False)
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for option in _KEEP_ALIVE:
            end.setsockopt(*option)
        self._enter(Visitor(self, end, host, self._longest), end, select.EPOLLIN)

    def _is_allowed(self, host: str) -> bool:
        if self._allow is None:
            return True
        address = address_of(host)
        return address is not None and any(address in network for network in self._allow)

    def _enter(self, visitor: Visitor, end: socket.socket, events: int) -> None:
        self._poll.register(end, events)
        self._visitors[end.fileno()] = visitor, end

    # For visitors

    def connect_library(self, visitor: Visitor) -> socket.socket:
        end = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            end.setblocking(False)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            end.bind((self.comes_from, 0))
            callers[end.getsockname()] = visitor.host
            with suppress(BlockingIOError):
                end.connect(self._library)
            self._enter(visitor, end, select.EPOLLIN)
        except BaseException:
            end.close()
            raise
        return end

    def hold(self, visitor: Visitor, request_id: int, held: Held) -> None:
        self._owed[held] = visitor, request_id
        heappush(self._held, (held.until, next(self._hold_count), held))
        held.expect(self._on_answer)

    def _on_answer(self, held: Held) -> None:
        """On any thread."""
        self._answers.append(held)
        self._tell()

    def interested(self, end: socket.socket, events: int) -> None:
        self._poll.modify(end, events)

    def forget(self, end: socket.socket) -> None:
        descriptor = end.fileno()
        if self._visitors.pop(descriptor, None) is None:
            return
        with suppress(OSError):
            self._poll.unregister(end)
