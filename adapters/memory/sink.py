"""Sink of the in-memory wire."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

from adapters.base import Confirmation, Outgoing, ReconnectError, Sink
from adapters.memory.connection import MemoryPeer
from adapters.memory.settings import MemoryChannel, capabilities


class MemorySink(Sink):
    def __init__(self, peer: MemoryPeer, channel: MemoryChannel) -> None:
        self.capabilities = capabilities(channel)
        self._peer = peer
        self._name = channel.name
        self._generation: int | None = None
        self._open: list[Confirmation] = []

    def connect(self) -> None:
        self._generation = self._peer.join()

    def send(self, batch: Sequence[Outgoing]) -> Confirmation:
        if self._generation is None:
            raise ReconnectError("MEM-CLOSED", "the sink is not connected")
        confirmation: Confirmation = Future()
        self._peer.take_in(self._generation, self._name, batch, confirmation)
        self._open = [c for c in self._open if not c.done()]
        self._open.append(confirmation)
        return confirmation

    def check(self) -> None:
        if self._generation is not None:
            with self._peer.changed:
                self._peer.check(self._generation)

    def close(self) -> None:
        self._generation = None
        for confirmation in self._open:
            if not confirmation.done():
                confirmation.set_exception(ReconnectError("MEM-CLOSED", "closed before the peer confirmed"))
        self._open.clear()
