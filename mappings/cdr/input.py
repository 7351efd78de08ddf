"""The octets that are being read, and the chunks of the valuetypes in them. Alignment counts from the first octet.

Decoders look at `pos` and `limit` themselves and call `cross` only where the limit does not reach: at the end of a chunk the
limit moves on, at the end of everything there is nothing more.
"""

from __future__ import annotations

from struct import unpack_from
from typing import Any, Final

from mappings.cdr.errors import ends_early, malformed
from mappings.limits import MAX_EMPTY_ELEMENTS

VALUE_TAGS: Final = range(0x7FFFFF00, 0x80000000)
NIL: Final = 0
INDIRECTION: Final = -1

_EXPANSION: Final = 16
"""How many times its own size a value may grow by naming earlier values again."""


class Input:
    __slots__ = (
        "_costs", "_empty_left", "_extra", "_ids", "_order", "_values", "chunk_level", "data", "ended_to", "limit", "little",
        "pos",
    )  # fmt: skip

    def __init__(self, data: bytes, pos: int, *, little: bool) -> None:
        self.data = data
        self.pos = pos
        self.little = little
        self.limit = len(data)  # of the open chunk, or of everything
        self.chunk_level = 0  # of chunked values inside one another
        self.ended_to: int | None = None  # the lowest level that the last end tag ended
        self._order = "<" if little else ">"
        self._empty_left = MAX_EMPTY_ELEMENTS
        self._values: dict[int, Any] = {}
        self._costs: dict[int, int] = {}
        self._extra = 0
        self._ids: dict[int, list[str]] = {}

    def cross(self, mask: int, size: int) -> int:
        """The aligned position of the next `size` octets, which are not all in this chunk."""
        if not self.chunk_level:
            raise ends_early(self.pos)
        while True:
            length = self._peek(self.limit)
            if not 0 < length < VALUE_TAGS.start:
                raise malformed("MAP-CDR-CHUNK", "a value's chunks end in the middle of its members", self.limit)
            self._open_chunk(length)
            position = (self.pos + mask) & ~mask
            if position + size <= self.limit:
                return position
            if self.limit - self.pos > mask:
                raise malformed("MAP-CDR-CHUNK", "a chunk ends in the middle of a basic value", self.limit)

    def octets(self, size: int) -> bytes:
        """The next octets, gathered from as many chunks as they are in."""
        if size > len(self.data) - self.pos:
            raise ends_early(self.pos)
        end = self.pos + size
        if end <= self.limit:
            self.pos = end
            return self.data[end - size : end]
        parts = []
        while size:
            if self.pos == self.limit:
                self.pos = self.cross(0, 1)
            part = self.data[self.pos : min(self.limit, self.pos + size)]
            self.pos += len(part)
            size -= len(part)
            parts.append(part)
        return b"".join(parts)

    def long(self) -> int:
        position = (self.pos + 3) & ~3
        if position + 4 > self.limit:
            position = self.cross(3, 4)
        self.pos = position + 4
        number: int = unpack_from(f"{self._order}l", self.data, position)[0]
        return number

    def ulong(self) -> int:
        return self.long() & 0xFFFFFFFF

    def check_room(self, count: int, size: int) -> None:
        """Raises where so many elements of at least this size cannot be in what is left, before room is made for them."""
        if size:
            if count * size > len(self.data) - self.pos:
                raise ends_early(self.pos)
        else:
            self._empty_left -= count
            if self._empty_left < 0:
                raise malformed("MAP-CDR-SIZE", "too many elements that take no octets", self.pos)

    def has_traces(self) -> bool:
        """Whether what was read would count where more is read: elements that take no octets, values, repository ids."""
        return self._empty_left != MAX_EMPTY_ELEMENTS or bool(self._values) or bool(self._ids)

    # Values -------------------------------------------------------------------------------------------------------------

    def value_tag(self) -> int:
        """The tag before a valuetype or value box. Inside a chunked value it stands in a chunk or between two."""
        if self.chunk_level and (self.pos + 3) & ~3 >= self.limit:
            tag = self._peek(self.limit)
            if tag in VALUE_TAGS:
                self.pos = self.limit = ((self.limit + 3) & ~3) + 4
                return tag
        return self.long()

    def begin_chunked(self) -> None:
        """After the header of a chunked value: its body begins with a chunk, a nested value, or its end."""
        self.chunk_level += 1
        self.limit = self.pos

    def end_chunked(self) -> None:
        """After the last member: the rest of the chunk is padding, and an end tag follows, unless an inner one served both."""
        level = self.chunk_level
        if self.ended_to is None or self.ended_to > level:
            if self.limit - self.pos > 3:
                raise malformed("MAP-CDR-CHUNK", "a value has more octets than its members take", self.pos)
            tag = self._peek(self.limit)
            if not -level <= tag < 0:
                raise malformed("MAP-CDR-CHUNK", "a value's end tag is missing", self.limit)
            self.pos = ((self.limit + 3) & ~3) + 4
            self.ended_to = -tag
        if self.ended_to == level:
            self.ended_to = None
        self.chunk_level -= 1
        self.limit = self.pos if self.chunk_level else len(self.data)

    def remember(self, position: int, value: Any, began_at: int, extra: int) -> None:
        self._values[position] = value
        self._costs[position] = self.pos - began_at + self._extra - extra

    def extra(self) -> int:
        """How many octets have been named again so far."""
        return self._extra

    def again(self, offset_at: int, offset: int) -> Any:
        """The value that an indirection names."""
        position = offset_at + offset
        if position not in self._values:
            raise malformed(
                "MAP-CDR-INDIRECTION", "an indirection does not lead to a value that is complete", offset_at
            )
        self._extra += self._costs[position]
        if self._extra > _EXPANSION * len(self.data):
            raise malformed("MAP-CDR-SIZE", "values are named again too often", offset_at)
        return self._values[position]

    def remember_ids(self, position: int, ids: list[str]) -> None:
        self._ids[position] = ids

    def again_ids(self, offset: int) -> list[str]:
        """The repository id or list of them that an indirection names; it has just been read."""
        position = self.pos - 4 + offset
        if not self._ids.get(position):
            raise malformed("MAP-CDR-INDIRECTION", "an indirection leads to no repository id", self.pos - 4)
        return self._ids[position]

    def _open_chunk(self, length: int) -> None:
        start = ((self.limit + 3) & ~3) + 4
        if start + length > len(self.data):
            raise ends_early(start)
        self.pos, self.limit = start, start + length

    def _peek(self, position: int) -> int:
        position = (position + 3) & ~3
        if position + 4 > len(self.data):
            raise ends_early(position)
        number: int = unpack_from(f"{self._order}l", self.data, position)[0]
        return number
