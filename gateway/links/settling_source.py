"""A source that keeps the accounts of its link itself, so that they outlive the process: the journal."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from adapters.base import Delivery, Source
from gateway.links.accounts import Balance, Outcome


class SettlingSource(Source):
    """Told of every outcome, where another source is only told that an event is safe. What waits in it holds back nobody else, so
    a link takes a batch from it also while the sink is away: then its age is known, and what may not wait is given up in time."""

    @abstractmethod
    def settle(self, deliveries: Sequence[Delivery], outcome: Outcome) -> None:
        """These have come to their end. Raises ReconnectError, as `acknowledge`, which is `settle` as delivered."""

    @abstractmethod
    def overdue(self, deliveries: Sequence[Delivery]) -> int:
        """How many of these, from the first on, the link must dead-letter to make room."""

    @abstractmethod
    def balance(self) -> Balance:
        """The accounts of the link since it first took from here. From any thread."""
