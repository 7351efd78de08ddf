"""The journal of a channel as the source of one link, which keeps the link's accounts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from adapters.base import Delivery, Form
from gateway.journal.journal import Journal
from gateway.journal.options import Policy
from gateway.journal.source import JournalSource
from gateway.links.accounts import Balance, Outcome
from gateway.links.settling_source import SettlingSource


class JournalledSource(JournalSource, SettlingSource):
    """What was appended since the link joined is what it has received; each outcome is settled, and kept, by the cursor."""

    def __init__(self, journal: Journal[Delivery], link: str, form: Form, policy: Policy = "block") -> None:
        super().__init__(journal, link, form, policy)
        self._its_journal = journal
        self._its_link = link

    def settle(self, deliveries: Sequence[Delivery], outcome: Outcome) -> None:
        self.cursor.settle(self.sequences(deliveries), outcome)

    def overdue(self, deliveries: Sequence[Delivery]) -> int:
        last = self._cursor.overdue if self._cursor is not None else 0
        return sum(1 for _ in takewhile(lambda delivery: delivery.token[1] <= last, deliveries)) if last else 0

    def balance(self) -> Balance:
        place = next((place for place in self._its_journal.status().links if place.link == self._its_link), None)
        if place is None:
            return Balance()
        return Balance(received=sum(place.settled.values()) + place.pending, pending=place.pending, **place.settled)
