"""Where one link stands in a journal: pure arithmetic, no file and no thread.

    sequences  1 2 3 4 5 6 7 8 9
    settled    x x x x . x . x .        position 4, beyond {6, 8}

Every sequence above `base`, where the link joined, has come to exactly one outcome or is pending, so that

    appended since base = sum of the outcomes + pending

at every moment, and in every state that is read back from disk.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

OUTCOMES: Final = (
    "delivered",
    "filtered",
    "expired",
    "duplicate",
    "dead_lettered",
    "dropped",  # given up for lack of room, by the link's policy
    "lost",  # damaged or missing in the journal
    "looped",  # been here before; last, because cursors that are on disk hold the counts in this order
)

LARGEST_WINDOW: Final = 16_384
"""How far settled sequences may lie beyond the position; a link is handed nothing further ahead."""


class CursorState:
    """Of one link. `settled` counts by outcome, in the order of OUTCOMES."""

    __slots__ = ("base", "beyond", "position", "settled")

    def __init__(
        self, base: int, position: int | None = None, beyond: Iterable[int] = (), settled: Iterable[int] = ()
    ) -> None:
        self.base = base
        self.position = base if position is None else position
        self.beyond = set(beyond)
        self.settled = list(settled) or [0] * len(OUTCOMES)

    @property
    def highest(self) -> int:
        """The highest sequence that this link knows of."""
        return max(self.beyond, default=self.position)

    def is_settled(self, sequence: int) -> bool:
        return sequence <= self.position or sequence in self.beyond

    def settle(self, sequences: Iterable[int], outcome: int) -> int:
        """Those that were pending are now settled; how many that are. Settling twice changes nothing."""
        count = 0
        position = self.position
        beyond = self.beyond
        for sequence in sequences:
            if sequence == position + 1:
                position = sequence
                count += 1
                while beyond and position + 1 in beyond:
                    position += 1
                    beyond.remove(position)
            elif sequence > position and sequence not in beyond:
                beyond.add(sequence)
                count += 1
        self.position = position
        self.settled[outcome] += count
        return count

    def settle_through(self, last: int, outcome: int) -> int:
        """Everything up to and with `last` that is pending; how many that are."""
        if last <= self.position:
            return 0
        passed = {sequence for sequence in self.beyond if sequence <= last}
        count = last - self.position - len(passed)
        self.beyond -= passed
        self.position = last
        while self.position + 1 in self.beyond:
            self.position += 1
            self.beyond.remove(self.position)
        self.settled[outcome] += count
        return count

    def pending(self, last: int) -> int:
        """How many are not settled, when `last` is the newest sequence of the journal."""
        return max(0, last - self.position - len(self.beyond))

    def copy(self) -> CursorState:
        return CursorState(self.base, self.position, self.beyond, self.settled)
