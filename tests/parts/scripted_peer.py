"""A server of GIOP 1.2 that answers as it is told: what no ORB of ours would say, and when no ORB would say it."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, NamedTuple, Self

from adapters.cosnotification.giop import messages
from adapters.cosnotification.giop.messages import Splitter, read_request
from mappings.cdr.references import Profile, Reference, stringify

COMPLETED_YES, COMPLETED_NO, COMPLETED_MAYBE = 0, 1, 2
_LONGEST = 1 << 26


class Asked(NamedTuple):
    """A request, on which of the connections it came, and a way to answer it."""

    id: int
    operation: str
    arguments: bytes
    little: bool
    code_sets: tuple[int, int] | None
    connection: int
    line: socket.socket

    def reply(self, status: int = 0, body: bytes = b"", *, little: bool = True, contexts: bool = False) -> bytes:
        return reply(self.id, status, body, little=little, contexts=contexts)


Answer = Callable[[Asked], bytes | None]
"""The octets to send; None: nothing, and the connection stays."""


def reply(id_: int, status: int, body: bytes, *, little: bool = True, contexts: bool = False) -> bytes:
    order = "<" if little else ">"
    content = struct.pack(f"{order}LL", id_, status)
    content += struct.pack(f"{order}LLL5s", 1, 0x4A414301, 5, b"hello") if contexts else bytes(4)
    if body:
        content += bytes(-(12 + len(content)) % 8) + body
    return message(messages.REPLY, content, little=little)


def message(kind: int, content: bytes = b"", *, little: bool = True, more: bool = False) -> bytes:
    flags = little | more << 1
    return b"GIOP\1\2" + bytes((flags, kind)) + struct.pack("<L" if little else ">L", len(content)) + content


def in_fragments(whole: bytes, size: int) -> bytes:
    """A reply in pieces of so many octets, which 8 divides."""
    little = messages.is_little(whole)
    id_, content = whole[12:16], whole[12:]
    pieces = [content[at : at + size] for at in range(0, len(content), size)]
    last = len(pieces) - 1
    return b"".join(
        message(messages.FRAGMENT if n else messages.REPLY, (id_ if n else b"") + piece, little=little, more=n < last)
        for n, piece in enumerate(pieces)
    )


def exception(id_: str, *, little: bool = True) -> bytes:
    """The body of a user exception without members."""
    text = id_.encode() + b"\0"
    return struct.pack("<L" if little else ">L", len(text)) + text


def system_exception(name: str, minor: int, completed: int, *, little: bool = True) -> bytes:
    body = exception(f"IDL:omg.org/CORBA/{name}:1.0", little=little)
    return body + bytes(-len(body) % 4) + struct.pack("<LL" if little else ">LL", minor, completed)


class ScriptedPeer:
    """`answer` is asked for every request, on the connection's own thread."""

    def __init__(self, answer: Answer, *, host: str = "127.0.0.1") -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        self.connections = 0
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, 0), family=family)
        self.host: str = host
        self.port: int = self._listener.getsockname()[1]
        self._lines: list[socket.socket] = []
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def hang_up(self) -> None:
        """Whoever is connected is not any more."""
        for line in self._lines:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
            line.close()
        self._lines.clear()

    def say(self, octets: bytes) -> None:
        """To everybody who is connected."""
        for line in self._lines:
            line.sendall(octets)

    def ior(self, type_id: str = "", *, version: int = 2, components: Iterable[tuple[int, bytes]] | None = None) -> str:
        return ior(self.host, self.port, type_id, version=version, components=components)

    def _run(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._lines.append(line)
            threading.Thread(target=self._serve, args=(line, self.connections), daemon=True).start()

    def _serve(self, line: socket.socket, number: int) -> None:
        splitter = Splitter(_LONGEST)
        whole = b""
        with suppress(OSError):
            while data := line.recv(1 << 16):
                for each in splitter.feed(data):
                    whole += each[messages.FRAGMENT_HEAD :] if whole else each
                    if not messages.has_more(each):
                        self._take(whole, line, number)
                        whole = b""

    def _take(self, request: bytes, line: socket.socket, number: int) -> None:
        head = read_request(request)
        assert head is not None
        arguments, little = request[head.arguments_at :], messages.is_little(request)
        asked = Asked(head.id, head.operation.decode(), arguments, little, head.code_sets, number, line)
        self.asked.append(asked)
        answer = self.answer(asked)
        if answer is not None:
            line.sendall(answer)


CODE_SETS = struct.pack("<BxxxLLLLLL", 1, 0x05010001, 1, 0x00010001, 0x00010109, 1, 0x05010001)
"""The component: native UTF-8 and UTF-16, and other conversions."""


def ior(
    host: str,
    port: int,
    type_id: str = "",
    *,
    key: bytes = b"peer",
    version: int = 2,
    components: Iterable[tuple[int, bytes]] | None = None,
) -> str:
    """Of IIOP 1.`version`, with the component of code sets where no others are named."""
    out = bytearray((1, 1, version, 0))

    def octets(data: bytes) -> None:
        out.extend(bytes(-len(out) % 4) + struct.pack("<L", len(data)) + data)

    octets(host.encode() + b"\0")
    out.extend(bytes(-len(out) % 2) + struct.pack("<H", port))
    octets(key)
    found = [(1, CODE_SETS)] if components is None else list(components)
    out.extend(bytes(-len(out) % 4) + struct.pack("<L", len(found)))
    for tag, content in found:
        out.extend(bytes(-len(out) % 4) + struct.pack("<L", tag))
        octets(content)
    text: Any = stringify(Reference(type_id.encode(), (Profile(0, bytes(out)),)))
    return str(text)
