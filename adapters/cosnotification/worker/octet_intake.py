"""From the octets of a push to the gateway, which reads them: what the consumers of all kinds share (see `giop/visitor.py`).

What cannot be taken at once goes the long way, through the ORB library: persistent events, whose push waits until they are safe,
and all events while there is no room.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

from adapters.cosnotification.received_octets import Form
from adapters.cosnotification.worker.gate import Gate
from mappings.cdr.event_decoder import SMALLEST_EVENT

PassOn = Callable[[int, int, Form, bool, bytes], None]
"""Number of the first event, how many there are, what they are, whether they are little-endian, octets."""

_RELIABILITY: Final = b"EventReliability"
_LENGTH: Final = {True: struct.Struct("<L"), False: struct.Struct(">L")}


class OctetIntake:
    """Its functions are handlers of the doorway."""

    def __init__(self, gate: Gate, pass_on: PassOn, noticed: Callable[[], None]) -> None:
        """`noticed` hears that the peer has pushed."""
        self._gate = gate
        self._pass_on = pass_on
        self._noticed = noticed

    def take(self, form: Form, octets: bytes, little: bool) -> bool:
        if _RELIABILITY in octets:  # some of it may be persistent
            return False
        count = 1
        if form == "events":
            (count,) = _LENGTH[little].unpack_from(octets)
            if not 0 < count <= len(octets) // SMALLEST_EVENT:
                return False
        self._noticed()
        return self._gate.take_at_once(count, lambda first: self._pass_on(first, count, form, little, octets))
