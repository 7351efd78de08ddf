"""STOMP 1.2 frames as bytes: one encoder and one incremental parser, for the client and for the embedded broker.

stomp.py's own framing is not used: it does not escape header names (a `:` or a line end in a name injects headers), it calls an
undefined escape sequence fine, joins its receive buffer anew for every frame, and costs five to seven times the CPU.

A parser yields frames whose heads are still bytes. The headers are read when somebody asks, so a broker that only passes
a frame on never pays for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

MAX_HEAD_BYTES: Final = 16 * 1024 * 1024  # of command and headers together: as many properties as a rule may make
MAX_BODY_BYTES: Final = 128 * 1024 * 1024

_ESCAPES: Final = {"\\": "\\\\", ":": "\\c", "\n": "\\n", "\r": "\\r"}
_UNESCAPES: Final = {text: character for character, text in _ESCAPES.items()}
_TO_ESCAPE: Final = re.compile(r"[\\:\n\r]")
_ESCAPED: Final = re.compile(r"\\.?", re.DOTALL)
_NOT_ESCAPED: Final = (
    b"CONNECT",
    b"STOMP",
    b"CONNECTED",
)  # STOMP 1.2: for the sake of 1.0 peers these frames know no escapes

_CONTENT_LENGTH: Final = b"\ncontent-length:"


class FrameError(ValueError):
    """The bytes are no STOMP 1.2 frame; whoever sent them cannot be understood from here on."""


def escape(text: str) -> str:
    """OC-NAME-8: names and values alike."""
    return _TO_ESCAPE.sub(_escape_one, text) if _TO_ESCAPE.search(text) else text


def _escape_one(match: re.Match[str]) -> str:
    return _ESCAPES[match[0]]


def unescape(text: str) -> str:
    """Undo `escape`. Raises FrameError on a sequence that STOMP 1.2 does not define."""
    if "\\" not in text:
        return text
    if "\\\\" not in text:  # ids of ActiveMQ are full of \\c: this takes a tenth of the time
        plain = text.replace("\\c", ":").replace("\\n", "\n").replace("\\r", "\r")
        if "\\" not in plain:
            return plain
    return _ESCAPED.sub(_unescape_one, text)


def _unescape_one(match: re.Match[str]) -> str:
    try:
        return _UNESCAPES[match[0]]
    except KeyError:
        raise FrameError(f"undefined escape sequence {match[0]!r} in a header") from None


def encode(command: str, headers: Iterable[tuple[str, str]], body: bytes = b"") -> bytes:
    """One frame. No content-length is added: on many brokers it decides the message's class, so it is the caller's to give."""
    if command in ("CONNECT", "STOMP", "CONNECTED"):
        lines = [f"{name}:{value}" for name, value in headers]
        if any(_breaks_line(line) for line in lines):
            raise FrameError("a header of the connect frame contains a line end or NUL, which STOMP cannot carry there")
    else:
        lines = [f"{escape(name)}:{escape(value)}" for name, value in headers]
    head = "\n".join([command, *lines, "", ""])
    if "\0" in head:
        raise FrameError("a header contains NUL, which STOMP cannot carry")
    return b"".join((head.encode(), body, b"\0"))


def _breaks_line(line: str) -> bool:
    return "\n" in line or "\r" in line or "\0" in line


class Frame:
    """A frame as it came: `head` is command and header lines (line ends are \\n, none at the end), `body` the body."""

    __slots__ = ("_headers", "body", "head")

    def __init__(self, head: bytes, body: bytes) -> None:
        self.head = head
        self.body = body
        self._headers: dict[str, str] | None = None

    @property
    def command(self) -> bytes:
        end = self.head.find(b"\n")
        return self.head if end < 0 else self.head[:end]

    @property
    def content_length_at(self) -> int:
        """Where in the head it stands; -1 where it does not."""
        return self.head.find(_CONTENT_LENGTH)

    @property
    def headers(self) -> dict[str, str]:
        """Unescaped, in order; of a header that comes twice the first counts. Raises FrameError."""
        if self._headers is None:
            self._headers = parse_headers(self.head)
        return self._headers

    @property
    def original(self) -> bytes:
        """The frame in bytes again, to be kept with a dead letter."""
        return b"".join((self.head, b"\n\n", self.body, b"\0"))


def parse_headers(head: bytes) -> dict[str, str]:
    try:
        lines = head.decode().split("\n")
    except UnicodeDecodeError as error:
        raise FrameError(f"headers are not UTF-8: {error}") from None
    del lines[0]
    try:
        headers = dict([line.split(":", 1) for line in lines])
    except ValueError:
        raise FrameError("a header line without ':'") from None
    if len(headers) != len(lines):  # the first one counts
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers.setdefault(name, value)
    if b"\\" in head and not head.startswith(_NOT_ESCAPED):
        return {
            unescape(name) if "\\" in name else name: unescape(value) if "\\" in value else value
            for name, value in headers.items()
        }
    return headers


def raw_header(head: bytes, name: bytes) -> str | None:
    """The first header of that name, escaped as it stands; None where there is none. Reads nothing else of the head."""
    start = head.find(b"\n" + name + b":")
    if start < 0:
        return None
    start += len(name) + 2
    end = head.find(b"\n", start)
    return (head[start:] if end < 0 else head[start:end]).decode("utf-8", "replace")


class FrameParser:
    """Cuts a stream of bytes into frames. Heart-beats (line ends between frames) vanish."""

    def __init__(self, max_head_bytes: int = MAX_HEAD_BYTES, max_body_bytes: int = MAX_BODY_BYTES) -> None:
        self._max_head_bytes = max_head_bytes
        self._max_body_bytes = max_body_bytes
        self._pieces: list[bytes] = []  # of a frame that is not complete: joined once, not at every arrival
        self._held = 0  # bytes in `_pieces`
        self._wanted = 0  # no frame is complete before so many bytes are there
        self._nothing_without = b""  # no frame is complete, nor wrong, before one of these bytes comes
        self._at_most = 0  # bytes held, without one of these

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that are complete now. Raises FrameError when the stream makes no sense; it never will again."""
        self._pieces.append(data)
        self._held += len(data)
        if self._held < self._wanted:
            return []
        if self._held <= self._at_most and not any(byte in data for byte in self._nothing_without):
            return []
        buffer = data if len(self._pieces) == 1 else b"".join(self._pieces)
        frames: list[Frame] = []
        start = self._take(buffer, frames)
        rest = buffer[start:] if start else buffer
        self._pieces = [rest] if rest else []
        self._held = len(rest)
        return frames

    def _take(self, buffer: bytes, frames: list[Frame]) -> int:
        """Append every complete frame; returns where the first incomplete one starts."""
        position = 0
        size = len(buffer)
        returns = b"\r" in buffer
        self._wanted = 0
        self._at_most = 0
        while True:
            while position < size and buffer[position] in b"\r\n":
                position += 1
            if position == size:
                return position
            head_end, body_start = self._head(buffer, position, returns=returns)
            if head_end < 0:
                self._nothing_without, self._at_most = b"\n\0", self._max_head_bytes
                return position
            head = buffer[position:head_end]
            if returns and b"\r" in head:
                head = head.replace(b"\r\n", b"\n").removesuffix(b"\r")
            length = self._content_length(head)
            if length is None:
                body_end = buffer.find(b"\0", body_start)
                if (body_end if body_end >= 0 else size) - body_start > self._max_body_bytes:
                    raise FrameError(f"a body is longer than {self._max_body_bytes} bytes")
                if body_end < 0:
                    self._nothing_without, self._at_most = b"\0", self._max_body_bytes
                    return position
            else:
                body_end = body_start + length
                if body_end >= size:
                    self._wanted = body_end + 1 - position
                    return position
                if buffer[body_end]:
                    raise FrameError("no NUL after a body of the announced content-length")
            frames.append(Frame(head, buffer[body_start:body_end]))
            position = body_end + 1

    def _head(self, buffer: bytes, position: int, *, returns: bool) -> tuple[int, int]:
        """Where the head ends and the body starts; (-1, -1) when it is not complete. `returns`: the buffer has \\r in it."""
        limit = position + self._max_head_bytes
        end = buffer.find(b"\n\n", position, limit)
        body_start = end + 2
        if returns:
            mixed = buffer.find(b"\n\r\n", position, end if end >= 0 else limit)
            if mixed >= 0:
                end, body_start = mixed, mixed + 3
        if buffer.find(b"\0", position, end if end >= 0 else limit) >= 0:
            raise FrameError("NUL before the end of the headers")
        if end >= 0:
            return end, body_start
        if len(buffer) > limit:
            raise FrameError(f"the head of a frame is longer than {self._max_head_bytes} bytes")
        return -1, -1

    def _content_length(self, head: bytes) -> int | None:
        at = head.find(_CONTENT_LENGTH)
        if at < 0:
            return None
        start = at + len(_CONTENT_LENGTH)
        end = head.find(b"\n", start)
        text = (head[start:] if end < 0 else head[start:end]).strip(b" ")
        if not text.isdigit() or len(text) > 12:
            raise FrameError("content-length is not a number")
        length = int(text)
        if length > self._max_body_bytes:
            raise FrameError(f"a body is longer than {self._max_body_bytes} bytes")
        return length
