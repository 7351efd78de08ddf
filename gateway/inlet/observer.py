"""What inlets and their journals tell the world. Calls come on changes of state only, from any thread, and must not block."""

from __future__ import annotations

from typing import Protocol

from gateway.journal.errors import JournalError
from gateway.links.observer import Side as LinkSide
from gateway.links.observer import SilentObserver, State
from mappings.errors import IsthmusError


class InletObserver(Protocol):
    def inlet_changed(self, channel: str, state: State, error: IsthmusError | None, attempts: int) -> None:
        """The connection to a source channel is in another state, or fails for another reason than before."""

    def journal_found(self, channel: str, finding: JournalError) -> None:
        """Something about the journal of this channel that its owner must know: damage, what was dropped, links left behind."""

    def journal_held(self, channel: str, reason: JournalError) -> None:
        """The journal cannot be written, so the source is held back."""

    def journal_released(self, channel: str, held_secs: float) -> None:
        """It is being written again."""


class AsSide(SilentObserver):
    """An inlet's connection reports as a link's side does."""

    def __init__(self, channel: str, observer: InletObserver) -> None:
        self._channel = channel
        self._observer = observer

    def side_changed(self, link: str, side: LinkSide, state: State, error: IsthmusError | None, attempts: int) -> None:
        self._observer.inlet_changed(self._channel, state, error, attempts)


class OfChannel:
    """The JournalObserver of the journal of one channel."""

    def __init__(self, channel: str, observer: InletObserver) -> None:
        self._channel = channel
        self._observer = observer

    def found(self, finding: JournalError) -> None:
        self._observer.journal_found(self._channel, finding)

    def held(self, reason: JournalError) -> None:
        self._observer.journal_held(self._channel, reason)

    def released(self, held_secs: float) -> None:
        self._observer.journal_released(self._channel, held_secs)
