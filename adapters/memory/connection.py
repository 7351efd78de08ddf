"""The peer of the in-memory wire: named queues with the manners, good and bad, of a real broker.

Deliveries are kept until acknowledged, and come again, marked as redelivered, when a connection ends without. Tests hurt it on
purpose: `stop` and `start`, `cut`, `fill`, `refuse`, `hold`.
"""

from __future__ import annotations

import threading
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adapters.base import Confirmation, DeadLetterError, Outgoing, Payload, ReconnectError, Refusal, RetryLaterError


@dataclass(eq=False)
class Stored:
    """One event in a queue."""

    id: str
    payload: Payload
    redelivered: bool = False


class MemoryPeer:
    """A message store in this process. One lock guards all of it; `changed` is notified on every change."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.capacity: int | None = None
        self._queues: dict[str, deque[Stored]] = {}
        self._id = uuid.uuid4().hex[
            :12
        ]  # ids of one peer are never those of another, of an earlier process for instance
        self._put = 0
        self._running = True
        self._generation = 0  # connections of an earlier generation are cut
        self._refusing: Callable[[Payload], bool] | None = None
        self._holding = False
        self._held: deque[tuple[Confirmation, tuple[Refusal, ...]]] = deque()

    # What connections do

    def join(self) -> int:
        """A new connection: its generation, to be shown at every later call."""
        with self.changed:
            if not self._running:
                raise ReconnectError("MEM-DOWN", "the in-memory peer is not running")
            return self._generation

    def check(self, generation: int) -> None:
        """Call with `changed` held."""
        if not self._running or generation != self._generation:
            raise ReconnectError("MEM-CUT", "the connection to the in-memory peer was cut")

    def queue(self, name: str) -> deque[Stored]:
        """Call with `changed` held."""
        return self._queues.setdefault(name, deque())

    def give_back(self, name: str, unsettled: Sequence[Stored]) -> None:
        """Back to the head of the queue, in order."""
        with self.changed:
            for stored in reversed(unsettled):
                stored.redelivered = True
                self.queue(name).appendleft(stored)
            self.changed.notify_all()

    def take_in(self, generation: int, name: str, batch: Sequence[Outgoing], confirmation: Confirmation) -> None:
        """Store a batch as a whole, and confirm it now or when `release_held` says so."""
        with self.changed:
            self.check(generation)
            if self.capacity is not None and self._stored() + len(batch) > self.capacity:
                raise RetryLaterError("MEM-FULL", f"the in-memory peer holds its {self.capacity} events already")
            refusals = []
            for index, outgoing in enumerate(batch):
                if self._refusing is not None and self._refusing(outgoing.payload):
                    error = DeadLetterError("MEM-REFUSED", "the in-memory peer refuses this event for good")
                    refusals.append(Refusal(index, error))
                else:
                    self.queue(outgoing.destination or name).append(Stored(outgoing.id, outgoing.payload))
            self.changed.notify_all()
            outcome = tuple(refusals)
            if self._holding:
                self._held.append((confirmation, outcome))
                return
        confirmation.set_result(outcome)

    # What tests do

    def put(self, name: str, payloads: Sequence[Payload]) -> None:
        with self.changed:
            first, self._put = self._put, self._put + len(payloads)
            self.queue(name).extend(Stored(f"{self._id}-{first + n}", payload) for n, payload in enumerate(payloads))
            self.changed.notify_all()

    def contents(self, name: str) -> list[Payload]:
        with self.changed:
            return [stored.payload for stored in self.queue(name)]

    def stop(self) -> None:
        """Every connection breaks, and none can be made. What is stored stays."""
        with self.changed:
            self._running = False
            self._generation += 1
            held, self._held = self._held, deque()
            self.changed.notify_all()
        for confirmation, _ in held:
            if not confirmation.done():
                confirmation.set_exception(ReconnectError("MEM-CUT", "cut before the peer confirmed"))

    def start(self) -> None:
        with self.changed:
            self._running = True
            self.changed.notify_all()

    def cut(self) -> None:
        """Every connection breaks; new ones can be made at once."""
        self.stop()
        self.start()

    def refuse(self, predicate: Callable[[Payload], bool] | None) -> None:
        """From now on refuse for good what the predicate names."""
        self._refusing = predicate

    def hold(self) -> None:
        """Take batches in, but confirm nothing until `release_held`."""
        self._holding = True

    def release_held(self) -> None:
        with self.changed:
            self._holding = False
            held, self._held = self._held, deque()
        for confirmation, outcome in held:
            if not confirmation.done():  # its sink may have been closed meanwhile
                confirmation.set_result(outcome)

    def _stored(self) -> int:
        return sum(len(queue) for queue in self._queues.values())
