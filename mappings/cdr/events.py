"""StructuredEvents and anys from the arguments of a GIOP 1.2 call, past every ORB library.

Octets count from the start of the arguments, which a GIOP 1.2 message puts where 8 divides the offset; char data is UTF-8, wide
data UTF-16. Whatever the octets are, reading raises MappingError (MAP-CDR-…, MAP-DEPTH) and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from struct import Struct as Packing
from typing import Any, Final, TypeVar

from mappings.cdr import encode_bare
from mappings.cdr.errors import malformed
from mappings.cdr.event_decoder import SMALLEST_EVENT, EventDecoder
from mappings.cdr.event_plans import PLAN_ERRORS, any_plan, event_plan, walk_plan
from mappings.cdr.event_shape import Shape, TypeOctets, shape_at, type_at
from mappings.cdr.input import Input
from mappings.cdr.learnt_plans import LearntPlans
from mappings.cdr.moving import is_movable_event
from mappings.cdr.walked import Walked
from mappings.errors import MappingError
from mappings.event_forms import structured_value
from mappings.idl_types import Basic
from mappings.known_types import STRUCTURED_EVENT
from mappings.model import Any_, StructuredEvent

__all__ = ["EventReader", "Walked", "event_octets", "event_reader"]

T = TypeVar("T")

MAX_FIELDS: Final = 200
"""Shapes of more are not learnt."""


class EventReader:
    """Reads octets of one byte order. Any number of threads may share it."""

    def __init__(self, *, little: bool) -> None:
        self._little = little
        self._decoder = EventDecoder(little=little)
        self._unpack = Packing("<L" if little else ">L").unpack_from
        self._unpack_two = Packing("<LL" if little else ">LL").unpack_from
        self._events = LearntPlans[Shape](lambda shape: event_plan(shape, little))
        self._walks = LearntPlans[Shape](lambda shape: walk_plan(shape, little))
        self._anys = LearntPlans[TypeOctets](lambda type_: any_plan(type_, little))

    def event(self, body: bytes, pos: int = 0) -> tuple[StructuredEvent, int]:
        """A CosNotification::StructuredEvent at a position, and where it ends."""
        planned: tuple[StructuredEvent, int] | None = self._planned(self._events, body, pos)
        if planned is not None:
            return planned
        source = Input(body, pos, little=self._little)
        return self._read(source), source.pos

    def events(self, body: bytes) -> list[StructuredEvent]:
        """A sequence<StructuredEvent>; nothing may stand behind it.

        An event in a sequence may name a value of one before it again: such events can be read together only.
        """
        source, count = self._start(body)
        events = []
        for _ in range(count):
            planned = self._planned(self._events, body, source.pos)
            if planned is None:
                events.append(self._read(source))
            else:
                event, source.pos = planned
                events.append(event)
        return _ended(source, events)

    def any(self, body: bytes, pos: int = 0) -> tuple[Any_, int]:
        """An any at a position, and where it ends."""
        key, at = None, (pos + 3) & -4
        with suppress(*PLAN_ERRORS):
            key = self._unpack_two(body, at)
            for plan in self._anys.get(key, ()):
                made: tuple[Any_, int] | None = plan(body, at)
                if made is not None:
                    return made
        source = Input(body, pos, little=self._little)
        any_ = _placed(source, self._decoder.any)
        if not isinstance(any_.type, Basic) and self._anys.is_worth_learning((key, id(any_.type))):
            self._anys.learn(key, type_at(body, at, self._little))
        return any_, source.pos

    def walk(self, body: bytes, pos: int = 0) -> Walked:
        """Judges what `event` would make, and makes nothing."""
        planned: Walked | None = self._planned(self._walks, body, pos)
        return self._walk(Input(body, pos, little=self._little)) if planned is None else planned

    def walk_all(self, body: bytes) -> list[Walked]:
        """Judges what `events` would make."""
        source, count = self._start(body)
        ways = []
        for _ in range(count):
            way: Walked | None = self._planned(self._walks, body, source.pos)
            if way is None:
                way = self._walk(source)
            else:
                source.pos = way.end
            ways.append(way)
        return _ended(source, ways)

    def _start(self, body: bytes) -> tuple[Input, int]:
        """One input for all events, for those that are read thoroughly may name each other's values."""
        source = Input(body, 0, little=self._little)
        count = source.ulong()
        source.check_room(count, SMALLEST_EVENT)
        return source, count

    # Thoroughly, and learning from it -----------------------------------------------------------------------------------------

    def _read(self, source: Input) -> StructuredEvent:
        return self._thorough(self._events, source)

    def _walk(self, source: Input) -> Walked:
        event = self._thorough(self._walks, source)
        plain_header, movable = not event.variable_header, is_movable_event(event)
        return Walked(event.domain_name, event.type_name, plain_header, source.pos, movable)

    def _thorough(self, plans: LearntPlans[Shape], source: Input) -> StructuredEvent:
        pos = source.pos
        event = _placed(source, self._decoder.event)
        key, at = self._key(source.data, pos)
        fields: list[object] = [key, id(event.remainder_of_body.type)]
        for name, type_, _value in event.variable_header:
            fields += name, id(type_)
        for name, type_, _value in event.filterable_data:
            fields += name, id(type_)
        if len(fields) <= 2 * MAX_FIELDS and plans.is_worth_learning(tuple(fields)):
            with suppress(MappingError):  # it names a value of an event before it: nothing to learn from
                plans.learn(key, shape_at(source.data, at, self._little))
        return event

    def _key(self, body: bytes, pos: int) -> tuple[Hashable, int]:
        """What plans are found by, and where they begin; of an event that has been read."""
        unpack = self._unpack
        at = (pos + 3) & ~3
        (domain_length,) = unpack(body, at)
        at = (at + 7 + domain_length) & ~3
        (type_length,) = unpack(body, at)
        at = (at + 7 + type_length) & ~3
        at = (at + 7 + unpack(body, at)[0]) & ~3
        return (domain_length, type_length, self._unpack_two(body, at)), at

    # By a plan ------------------------------------------------------------------------------------------------------------

    def _planned(self, plans: LearntPlans[Shape], body: bytes, pos: int) -> Any:
        """What a plan made; None where it takes the thorough way."""
        unpack = self._unpack
        try:
            at = (pos + 3) & -4
            (domain_length,) = unpack(body, at)
            domain_end = at + 3 + domain_length
            domain_name = body[at + 4 : domain_end].decode()
            at = (domain_end + 4) & -4
            (type_length,) = unpack(body, at)
            type_end = at + 3 + type_length
            type_name = body[at + 4 : type_end].decode()
            at = (type_end + 4) & -4
            (length,) = unpack(body, at)
            end = at + 3 + length
            event_name = body[at + 4 : end].decode()
            if body[domain_end] or body[type_end] or body[end]:
                return None
            if "\0" in domain_name or "\0" in type_name or "\0" in event_name:
                return None
            at = (end + 4) & -4
            key = domain_length, type_length, self._unpack_two(body, at)
            found = plans.get(key, ())
        except PLAN_ERRORS:
            return None
        for plan in found:
            try:
                result = plan(body, at, domain_name, type_name, event_name)
            except PLAN_ERRORS:
                continue
            if result is not None:
                if plan is not found[0]:
                    plans.served(key, plan)
                return result
        return None


def _ended(source: Input, results: list[T]) -> list[T]:
    if source.pos != len(source.data):
        raise malformed("MAP-CDR-REST", f"{len(source.data) - source.pos} octets are left over", source.pos)
    return results


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
