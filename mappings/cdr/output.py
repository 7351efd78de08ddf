"""The octets of an encapsulation in the making, and the chunks of the valuetypes in it.

The body of a chunked value is cut into chunks, each behind its length; a nested value stands between chunks, behind its own
header. A chunk is opened before anybody knows whether there is something to put into it, and taken back if there is not:
so the encoders of everything else need to know nothing of chunks.
"""

from __future__ import annotations

from struct import pack
from typing import Final

CHUNKED: Final = 0x08
SINGLE_ID: Final = 0x02
VALUE_TAG: Final = 0x7FFFFF00
INDIRECTION: Final = 0xFFFFFFFF

PADS: tuple[bytes, ...] = tuple(bytes(size) for size in range(8))
"""What stands before something aligned."""


class Output(bytearray):
    __slots__ = ("_chunk_at", "_ids", "_level", "_value_ended")

    def __init__(self, start: bytes) -> None:
        super().__init__(start)
        self._level = 0  # of chunked values inside one another
        self._chunk_at = 0  # position of the open chunk's length
        self._value_ended = False  # a nested value's end tag is the last thing written
        self._ids: dict[str, int] = {}

    def ulong(self, order: str, number: int) -> None:
        self.extend(PADS[-len(self) & 3])
        self.extend(pack(f"{order}L", number & 0xFFFFFFFF))

    def begin_value(self, order: str, id_: str, *, chunked: bool) -> None:
        """The header of a value that is not nil. RMI repository ids are always sent, others are never needed."""
        chunked = chunked or self._level > 0
        if self._level:
            self._close_chunk(order, aligned=True)
        with_id = id_.startswith("RMI:")
        self.ulong(order, VALUE_TAG | (CHUNKED if chunked else 0) | (SINGLE_ID if with_id else 0))
        if with_id:
            self._repository_id(order, id_)
        if chunked:
            self._level += 1
            self._value_ended = False
            self._open_chunk()

    def end_value(self, order: str) -> None:
        if not self._level:
            return
        self._close_chunk(order, aligned=False)
        if self._value_ended:  # one end tag for this value and the last one inside it
            del self[-4:]
        self.ulong(order, -self._level)
        self._level -= 1
        self._value_ended = True
        if self._level:
            self._open_chunk()

    def _open_chunk(self) -> None:
        self.extend(PADS[-len(self) & 3])
        self._chunk_at = len(self)
        self.extend(b"\0\0\0\0")

    def _close_chunk(self, order: str, *, aligned: bool) -> None:
        length = len(self) - self._chunk_at - 4
        if not length:
            del self[-4:]
            return
        self._value_ended = False
        if aligned:  # omniORB counts the pad before a nested value as part of the chunk
            self.extend(PADS[-len(self) & 3])
            length = len(self) - self._chunk_at - 4
        self[self._chunk_at : self._chunk_at + 4] = pack(f"{order}L", length)

    def _repository_id(self, order: str, id_: str) -> None:
        known = self._ids.get(id_)
        if known is not None:
            self.ulong(order, INDIRECTION)
            self.ulong(order, known - len(self))
            return
        self._ids[id_] = len(self)
        text = id_.encode()
        self.ulong(order, len(text) + 1)
        self.extend(text + b"\0")
