"""One end of a link as a state machine: down → connecting → ready → draining → down.

The link's thread asks `attempt()` whenever it likes; a connection is tried when its pause is over, and not before. Each state, and
each new reason for the same state, is reported once: a peer that stays away for a week gives two lines, not twenty thousand.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import Protocol

from adapters.base import ReconnectError, StopError
from adapters.settings_base import BackOff
from gateway.links.back_off import Pauses
from gateway.links.observer import LinkObserver, Side, State
from mappings.errors import IsthmusError


class Connectable(Protocol):
    def connect(self) -> None: ...

    def close(self) -> None: ...


class Connection:
    def __init__(self, link: str, side: Side, end: Connectable, back_off: BackOff, observer: LinkObserver) -> None:
        self._link = link
        self._side = side
        self._end = end
        self._pauses = Pauses(back_off)
        self._observer = observer
        self._next_attempt = 0.0
        self._reported: tuple[State, str] = ("down", "")
        self.changes: Counter[State] = Counter()  # into each state, as often as they were reported
        self.state: State = "down"
        self.error: IsthmusError | None = None

    @property
    def ready(self) -> bool:
        return self.state == "ready"

    @property
    def pause_secs(self) -> float:
        """How long until the next attempt; 0 when it is due."""
        return max(0.0, self._next_attempt - time.monotonic())

    def attempt(self) -> bool:
        """Connect if we are down and the pause is over; True when this call made us ready. Raises StopError."""
        if self.ready or self.pause_secs > 0:
            return False
        if self.error is None:
            self._enter("connecting", None)
        try:
            self._end.connect()
        except ReconnectError as error:
            self._fail(error)
            return False
        except StopError as error:
            self._enter("down", error)
            raise
        attempts, self._pauses.attempts = self._pauses.attempts, 0
        self._enter("ready", None, attempts)
        return True

    def adopt(self) -> None:
        """The end is connected already: the link before this one handed it over."""
        self._enter("ready", None)

    def lost(self, error: ReconnectError) -> None:
        """The connection broke: close what is left of it, and try again after a pause."""
        self._end.close()
        self._fail(error)

    def close(self) -> None:
        self._end.close()
        self._enter("down", None)

    def drain(self) -> None:
        if self.ready:
            self._enter("draining", None)
            self.state = "ready"  # still usable: draining is for those who watch

    def _fail(self, error: ReconnectError) -> None:
        self._next_attempt = time.monotonic() + self._pauses.next_secs()
        self._enter("down", error, self._pauses.attempts)

    def _enter(self, state: State, error: IsthmusError | None, attempts: int = 0) -> None:
        self.state, self.error = state, error
        reported = (state, error.code if error else "")
        if reported != self._reported:
            self._reported = reported
            self.changes[state] += 1
            self._observer.side_changed(self._link, self._side, state, error, attempts)
