"""A message inside the broker: header lines and body as they came, so that passing it on costs next to nothing."""

from __future__ import annotations

import re
from typing import Final

from adapters.stomp.frames import Frame, FrameError, escape, raw_header, unescape

# What belongs to the frame that came, and what only a broker may say.
_NOT_PASSED_ON: Final = re.compile(
    rb"\n(?:receipt|transaction|subscription|message-id|ack|redelivered|JMSXDeliveryCount|destination-type):[^\n]*"
)
_WELL_FORMED: Final = re.compile(rb"[A-Z]+(?:\n[^\n:]+:[^\n]*)*")


class StoredMessage:
    """`lines` starts with a line end, and names destination and timestamp; `sequence` is its place among all messages."""

    __slots__ = ("body", "destination", "expires_ms", "id", "lines", "persistent", "returns", "sequence")

    def __init__(self, sequence: int, id_: bytes, destination: str, lines: bytes, body: bytes) -> None:
        self.sequence = sequence
        self.id = id_
        self.destination = destination
        self.lines = lines
        self.body = body
        expires = header(lines, b"expires")
        self.expires_ms = int(expires) if expires is not None and expires.isdigit() else 0
        self.persistent = b"\npersistent:true" in lines
        self.returns = 0  # how often it was handed out and not acknowledged

    def copy(self) -> StoredMessage:
        return StoredMessage(self.sequence, self.id, self.destination, self.lines, self.body)

    @property
    def size(self) -> int:
        return len(self.lines) + len(self.body) + 200  # and what Python itself takes, about

    def frame(self, subscription: bytes, ack: bytes) -> bytes:
        """As a MESSAGE; `ack` is a header line or empty."""
        return b"".join(
            (
                b"MESSAGE\nsubscription:",
                subscription,
                b"\nmessage-id:",
                self.id,
                ack,
                b"\nredelivered:true\nJMSXDeliveryCount:%d" % (self.returns + 1) if self.returns else b"",
                self.lines,
                b"\n\n",
                self.body,
                b"\0",
            )
        )


_REPLY_TO: Final = b"\nreply-to:"


def with_reply_to(frame: Frame, destination: str) -> Frame:
    """The same frame, whose answers go there."""
    head, _, rest = frame.head.partition(_REPLY_TO)
    _, end, behind = rest.partition(b"\n")
    return Frame(head + _REPLY_TO + escape(destination).encode() + end + behind, frame.body)


def header(head: bytes, name: bytes) -> str | None:
    """The first header of that name, unescaped. Raises FrameError."""
    text = raw_header(head, name)
    return None if text is None else unescape(text)


def check_head(frame: Frame) -> None:
    """Raises FrameError: whatever passes is safe to be passed on."""
    head = frame.head
    if not _WELL_FORMED.fullmatch(head):
        raise FrameError("a header line without a name or ':'")
    if b"\\" in head or not head.isascii():
        _ = frame.headers  # reads them all


def stored(frame: Frame, sequence: int, id_: bytes, destination: str, now_ms: int) -> StoredMessage:
    lines = _NOT_PASSED_ON.sub(b"", frame.head[4:])
    if b"\ntimestamp:" not in lines:
        lines += b"\ntimestamp:%d" % now_ms
    return StoredMessage(sequence, id_, destination, lines, frame.body)
