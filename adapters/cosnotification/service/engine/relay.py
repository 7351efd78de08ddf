"""The way of octets to one consumer. What does not go by it goes by the ORB library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from adapters.cosnotification.giop.caller import Caller, NotServed
from adapters.cosnotification.giop.neighbour import Neighbour, NotNow
from adapters.cosnotification.service.engine.carried_event import CarriedEvent
from adapters.cosnotification.service.engine.carried_octets import CarriedOctets
from adapters.cosnotification.service.engine.joining import of_many, of_one
from adapters.cosnotification.service.stubs import CORBA

_MISREAD: Final = (CORBA.MARSHAL, CORBA.BAD_TYPECODE, CORBA.DATA_CONVERSION, CORBA.CODESET_INCOMPATIBLE)
_ALL_OCTETS: Final = frozenset((CarriedOctets,)).issuperset
_MOST_HANG_UPS: Final = 3

_Key = tuple[CarriedEvent, int]
"""The first of the events of a call, and how many they are."""


class Relay:
    """Nobody has made sure that a consumer's ORB can read what a supplier's has written.

    - CDR allows more than one way to write a value, and a consumer may know only those of its own ORB. What it says it cannot read
      is tried again in the library's writing; when that helps it gets no octets any more.
    - A consumer whose ORB ends the connection over an event would be tried with it again and again, as one that cannot be reached.
      If it answers other calls meanwhile the event is one that it cannot take.
    """

    def __init__(self, caller: Caller | Neighbour, answers: Callable[[], bool], lost: Callable[[], object]) -> None:
        """`answers` asks whether the consumer is there; `lost` is called when it will get no octets any more."""
        self._caller = caller
        self._answers = answers
        self._lost = lost
        self._over = False
        self._misread: _Key | None = None
        self._hung_up: _Key | None = None
        self._hang_ups = 0

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
        if arguments is None or len(arguments) > self._caller.longest or self._misread == (first, count):
            return False
        try:
            self._caller.call(arguments, little=first.little)  # type: ignore[attr-defined]
        except _MISREAD:
            self._misread = first, count
            raise
        except CORBA.COMM_FAILURE:
            if self._hangs_up_over((first, count)):
                raise CORBA.MARSHAL(0, CORBA.COMPLETED_MAYBE) from None
            raise
        except NotNow:
            return False
        except NotServed:
            self._give_up()
            return False
        return True

    def _hangs_up_over(self, key: _Key) -> bool:
        self._hang_ups = self._hang_ups + 1 if self._hung_up == key else 1
        self._hung_up = key
        return self._hang_ups >= _MOST_HANG_UPS and self._answers()

    def _give_up(self) -> None:
        self._over = True
        self._caller.close()
        self._lost()
