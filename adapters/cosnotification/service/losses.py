"""Events that a channel had accepted for a consumer, and that the consumer did not get: why, and how many.

A Notification Service may lose events in many ways that its specification allows; none of them is to go unseen.
"""

from __future__ import annotations

import threading
from typing import NamedTuple


class Losses(NamedTuple):
    discarded: int = 0  # by a limit and the DiscardPolicy
    expired: int = 0
    refused: int = 0  # the consumer could not take them
    abandoned: int = 0  # they waited for a consumer that left, or was given up

    def plus(self, other: Losses) -> Losses:
        return Losses(*map(sum, zip(self, other, strict=True)))


class LossesOfThePast:
    """Of the consumers of a channel that are no more. Any thread may add."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.total = Losses()

    def add(self, losses: Losses) -> None:
        with self._lock:
            self.total = self.total.plus(losses)
