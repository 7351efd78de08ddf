"""An answer that the doorway owes a peer: it comes when somebody says so, on any thread, or when its time is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final


class Held:
    """Made by a handler, which gives it to the doorway in place of an answer."""

    __slots__ = ("_expire", "_settle", "answer", "until")

    def __init__(self, hold_secs: float, expire: Callable[[], bool]) -> None:
        """`expire` is asked once when the time is over, on the doorway's thread, and says whether it is done after all."""
        self.until: Final = time.monotonic() + hold_secs
        self.answer: bool | None = None  # whether it is done; None while nobody knows
        self._expire = expire
        self._settle: Callable[[Held], None] | None = None

    def settle(self, answer: bool) -> None:
        """From any thread. The first word counts."""
        if self.answer is None:
            self.answer = answer
            if (tell := self._settle) is not None:
                tell(self)

    def expect(self, tell: Callable[[Held], None]) -> None:
        """`tell` hears of the answer, at once where it is there already; perhaps twice."""
        self._settle = tell
        if self.answer is not None:
            tell(self)

    def expire(self) -> None:
        if self.answer is None:
            self.settle(self._expire())
