"""Who wants to know whether anybody listens to a topic. On the broker's thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adapters.embedded_broker.queues import Destinations

Heard = Callable[[bool], None]
"""Called on the broker's thread, at once and at every change; must not block."""


@dataclass(slots=True)
class _Watch:
    topic: str  # /topic/NAME
    heard: Heard
    listened: bool


class Listening:
    def __init__(self, destinations: Destinations) -> None:
        self._destinations = destinations
        self._watches: dict[str, _Watch] = {}
        destinations.listeners_changed = self._look

    def watch(self, who: str, topic: str, heard: Heard) -> None:
        """In place of what the same one has watched before."""
        listened = self._is_listened(topic)
        self._watches[who] = _Watch(topic, heard, listened)
        heard(listened)

    def _look(self) -> None:
        for watch in self._watches.values():
            listened = self._is_listened(watch.topic)
            if listened != watch.listened:
                watch.listened = listened
                watch.heard(listened)

    def _is_listened(self, topic: str) -> bool:
        """By whoever would get it: a pattern listens to many topics, a durable subscription also while nobody is there."""
        return bool(self._destinations.queues_for(topic))
