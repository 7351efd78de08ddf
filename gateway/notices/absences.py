"""When a source was away from us, and for how long: what it sent meanwhile may be missing."""

from __future__ import annotations

import time
from typing import NamedTuple

from gateway.links.observer import State


class Absence(NamedTuple):
    since: float | None  # seconds since 1970; None: since before this gateway started
    reason: str  # the code of the error that began it, or STARTED, or CLOSED


STARTED = "STARTED"
CLOSED = "CLOSED"


class Absences:
    """Of connections, by names. Called for every change of their states, from one thread for each name."""

    def __init__(self) -> None:
        self._lost: dict[str, Absence] = {}
        self._seen: set[str] = set()

    def changed(self, name: str, state: State, code: str | None) -> Absence | None:
        """The absence that this change ends."""
        if state == "down" and name in self._seen:
            self._lost.setdefault(name, Absence(time.time(), code or CLOSED))
        if state != "ready":
            return None
        if name not in self._seen:
            self._seen.add(name)
            return Absence(None, STARTED)
        return self._lost.pop(name, None)
