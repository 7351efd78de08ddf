"""Ids of members, connections and domains: from 0, never reused (RULES.md 4.6 #10)."""

from __future__ import annotations

from collections.abc import Container

from gateway.domain.connection import HIGHEST_ID, LOWEST_ID


class IdCounter:
    def __init__(self, next_: int = 0) -> None:
        self.next = next_

    def take(self, used: Container[int]) -> int:
        """After the highest comes the lowest; then, and only then, ids can come round again, and those in use are passed over."""
        while self.next in used:
            self._advance()
        taken = self.next
        self._advance()
        return taken

    def _advance(self) -> None:
        self.next = self.next + 1 if self.next < HIGHEST_ID else LOWEST_ID
