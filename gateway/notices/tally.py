"""Many of the same in a short time: the first is told at once, the others together."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Tally(NamedTuple, Generic[T]):
    last: T
    times: int


class Tallies(Generic[T]):
    def __init__(self, window_secs: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._window_secs = window_secs
        self._clock = clock
        self._open: dict[str, tuple[float, Tally[T] | None]] = {}  # until when, and what came since the first
        self._lock = threading.Lock()

    def first(self, name: str, what: T) -> bool:
        """Whether it is to be told now; else it is counted, and `due` gives it later."""
        with self._lock:
            if name not in self._open:
                self._open[name] = self._clock() + self._window_secs, None
                return True
            until, tally = self._open[name]
            self._open[name] = until, Tally(what, tally.times + 1 if tally is not None else 1)
            return False

    def due(self, *, all_of_them: bool = False) -> list[Tally[T]]:
        """Those whose time is over."""
        now, due = self._clock(), []
        with self._lock:
            for name, (until, tally) in list(self._open.items()):
                if until > now and not all_of_them:
                    continue
                if tally is None:
                    del self._open[name]
                else:
                    due.append(tally)
                    self._open[name] = now + self._window_secs, None
        return due
