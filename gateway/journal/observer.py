"""What a journal tells the world about itself. It knows no logger and no metrics library: it calls these hooks.

Calls come from the thread on which the thing was noticed, never for every record, and must not block.
"""

from __future__ import annotations

from typing import Protocol

from gateway.journal.errors import JournalError


class JournalObserver(Protocol):
    def found(self, finding: JournalError) -> None:
        """Damage, a torn tail, missing or dropped records, a sync that failed: once each."""

    def held(self, reason: JournalError) -> None:
        """Appends are not being written; what was taken waits in memory, and no source is acknowledged for it. Called again only
        when the reason changes."""

    def released(self, held_secs: float) -> None:
        """Appends are being written again, by themselves."""


class SilentObserver:
    """Hears nothing, says nothing."""

    def found(self, finding: JournalError) -> None:
        pass

    def held(self, reason: JournalError) -> None:
        pass

    def released(self, held_secs: float) -> None:
        pass
