"""Source of the in-memory wire."""

from __future__ import annotations

import time
from collections.abc import Sequence

from adapters.base import Delivery, ReconnectError, Source
from adapters.memory.connection import MemoryPeer, Stored
from adapters.memory.settings import MemoryChannel, capabilities


class MemorySource(Source):
    def __init__(self, peer: MemoryPeer, channel: MemoryChannel) -> None:
        self.capabilities = capabilities(channel)
        self._peer = peer
        self._name = channel.name
        self._generation: int | None = None
        self._unsettled: dict[int, Stored] = {}  # by a number of our own, in the order of delivery
        self._next = 0
        self._woken = False

    def connect(self) -> None:
        self._generation = self._peer.join()

    def receive(self, limit: int, timeout_secs: float) -> list[Delivery]:
        deadline = time.monotonic() + timeout_secs
        with self._peer.changed:
            while True:
                if self._generation is None:
                    raise ReconnectError("MEM-CLOSED", "the source is not connected")
                self._peer.check(self._generation)
                queue = self._peer.queue(self._name)
                if queue:
                    return [self._deliver(queue.popleft()) for _ in range(min(limit, len(queue)))]
                remaining = deadline - time.monotonic()
                if self._woken or remaining <= 0:
                    self._woken = False
                    return []
                self._peer.changed.wait(remaining)

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        for delivery in deliveries:
            self._unsettled.pop(delivery.token, None)

    def release(self, deliveries: Sequence[Delivery]) -> None:
        given_back = [self._unsettled.pop(d.token) for d in deliveries if d.token in self._unsettled]
        self._peer.give_back(self._name, given_back)

    def wake(self) -> None:
        with self._peer.changed:
            self._woken = True
            self._peer.changed.notify_all()

    def close(self) -> None:
        self._generation = None
        unsettled, self._unsettled = list(self._unsettled.values()), {}
        self._peer.give_back(self._name, unsettled)

    def _deliver(self, stored: Stored) -> Delivery:
        self._next += 1
        self._unsettled[self._next] = stored
        return Delivery(
            payload=stored.payload,
            id=stored.id,
            received_at=time.time(),
            redelivered=stored.redelivered,
            token=self._next,
        )
