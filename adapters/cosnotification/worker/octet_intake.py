"""From the octets of a push to the gateway, which reads them: what the consumers of all kinds share (see `giop/visitor.py`).

A push that may hold persistent events is answered when they are safe. While there is no room, all events go the long way, through
the ORB library, whose threads can wait.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

from adapters.cosnotification.giop.held import Held
from adapters.cosnotification.received_octets import Form
from adapters.cosnotification.worker.gate import Gate
from mappings.cdr.event_decoder import SMALLEST_EVENT
from mappings.cdr.events import event_reader
from mappings.errors import MappingError

PassOn = Callable[[int, int, Form, bool, bytes, bool], None]
"""Number of the first event, how many there are, what they are, whether they are little-endian, octets, and whether the push is
held until the gateway settles that number."""

_RELIABILITY: Final = b"EventReliability"
_LENGTH: Final = {True: struct.Struct("<L"), False: struct.Struct(">L")}


class OctetIntake:
    """Its functions are handlers of the doorway."""

    def __init__(self, gate: Gate, pass_on: PassOn, noticed: Callable[[], None]) -> None:
        """`noticed` hears that the peer has pushed."""
        self._gate = gate
        self._pass_on = pass_on
        self._noticed = noticed

    def take(self, form: Form, octets: bytes, little: bool) -> bool | Held:
        count = 1
        if form == "events":
            (count,) = _LENGTH[little].unpack_from(octets)
            if not 0 < count <= len(octets) // SMALLEST_EVENT:
                return False
        self._noticed()
        held = form != "any" and _RELIABILITY in octets  # an any has no header that would make it persistent

        def pass_on(first: int) -> None:
            self._pass_on(first, count, form, little, octets, held)

        if held:
            return self._gate.hold(count, _Contents(form, little, octets), pass_on)
        return self._gate.take_at_once(count, pass_on)


class _Contents:
    """Equal where the events are: the ORB library leaves anything in the pads between their parts."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, form: Form, little: bool, octets: bytes) -> None:
        self._form: Form = form
        self._little = little
        self._octets = octets

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Contents) or (self._form, self._little) != (other._form, other._little):
            return False
        return self._octets == other._octets or self._events() == other._events()

    def _events(self) -> object:
        reader = event_reader(self._little)
        try:
            return reader.events(self._octets) if self._form == "events" else reader.event(self._octets)
        except MappingError:
            return self._octets
