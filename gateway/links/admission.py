"""The beginning of a link's work on an event: may it pass, what does it become, and must it wait.

`step` says what becomes of it (`translation.py`, `start_time.py`), `duplicates` whether it has arrived before. What may not be sent
yet waits here: *held* until its StartTime has come, or as a *twin* until it is known how somebody else's copy has ended.
"""

from __future__ import annotations

from collections.abc import Sequence

from adapters.base import DeadLetterError, Delivery, Outgoing
from gateway.links.duplicates import Duplicates
from gateway.links.flight import Endings, Flight
from gateway.links.reasons import journal_full
from gateway.links.settlement import Settlement
from gateway.links.start_time import WaitingRoom
from gateway.links.step import FILTERED, NotYet, PatientStep
from mappings.errors import Expired, Looped, MappingError


class Admission:
    """Belongs to the link's thread; `waiting_since` is for anybody."""

    def __init__(
        self, step: PatientStep, duplicates: Duplicates | None, settlement: Settlement, *, dead_letter_expired: bool
    ) -> None:
        self._step = step
        self._duplicates = duplicates
        self._settlement = settlement
        self._dead_letter_expired = dead_letter_expired
        self._twins: list[Delivery] = []
        self._held = WaitingRoom()

    def __len__(self) -> int:
        """How many wait here."""
        return len(self._twins) + len(self._held)

    @property
    def held(self) -> int:
        return len(self._held)

    @property
    def twins(self) -> int:
        return len(self._twins)

    @property
    def waiting(self) -> Sequence[Delivery]:
        return (*self._twins, *self._held.deliveries)

    def wait_secs(self, most: float) -> float:
        """Until something that is held here is due."""
        return self._held.wait_secs(most)

    def prepare(self, deliveries: Sequence[Delivery]) -> Flight:
        """What of these goes on, translated; the rest is settled here, or waits."""
        flight = Flight([], [])
        endings = Endings()
        overdue = self._settlement.overdue(deliveries)
        for index, delivery in enumerate(deliveries):
            try:
                if delivery.error is not None:
                    raise delivery.error
                if index < overdue:
                    raise journal_full()
                outgoing = self._step(delivery)
            except Expired as expired:
                if self._dead_letter_expired:
                    self._settlement.dead_letter(delivery, None, expired, endings)
                else:
                    endings.add("expired", delivery)
            except Looped:
                endings.add("looped", delivery)
            except (MappingError, DeadLetterError) as error:
                self._settlement.dead_letter(delivery, None, error, endings)
            except Exception as bug:  # noqa: BLE001 - one event must not stop the others, nor vanish
                fault = MappingError(
                    "LNK-TRANSLATION", f"unexpected {type(bug).__name__}: {bug}", hint="please report this"
                )
                self._settlement.dead_letter(delivery, None, fault, endings)
            else:
                if isinstance(outgoing, NotYet):
                    self._held.add(delivery, outgoing.until)
                elif not isinstance(outgoing, Outgoing):
                    assert outgoing is FILTERED
                    endings.add("filtered", delivery)
                elif self._is_ours_to_send(delivery, outgoing, endings):
                    flight.deliveries.append(delivery)
                    flight.batch.append(outgoing)
        self._settlement.conclude(endings)
        return flight

    def _is_ours_to_send(self, delivery: Delivery, outgoing: Outgoing, endings: Endings) -> bool:
        answer = "new" if self._duplicates is None else self._duplicates.admit(delivery, outgoing)
        if answer == "known":
            endings.add("duplicate", delivery)
        elif answer == "claimed":
            self._twins.append(delivery)
        return answer == "new"

    def released_twins(self) -> Sequence[Delivery]:
        """Those about which it is known by now how the others have ended."""
        if not self._twins or self._duplicates is None or not (released := self._duplicates.released(self._twins)):
            return ()
        gone = set(released)
        self._twins = [delivery for delivery in self._twins if delivery not in gone]
        return released

    def due(self) -> Sequence[Delivery]:
        """Of what is held: what the journal must not keep any longer, and what is due."""
        if not len(self._held):
            return ()
        overdue = self._settlement.overdue(self._held.deliveries)
        return (*(self._held.take(overdue) if overdue else ()), *self._held.take_due())
