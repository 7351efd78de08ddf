"""StructuredEvents and anys from the arguments of a GIOP 1.2 call, past every ORB library.

Octets count from the start of the arguments, which a GIOP 1.2 message puts where 8 divides the offset; char data is UTF-8, wide
data UTF-16. Whatever the octets are, reading raises MappingError (MAP-CDR-…, MAP-DEPTH) and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

from mappings.cdr import encode_bare
from mappings.cdr.errors import malformed
from mappings.cdr.event_decoder import SMALLEST_EVENT, EventDecoder
from mappings.cdr.input import Input
from mappings.cdr.moving import is_movable_event
from mappings.errors import MappingError
from mappings.event_forms import structured_value
from mappings.known_types import STRUCTURED_EVENT
from mappings.model import Any_, StructuredEvent

T = TypeVar("T")


class Walked(NamedTuple):
    """Where an event ends, and what can be said of it without making it."""

    domain_name: str
    type_name: str
    plain_header: bool  # its variable_header is empty
    end: int
    movable: bool  # its octets, pads before them not counted, say the same at every offset that 4 divides


class EventReader:
    """Reads octets of one byte order. Any number of threads may share it."""

    def __init__(self, *, little: bool) -> None:
        self._little = little
        self._decoder = EventDecoder(little=little)

    def event(self, body: bytes, pos: int = 0) -> tuple[StructuredEvent, int]:
        """A CosNotification::StructuredEvent at a position, and where it ends."""
        source = self._input(body, pos)
        return _placed(source, self._decoder.event), source.pos

    def events(self, body: bytes) -> list[StructuredEvent]:
        """A sequence<StructuredEvent>; nothing may stand behind it.

        An event in a sequence may name a value of one before it again: such events can be read together only.
        """
        return self._sequence(body, self._decoder.event)

    def any(self, body: bytes, pos: int = 0) -> tuple[Any_, int]:
        """An any at a position, and where it ends."""
        source = self._input(body, pos)
        return _placed(source, self._decoder.any), source.pos

    def walk(self, body: bytes, pos: int = 0) -> Walked:
        """Judges what `event` would make, and makes nothing."""
        return _placed(self._input(body, pos), self._walk)

    def walk_all(self, body: bytes) -> list[Walked]:
        """Judges what `events` would make."""
        return self._sequence(body, self._walk)

    def _walk(self, source: Input) -> Walked:
        event = self._decoder.event(source)
        plain_header, movable = not event.variable_header, is_movable_event(event)
        return Walked(event.domain_name, event.type_name, plain_header, source.pos, movable)

    def _sequence(self, body: bytes, read: Callable[[Input], T]) -> list[T]:
        def read_all(source: Input) -> list[T]:
            count = source.ulong()
            source.check_room(count, SMALLEST_EVENT)
            return [read(source) for _ in range(count)]

        source = self._input(body, 0)
        results = _placed(source, read_all)
        if source.pos != len(body):
            raise malformed("MAP-CDR-REST", f"{len(body) - source.pos} octets are left over", source.pos)
        return results

    def _input(self, body: bytes, pos: int) -> Input:
        return Input(body, pos, little=self._little)


def _placed(source: Input, read: Callable[[Input], T]) -> T:
    """Names the octet in errors that do not name a place."""
    try:
        return read(source)
    except MappingError as error:
        error.path = error.path or f"octet {source.pos}"
        raise


_READERS: Final = {little: EventReader(little=little) for little in (True, False)}


def event_reader(little: bool) -> EventReader:
    """The reader of a byte order: one for everybody, so that what it learns serves everybody."""
    return _READERS[little]


def event_octets(event: StructuredEvent, little: bool) -> bytes:
    """The reverse of `event`. Raises MappingError where a value does not fit its type or CDR cannot carry it."""
    return encode_bare(STRUCTURED_EVENT, structured_value(event), little=little)
