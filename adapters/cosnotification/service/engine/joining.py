"""Arguments of pushes, made of the octets in which events came: no event is read for it."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from adapters.cosnotification.service.engine.carried_octets import SEQUENCE_HEAD, CarriedOctets

_COUNT: Final = {True: struct.Struct("<L"), False: struct.Struct(">L")}
_PADS: Final = (b"", b"\0\0\0", b"\0\0", b"\0")


def of_one(event: CarriedOctets) -> bytes | None:
    """For push_structured_event; None where its octets would not say the same there."""
    body, begin, end = event.octets
    if not begin and end == len(body):
        return body
    return body[begin:end] if _fits(event, begin) else None


def of_many(events: Sequence[CarriedOctets]) -> bytes | None:
    """For push_structured_events; None where the octets of one would not say the same there, or their byte orders differ."""
    whole = _whole(events)
    if whole is not None:
        return whole
    little = events[0].little
    parts = [_COUNT[little].pack(len(events))]
    position = SEQUENCE_HEAD
    for event in events:
        body, begin, end = event.octets
        pad = _PADS[position & 3]
        position += len(pad)
        if event.little != little or not _fits(event, begin - position):
            return None
        parts += (pad, body[begin:end])
        position += end - begin
    return b"".join(parts)


def _fits(event: CarriedOctets, shift: int) -> bool:
    return event.movable or (shift % 8 == 0 and event.stands_alone)


def _whole(events: Sequence[CarriedOctets]) -> bytes | None:
    """The body in which just these events came, in this order."""
    body, begin, _ = events[0].octets
    if begin != SEQUENCE_HEAD or events[-1].octets[2] != len(body):
        return None
    if _COUNT[events[0].little].unpack_from(body)[0] != len(events):
        return None
    before = 0
    for event in events:
        its_body, begin, _ = event.octets
        if its_body is not body or begin <= before:
            return None
        before = begin
    return body
