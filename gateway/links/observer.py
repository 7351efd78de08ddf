"""What a link tells the world about itself. The link knows no logger and no metrics library: it calls these hooks.

Calls come from the link's own thread, on changes of state and on dead letters, never for every event. They must not block.
"""

from __future__ import annotations

from typing import Literal, Protocol

from adapters.base import Delivery
from mappings.errors import IsthmusError

Side = Literal["source", "sink", "dead-letters", "duplicates"]
State = Literal["down", "connecting", "ready", "draining", "stopped"]


class LinkObserver(Protocol):
    def side_changed(self, link: str, side: Side, state: State, error: IsthmusError | None, attempts: int) -> None:
        """One end of the link is in another state, or fails for another reason than before."""

    def link_changed(self, link: str, state: State, error: IsthmusError | None) -> None:
        """The link as a whole is in another state."""

    def dead_lettered(self, link: str, delivery: Delivery, error: IsthmusError) -> None:
        """One event went to the dead letters."""

    def numbers_missing(self, link: str, by: str, first: int, last: int) -> None:
        """The source numbers its events, and these numbers of this sender did not come."""


class SilentObserver:
    """Hears nothing, says nothing."""

    def side_changed(self, link: str, side: Side, state: State, error: IsthmusError | None, attempts: int) -> None:
        pass

    def link_changed(self, link: str, state: State, error: IsthmusError | None) -> None:
        pass

    def dead_lettered(self, link: str, delivery: Delivery, error: IsthmusError) -> None:
        pass

    def numbers_missing(self, link: str, by: str, first: int, last: int) -> None:
        pass
