"""From the ORB's event to what travels to the gateway: what the consumers of all kinds share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adapters.base import DeadLetterError, ReconnectError
from adapters.cosnotification.codec import untyped_from_orb
from adapters.cosnotification.reliability import is_persistent
from adapters.cosnotification.stubs import CORBA, CosNotification, omniORB
from adapters.cosnotification.worker.packing import Packer
from adapters.cosnotification.worker.parcels import TypeNumbers
from adapters.cosnotification.worker.told import told
from mappings.event_forms import to_structured
from mappings.model import Event, UntypedEvent

Content = tuple[bool, Any, Any, bytes | None]
"""persistent, parcel, error (told), original: parcel or error."""


class Intake:
    """`take` gets what the peer gave in one call, in order; a peer that pushes waits until it returns."""

    def __init__(
        self, types: TypeNumbers, take: Callable[[list[Content]], None], fail: Callable[[ReconnectError], None]
    ) -> None:
        self._types = types
        self._pack = Packer(types).pack
        self._take = take
        self._fail = fail

    def structured(self, *events: Any) -> None:
        if events:
            self._take([self._structured(event) for event in events])

    def _structured(self, event: Any) -> Content:
        try:
            parcel = self._pack(event)
        except DeadLetterError as error:
            return (True, None, told(error), _octets(CosNotification._tc_StructuredEvent, event))
        return (is_persistent(parcel[3]) if parcel[3] else False, parcel, None, None)

    def untyped(self, any_: Any) -> None:
        try:
            event = UntypedEvent(untyped_from_orb(any_))
        except DeadLetterError as error:
            self.unreadable(error, _octets(CORBA.TC_any, any_))
        else:
            self.headless(event)

    def headless(self, event: Event) -> None:
        """An event of another form: it has no header that would make it persistent (RULES.md section 2)."""
        self._take([(False, self._types.parcel(to_structured(event)), None, None)])

    def unreadable(self, error: DeadLetterError, original: bytes | None) -> None:
        self._take([(True, None, told(error), original)])

    def disconnected(self) -> None:
        self._fail(ReconnectError("COR-DISCONNECTED", "the peer has disconnected us"))


def _octets(type_code: Any, value: Any) -> bytes | None:
    """The event as CDR, for a dead letter; None where the ORB cannot write it either."""
    try:
        return bytes(omniORB.cdrMarshal(type_code, value))
    except CORBA.Exception:
        return None
