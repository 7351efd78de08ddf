"""Events that came as octets (`worker/octet_intake.py`), read when the link takes the first of them. Imports no ORB."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

from adapters.base import DeadLetterError
from adapters.cosnotification.reliability import is_persistent
from mappings.cdr.events import EventReader, event_reader
from mappings.errors import MappingError
from mappings.event_forms import to_structured
from mappings.model import StructuredEvent, UntypedEvent

Form = Literal["event", "events", "any"]
"""What the octets of a push are."""


class Content(NamedTuple):
    """What a delivery says of one event: an event or an error, and with an error the octets."""

    persistent: bool
    payload: StructuredEvent | None
    error: DeadLetterError | None
    original: bytes | None


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
        reader = event_reader(self._little)
        try:
            events = _READ[self._form](reader, self._octets)
        except MappingError as error:
            return self._read_one_by_one(reader, error)
        if len(events) != self.count:
            raise AssertionError("the doorway has counted otherwise")
        return [_content(event) for event in events]

    def _read_one_by_one(self, reader: EventReader, error: MappingError) -> list[Content]:
        """What stands before the fault is read. Where the events behind it begin, nobody can say."""
        contents: list[Content] = []
        at = 4
        while self._form == "events" and len(contents) < self.count:
            try:
                event, at = reader.event(self._octets, at)
            except MappingError as found:
                error = found
                break
            contents.append(_content(event))
        faulty = len(contents)
        if faulty == self.count:  # only behind the last of them something stands that is nothing
            return contents
        contents.append(Content(True, None, _told(error), self._original(at if self._form == "events" else 0)))
        behind = DeadLetterError(
            "COR-SEQUENCE",
            f"the event stands behind one that cannot be read, number {faulty + 1} of its sequence",
            hint="its octets are in the dead letter of that one",
        )
        contents += [Content(True, None, behind, None)] * (self.count - len(contents))
        return contents

    def _original(self, at: int) -> bytes:
        """Eight octets, the first of which says the byte order; then the rest, beginning where 8 divides the offset."""
        return bytes((self._little, 0, 0, 0, 0, 0, 0, 0)) + self._octets[at - at % 8 :]


def _content(event: StructuredEvent) -> Content:
    header = event.variable_header
    return Content(bool(header) and is_persistent(header), event, None, None)


def _told(error: MappingError) -> DeadLetterError:
    return DeadLetterError(error.code, error.message, path=error.path, hint=error.hint)


_READ: Final[Mapping[Form, Callable[[EventReader, bytes], list[StructuredEvent]]]] = {
    "event": lambda reader, octets: [reader.event(octets)[0]],
    "events": lambda reader, octets: reader.events(octets),
    "any": lambda reader, octets: [to_structured(UntypedEvent(reader.any(octets)[0]))],
}
