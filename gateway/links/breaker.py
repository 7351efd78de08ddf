"""A circuit breaker: after so many failures in a row the sink is left alone for the longest pause, then tried with one batch.

Without it a sink that lets itself be connected and then breaks is given the whole window again and again.
"""

from __future__ import annotations

import time
from typing import Literal

State = Literal["closed", "open", "half_open"]


class Breaker:
    """Belongs to the link's thread. `failures` 0: never opens."""

    def __init__(self, failures: int, pause_secs: float) -> None:
        self._failures = failures
        self._pause_secs = pause_secs
        self._in_a_row = 0
        self._opened_at = 0.0
        self.state: State = "closed"

    def failed(self) -> bool:
        """True when this failure opens it."""
        self._in_a_row += 1
        if self.state == "half_open" or (self.state == "closed" and 0 < self._failures <= self._in_a_row):
            opens = self.state == "closed"
            self.state, self._opened_at = "open", time.monotonic()
            return opens
        return False

    def succeeded(self) -> bool:
        """True when this success closes it."""
        self._in_a_row = 0
        closes = self.state != "closed"
        self.state = "closed"
        return closes

    @property
    def lets_pass(self) -> bool:
        """Whether anything may be sent; when its pause is over, one batch may, until it is known how that went."""
        if self.state == "open" and self.pause_secs <= 0:
            self.state = "half_open"
        return self.state != "open"

    @property
    def pause_secs(self) -> float:
        """How long it stays open yet."""
        return max(0.0, self._opened_at + self._pause_secs - time.monotonic()) if self.state == "open" else 0.0
