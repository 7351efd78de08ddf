"""How many of a link's last events were dead letters: too many mean that something is wrong with the link, not with the events."""

from __future__ import annotations

from collections import deque

from adapters.base import StopError


class DeadLetterRatio:
    def __init__(self, stop_at: float, of_last: int) -> None:
        self._stop_at = stop_at
        self._of_last = of_last
        self._steps: deque[tuple[int, int]] = deque()  # dead letters, events
        self._dead = self._events = 0

    def count(self, delivered: int, dead: int) -> None:
        """Raises StopError when the ratio is passed, once there were enough events to tell."""
        self._steps.append((dead, delivered + dead))
        self._dead += dead
        self._events += delivered + dead
        while self._events - self._steps[0][1] >= self._of_last:
            gone_dead, gone = self._steps.popleft()
            self._dead -= gone_dead
            self._events -= gone
        if dead and self._events >= self._of_last and self._dead > self._stop_at * self._events:
            raise StopError(
                "LNK-DEAD-LETTER-RATIO",
                f"{self._dead} of the last {self._events} events were dead letters",
                path="dead_letter.stop_at_ratio",
                hint="see `isthmus dlq list`; mend the cause, restart or reload, then `isthmus dlq retry`",
            )
