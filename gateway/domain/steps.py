"""A bound on work: what can be exponentially much is counted while it is done, and ends in time."""

from __future__ import annotations


class OutOfSteps(Exception):
    """Caught where the answer so far is given, marked as incomplete."""


class Steps:
    """Counts looks at edges: the same question always ends at the same place, on any machine."""

    def __init__(self, most: int) -> None:
        self._left = most

    def take(self, count: int = 1) -> None:
        self._left -= count
        if self._left < 0:
            raise OutOfSteps
