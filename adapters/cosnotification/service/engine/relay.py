"""The way of octets to one consumer. What does not go by it goes by the ORB library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from adapters.cosnotification.giop.caller import Caller, NotServed
from adapters.cosnotification.service.engine.carried_event import CarriedEvent
from adapters.cosnotification.service.engine.carried_octets import CarriedOctets
from adapters.cosnotification.service.engine.joining import of_many, of_one
from adapters.cosnotification.service.stubs import CORBA

_MISREAD: Final = (CORBA.MARSHAL, CORBA.BAD_TYPECODE, CORBA.DATA_CONVERSION, CORBA.CODESET_INCOMPATIBLE)
_ALL_OCTETS: Final = frozenset((CarriedOctets,)).issuperset


class Relay:
    """CDR allows more than one way to write a value, and a consumer may know only those of its own ORB. An event that it could not
    read is tried again in the library's writing; when that helps it gets no octets any more."""

    def __init__(self, caller: Caller, lost: Callable[[], object]) -> None:
        """`lost` is called when this consumer will get no octets any more."""
        self._caller = caller
        self._lost = lost
        self._over = False
        self._misread: tuple[CarriedEvent, int] | None = None  # the first and the number of those that it could not read

    def push_one(self, event: CarriedEvent) -> bool:
        """False: it is the library's to push. Raises CORBA.Exception."""
        if self._over or type(event) is not CarriedOctets:
            return False
        return self._push(of_one(event), event, 1)

    def push_many(self, events: Sequence[CarriedEvent]) -> bool:
        """Likewise."""
        if self._over or not _ALL_OCTETS(map(type, events)):
            return False
        return self._push(of_many(events), events[0], len(events))  # type: ignore[arg-type]

    def library_pushed(self, events: Sequence[CarriedEvent]) -> None:
        if self._misread == (events[0], len(events)):
            self._give_up()

    def close(self) -> None:
        self._caller.close()

    def _push(self, arguments: bytes | None, first: CarriedEvent, count: int) -> bool:
        if arguments is None or self._misread == (first, count):
            return False
        try:
            self._caller.call(arguments, little=first.little)  # type: ignore[attr-defined]
        except _MISREAD:
            self._misread = first, count
            raise
        except NotServed:
            self._give_up()
            return False
        return True

    def _give_up(self) -> None:
        self._over = True
        self.close()
        self._lost()
