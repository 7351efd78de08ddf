"""Where notices wait until the inlets of their channels have taken them: bounded, the oldest go first."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from adapters.memory.connection import MemoryPeer
from mappings.model import StructuredEvent

MOST: Final = 10_000  # changes of state, not events: this many wait only where nobody takes them


class Tray:
    """A queue of `peer` for each channel of notices, by its id. Any thread posts."""

    def __init__(self, told_lost: Callable[[int], StructuredEvent]) -> None:
        self.peer: Final = MemoryPeer()
        self._told_lost = told_lost
        self._lost: dict[str, int] = {}

    def post(self, channels: Collection[str], event: StructuredEvent) -> None:
        for channel in channels:
            with self.peer.changed:
                queue = self.peer.queue(channel)
                if len(queue) >= MOST:
                    queue.popleft()
                    self._lost[channel] = self._lost.get(channel, 0) + 1
                    lost = 0
                else:
                    lost = self._lost.pop(channel, 0)
            self.peer.put(channel, [event] if not lost else [self._told_lost(lost), event])
