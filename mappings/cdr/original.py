"""The octets in which an event came, as they are kept: for dead letters, and in the journal in place of the event itself.

0       1 where they are little-endian
1       where, behind the first eight, the event begins: alignment counts from there on, and a sequence puts events anywhere
2 … 7   zero
8 …     zeros up to the event, and the event
"""

from __future__ import annotations

from typing import Final

from mappings.cdr.errors import malformed
from mappings.cdr.events import event_reader
from mappings.model import StructuredEvent

_HEADS: Final = {
    (little, begin): bytes((little, begin, *bytes(6 + begin))) for little in (False, True) for begin in range(8)
}
_HEAD: Final = 8


class OriginalEvent(bytes):
    """Of one StructuredEvent, which can be read from them alone."""

    __slots__ = ()


def original_event(body: bytes, begin: int, end: int, *, little: bool) -> OriginalEvent:
    """Of an event that was read from the body of a call, from `begin` to `end`."""
    return OriginalEvent(original_octets(body[:end], begin, little=little))


def original_octets(body: bytes, begin: int, *, little: bool) -> bytes:
    """Likewise of what is no event, or more than one: all from `begin` on."""
    return _HEADS[little, begin % 8] + body[begin:]


def read_original(original: bytes) -> StructuredEvent:
    """The event. Raises MappingError."""
    if len(original) < _HEAD or original[0] > 1:
        raise malformed("MAP-CDR-ORDER", "the octets of an event begin with their byte order, 0 or 1", 0)
    event, end = event_reader(original[0] == 1).event(original, _HEAD + original[1])
    if end != len(original):
        raise malformed("MAP-CDR-REST", f"{len(original) - end} octets are left over", end)
    return event
