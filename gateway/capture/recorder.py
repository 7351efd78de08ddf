"""The recorder of one link: numbers what comes, and queues what became of it for the writer.

Never in the way: when the writer is behind by `room` events, what comes is not kept but counted, and its numbers go into the
capture as soon as there is room, so that an audit can tell "not captured" from "lost".
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from adapters.base import Delivery, Outgoing
from gateway.capture.told import Told, Uncaptured
from gateway.links.accounts import Outcome
from mappings.captures.layout import LEFT, Status
from mappings.captures.specification import Specification
from mappings.errors import IsthmusError

MOST_GAPS: Final = 10_000
"""So many runs of numbers are remembered one by one; more are one run, from the first to the last."""


class LinkRecorder:
    """Told by the link's thread; the writer's thread takes. `run`: a name for this life of the link."""

    def __init__(self, specification: Specification, run: str, room: int, hand_over: Callable[[Told], None]) -> None:
        self.specification = specification
        self.mapping_version = specification.version
        self.run = run
        self.captured = 0  # rows in files; the writer's thread counts
        self._room = room
        self._hand_over = hand_over
        self._numbers: dict[Delivery, int] = {}  # of those that are on their way
        self._next = 1
        self._queued = 0  # each of the two is changed by one thread only
        self._taken = 0
        self._lock = threading.Lock()  # of what follows
        self._gaps: list[Uncaptured] = []
        self._uncaptured = 0

    @property
    def uncaptured(self) -> int:
        """Events that went their way and are not in the capture."""
        return self._uncaptured

    # The link

    def received(self, deliveries: Sequence[Delivery]) -> None:
        first, self._next = self._next, self._next + len(deliveries)
        self._numbers.update(zip(deliveries, range(first, self._next), strict=True))

    def settled(self, outcome: Outcome, deliveries: Sequence[Delivery], sent: Sequence[Outgoing]) -> None:
        self._tell(outcome, deliveries, sent)

    def dead_lettered(self, delivery: Delivery, error: IsthmusError, outgoing: Outgoing | None) -> None:
        self._tell("dead_lettered", (delivery,), (outgoing,), error)

    def left(self, deliveries: Sequence[Delivery]) -> None:
        self._tell(LEFT, deliveries)

    def _tell(
        self,
        status: Status,
        deliveries: Sequence[Delivery],
        sent: Sequence[Outgoing | None] = (),
        error: IsthmusError | None = None,
    ) -> None:
        if not deliveries:
            return
        take = self._numbers.pop
        sequences = [take(delivery) for delivery in deliveries]
        if self._queued - self._taken >= self._room:
            self.lose(sequences)
            return
        self._queued += len(sequences)
        self._hand_over(Told(self, status, time.time(), sequences, deliveries, sent, error))

    # The writer

    def taken(self, told: Told) -> None:
        """The writer has this one: there is room for as many again."""
        self._taken += len(told.sequences)

    def lose(self, sequences: Sequence[int]) -> None:
        """These cannot be kept."""
        with self._lock:
            self._uncaptured += len(sequences)
            for number in sequences:
                if self._gaps and self._gaps[-1].last == number - 1:
                    self._gaps[-1] = Uncaptured(self._gaps[-1].first, number)
                else:
                    self._gaps.append(Uncaptured(number, number))
            if len(self._gaps) > MOST_GAPS:
                self._gaps = [Uncaptured(min(gap.first for gap in self._gaps), max(gap.last for gap in self._gaps))]

    def take_gaps(self) -> list[Uncaptured]:
        with self._lock:
            gaps, self._gaps = self._gaps, []
        return gaps

    def give_back_gaps(self, gaps: list[Uncaptured]) -> None:
        """They could not be written either."""
        with self._lock:
            self._gaps = gaps + self._gaps
