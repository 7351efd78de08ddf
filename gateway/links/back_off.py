"""Pauses between attempts: doubled each time up to a bound, each shortened by chance by up to a half.

The chance keeps a hundred links that lost the same broker from coming back in step.
"""

from __future__ import annotations

import random

from adapters.settings_base import BackOff


class Pauses:
    """One run of failures; `reset` after a success."""

    def __init__(self, settings: BackOff) -> None:
        self._settings = settings
        self.attempts = 0

    def next_secs(self) -> float:
        # The shift is bounded so that ten years of failures do not make a number of a million digits.
        pause_ms = min(self._settings.first_ms << min(self.attempts, 30), self._settings.longest_ms)
        self.attempts += 1
        return pause_ms / 1000 * random.uniform(0.5, 1.0)

    def reset(self) -> None:
        self.attempts = 0
