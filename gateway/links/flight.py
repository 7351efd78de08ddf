"""What a link has on its way, and what came to its end in one round."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, field

from adapters.base import Confirmation, Delivery, Outgoing, RetryLaterError
from gateway.links.accounts import Outcome


@dataclass(slots=True, eq=False)
class Flight:
    """A batch on its way; without a confirmation it waits to be sent (again)."""

    deliveries: list[Delivery]
    batch: list[Outgoing]
    confirmation: Confirmation | None = None
    made_at: float = field(default_factory=time.monotonic)
    attempts: int = 0  # how often it was handed to the sink

    @property
    def is_done(self) -> bool:
        return self.confirmation is not None and self.confirmation.done()

    @property
    def is_to_be_retried(self) -> bool:
        return (
            self.confirmation is not None
            and self.confirmation.done()
            and isinstance(self.confirmation.exception(), RetryLaterError)
        )


class Endings:
    """Deliveries that came to their ends, to be counted and to be told to the source."""

    __slots__ = ("by_outcome", "sent")

    def __init__(self) -> None:
        self.by_outcome: defaultdict[Outcome, list[Delivery]] = defaultdict(list)
        self.sent: list[Outgoing] = []  # what those that were delivered became

    def add(self, outcome: Outcome, delivery: Delivery) -> None:
        self.by_outcome[outcome].append(delivery)

    def delivered(self, delivery: Delivery, outgoing: Outgoing) -> None:
        self.by_outcome["delivered"].append(delivery)
        self.sent.append(outgoing)
