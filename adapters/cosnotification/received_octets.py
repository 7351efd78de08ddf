"""Events that came as octets (`worker/octet_intake.py`), read when the link takes the first of them. Imports no ORB."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final, Literal, NamedTuple

from adapters.base import DeadLetterError
from adapters.cosnotification.reliability import is_persistent
from mappings.cdr.events import EventReader, event_reader
from mappings.cdr.original import original_event, original_octets
from mappings.errors import MappingError
from mappings.event_forms import to_structured
from mappings.model import StructuredEvent, UntypedEvent

_SEQUENCE_HEAD: Final = 4
_LENGTH: Final = {True: struct.Struct("<L"), False: struct.Struct(">L")}

Form = Literal["event", "events", "any"]
"""What the octets of a push are."""


class Content(NamedTuple):
    """What a delivery says of one event."""

    persistent: bool
    payload: StructuredEvent | None
    error: DeadLetterError | None
    original: bytes | None  # its octets, where they can be told from others (`mappings/cdr/original.py`)


class ReceivedOctets:
    """Of one push. One thread reads.

    `held`: its peer waits until the persistent events in it are settled; how many these are, `unsettled`, is known when it is read.
    """

    __slots__ = ("_contents", "_form", "_little", "_octets", "count", "first", "held", "unsettled")

    def __init__(self, first: int, count: int, form: Form, little: bool, octets: bytes, held: bool = False) -> None:
        self._form: Form = form
        self.count = count
        self._little = little
        self._octets = octets
        self._contents: list[Content] | None = None
        self.first = first
        self.held = held
        self.unsettled = count

    def content(self, index: int) -> Content:
        contents = self._contents
        if contents is None:
            contents = self._contents = self._read()
            self.unsettled = sum(content.persistent for content in contents)
            self._octets = b""
        return contents[index]

    @property
    def is_read(self) -> bool:
        return self._contents is not None

    def settle_one(self) -> bool:
        """A persistent event is: whether it was the last of them."""
        self.unsettled -= 1
        return self.unsettled == 0

    def _read(self) -> list[Content]:
        try:
            return _READ[self._form](event_reader(self._little), self._octets, self._little)
        except MappingError as error:
            return self._read_what_can_be(error)

    def _read_what_can_be(self, error: MappingError) -> list[Content]:
        """What stands before the fault is read. Where the events behind it begin, nobody can say."""
        octets, little = self._octets, self._little
        if self._form != "events":
            return [Content(True, None, _told(error), original_octets(octets, 0, little=little))]
        reader = event_reader(little)
        with suppress(MappingError):  # one may name a value of an event before it: they can be read together only
            return [_content(event, None) for event in reader.events(octets)]
        contents: list[Content] = []
        at = _SEQUENCE_HEAD
        for number in range(1, self.count + 1):
            try:
                content, at = _one(reader, octets, at, little)
            except MappingError as fault:
                contents.append(Content(True, None, _told(fault), original_octets(octets, at, little=little)))
                behind = DeadLetterError(
                    "COR-SEQUENCE",
                    f"the event stands behind one that cannot be read, number {number} of its sequence",
                    hint="its octets are in the dead letter of that one",
                )
                contents += [Content(True, None, behind, None)] * (self.count - number)
                break
            contents.append(content)
        return contents


def _one(reader: EventReader, octets: bytes, at: int, little: bool) -> tuple[Content, int]:
    """The event that begins there, and where the next one may."""
    event, end = reader.event(octets, at)
    return _content(event, original_event(octets, at, end, little=little)), (end + 3) & -4


def _read_event(reader: EventReader, octets: bytes, little: bool) -> list[Content]:
    return [_one(reader, octets, 0, little)[0]]


def _read_events(reader: EventReader, octets: bytes, little: bool) -> list[Content]:
    (count,) = _LENGTH[little].unpack_from(octets)
    contents = []
    at = _SEQUENCE_HEAD
    for _ in range(count):
        content, at = _one(reader, octets, at, little)
        contents.append(content)
    return contents


def _read_any(reader: EventReader, octets: bytes, little: bool) -> list[Content]:
    event = to_structured(UntypedEvent(reader.any(octets)[0]))
    return [Content(False, event, None, original_octets(octets, 0, little=little))]


_READ: Final[Mapping[Form, Callable[[EventReader, bytes, bool], list[Content]]]] = {
    "event": _read_event,
    "events": _read_events,
    "any": _read_any,
}


def _content(event: StructuredEvent, original: bytes | None) -> Content:
    header = event.variable_header
    return Content(bool(header) and is_persistent(header), event, None, original)


def _told(error: MappingError) -> DeadLetterError:
    return DeadLetterError(error.code, error.message, path=error.path, hint=error.hint)
