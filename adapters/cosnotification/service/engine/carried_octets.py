"""A StructuredEvent that nobody has read: the octets in which it came, and what the channel must know of it.

They go on as they are to every consumer that can be given octets. What anybody else wants of the event is made from the model,
and not by the ORB library: there are octets that make it end the process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adapters.base import DeadLetterError
from adapters.cosnotification.codec import event_to_orb
from adapters.cosnotification.service.engine.carried_event import TOLD, CarriedEvent, CarriedStructured, carried, now
from mappings.cdr.events import Walked, event_reader
from mappings.errors import MappingError
from mappings.model import StructuredEvent

SEQUENCE_HEAD = 4
"""Octets before the first event of a sequence."""


class CarriedOctets(CarriedEvent):
    __slots__ = ("_structured", "domain_name", "little", "movable", "octets", "type_name")

    def __init__(self, body: bytes, begin: int, walked: Walked, arrived: int, little: bool) -> None:
        self.domain_name, self.type_name, _, end, self.movable = walked
        self.octets = body, begin, end  # alignment counts from octet 0 of the body; one tuple, for it may be replaced
        self.little = little
        self.arrived = arrived
        self._model = self._structured = self.debt = None
        self.priority = self.timeout = self.start = self.stop = self.persistent = None
        self.plain = True

    _structured: CarriedStructured | None

    @property
    def structured(self) -> CarriedStructured:
        """Raises DeadLetterError where the ORB library cannot carry what it holds."""
        structured = self._structured
        if structured is None:
            model = self._model
            if not isinstance(model, StructuredEvent):
                model = self._read_model()
            structured = self._structured = carried(event_to_orb(model))
        return structured

    @property
    def any(self) -> object:
        """Raises DeadLetterError likewise."""
        return self.structured.any

    @property
    def can_be_given(self) -> bool:
        try:
            return self.structured is not None
        except DeadLetterError:
            return False

    def packed(self) -> tuple[str, bytes]:
        return self.structured.packed()

    @property
    def stands_alone(self) -> bool:
        """Whether it says the same without what came before it."""
        body, begin, end = self.octets
        if self.movable or (begin <= SEQUENCE_HEAD and end == len(body)):
            return True
        try:
            return event_reader(self.little).walk(body, begin).end == end
        except MappingError:
            return False

    def parted(self) -> None:
        body, begin, end = self.octets
        if len(body) - (end - begin) > SEQUENCE_HEAD and self.stands_alone:
            before = begin % 8
            self.octets = bytes(before) + body[begin:end], before, before + end - begin

    def _read_model(self) -> StructuredEvent:
        body, begin, end = self.octets
        reader = event_reader(self.little)
        try:
            return reader.event(body, begin)[0]
        except MappingError:  # it names again what came in an event before it
            return next(
                event
                for event, walked in zip(reader.events(body), reader.walk_all(body), strict=True)
                if walked.end == end
            )


def one_event(body: bytes, little: bool) -> tuple[CarriedOctets] | None:
    """Of the arguments of push_structured_event. None: it is the library's to read. Raises MappingError."""
    walked = event_reader(little).walk(body)
    return (_carried(body, 0, walked, now(), little),) if walked.end == len(body) else None


def all_events(body: bytes, little: bool) -> Sequence[CarriedOctets]:
    """Of the arguments of push_structured_events; they share one time. Raises MappingError."""
    at = now()
    events = []
    begin = SEQUENCE_HEAD
    for walked in event_reader(little).walk_all(body):
        events.append(_carried(body, begin, walked, at, little))
        begin = (walked.end + 3) & ~3
    return events


def _carried(body: bytes, begin: int, walked: Walked, arrived: int, little: bool) -> CarriedOctets:
    event = CarriedOctets(body, begin, walked, arrived, little)
    if not walked.plain_header:
        header = event._read_model().variable_header
        event.read_header([(field.name, field.value) for field in header if field.name in TOLD], _instant)
    return event


def _instant(value: Any) -> Any:
    return value.get("time") if isinstance(value, dict) else None
