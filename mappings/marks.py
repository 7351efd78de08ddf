"""What gateways note on the events that they pass on: an id that stays, and the channels where it has been.

    event     variable_header   $MED.id     string
                                $MED.path   string: hops, oldest first, one space between
    message   property          $gid        String (OC-ID-1)
                                $hops       String; both spelt as the naming profile says

A hop is `gateway/channel`. Whoever takes an event from a channel adds it; an event that comes to a channel of its list is going
round. What peers write into these fields is not believed blindly: what is no text, or no id that we would make, is as if it were
not there.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from mappings.idl_types import STRING
from mappings.makers import maker
from mappings.model import Message, MessageProperty, Property, StructuredEvent
from mappings.translate import names

_make_message: Final = maker(Message)
_make_event: Final = maker(StructuredEvent)

EVENT_ID: Final = "$MED.id"
EVENT_PATH: Final = "$MED.path"
MOST_HOPS: Final = 64  # whoever has been in more channels is going round where nobody looks
LONGEST_ID: Final = 1024

_PREFIX: Final = "$MED."


class Marks(NamedTuple):
    id: str | None = None
    hops: tuple[str, ...] = ()


NO_MARKS: Final = Marks()


def take_from_event(event: StructuredEvent) -> tuple[StructuredEvent, Marks]:
    """The event without its marks, and these."""
    for field in event.variable_header:
        if field[0].startswith(_PREFIX):
            break
    else:
        return event, NO_MARKS
    found: dict[str, object] = {}
    others = []
    for field in event.variable_header:
        if field[0] in (EVENT_ID, EVENT_PATH):
            found.setdefault(field[0], field[2])
        else:
            others.append(field)
    return _with_header(event, tuple(others)), _marks(found.get(EVENT_ID), found.get(EVENT_PATH))


def put_on_event(event: StructuredEvent, marks: Marks) -> StructuredEvent:
    """On one that has none."""
    added = []
    if marks.id is not None:
        added.append(Property(EVENT_ID, STRING, marks.id))
    if marks.hops:
        added.append(Property(EVENT_PATH, STRING, " ".join(marks.hops)))
    return _with_header(event, (*event.variable_header, *added)) if added else event


class MessageMarks:
    """The marks of messages, by the names of one profile."""

    def __init__(self, profile: str) -> None:
        spelling = names.PROFILES[profile]
        self._id = spelling.root(names.GATEWAY_ID)
        self._hops = spelling.root(names.HOPS)
        self._latest: tuple[tuple[str, ...], tuple[MessageProperty, ...]] = ((), ())

    def take(self, message: Message) -> tuple[Message, Marks]:
        """The message without its marks, and these."""
        id_: object = None
        hops: object = None
        count = 0
        for name, _, value in message.properties:
            if name == self._id:
                id_, count = value, count + 1
            elif name == self._hops:
                hops, count = value, count + 1
        if not count:
            return message, NO_MARKS
        mine = (self._id, self._hops)
        others = tuple([property_ for property_ in message.properties if property_[0] not in mine])
        return Message(message.headers, others, message.body), _marks(id_, hops)

    def put(self, message: Message, marks: Marks) -> Message:
        """On one that has none."""
        added = []
        if marks.id is not None:
            added.append(MessageProperty(self._id, "String", marks.id))
        if marks.hops:
            added.append(MessageProperty(self._hops, "String", " ".join(marks.hops)))
        return _make_message(message.headers, (*message.properties, *added), message.body) if added else message

    def put_hops(self, message: Message, hops: tuple[str, ...]) -> Message:
        """On one that has none, and has its id. The hops of one event are nearly always those of the one before."""
        known, added = self._latest
        if hops is not known:
            added = (MessageProperty(self._hops, "String", " ".join(hops)),) if hops else ()
            self._latest = (hops, added)
        return _make_message(message.headers, message.properties + added, message.body) if added else message


def is_round_trip(marks: Marks, source: str, sink: str) -> bool:
    """Whether an event that was taken from one channel and is to go to another has been in either, as hops name them."""
    hops = marks.hops
    return bool(hops) and (source in hops or sink in hops or len(hops) > MOST_HOPS)


def _marks(id_: object, hops: object) -> Marks:
    return Marks(
        id_ if isinstance(id_, str) and 0 < len(id_) <= LONGEST_ID else None,
        tuple(hops.split()) if isinstance(hops, str) else (),
    )


def _with_header(event: StructuredEvent, header: tuple[Property, ...]) -> StructuredEvent:
    return _make_event(
        event.domain_name, event.type_name, event.event_name, header, event.filterable_data, event.remainder_of_body
    )
