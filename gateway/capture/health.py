"""Whether all that links tell is kept: says so when that changes, and does not say the same again and again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from mappings.captures.errors import CaptureError

AGAIN_SECS: Final = 10.0
"""The same trouble, with what was missed by then, is told no more often than this."""
QUIET_SECS: Final = 1.0
"""So long nothing was missed, and all is well again: a queue that is full now and then is not told each time."""


class Health:
    """Belongs to the writer's thread. `tell` hears the trouble, or None when it is over, and how many events were missed so far."""

    def __init__(self, tell: Callable[[CaptureError | None, int], None]) -> None:
        self._tell = tell
        self._code: str | None = None
        self._told_at = 0.0
        self._missed = 0
        self._missed_at = 0.0

    @property
    def in_trouble(self) -> bool:
        return self._code is not None

    def refused(self, error: CaptureError, missed: int) -> None:
        """Rows could not be written."""
        self._missed, self._missed_at = missed, time.monotonic()
        if error.code != self._code or self._missed_at - self._told_at >= AGAIN_SECS:
            self._code, self._told_at = error.code, self._missed_at
            self._tell(error, missed)

    def written(self, missed: int) -> None:
        """Rows were written, and so many have been missed by now."""
        if missed > self._missed:
            self.refused(_behind(), missed)
        elif self._code is not None and (self._code != BEHIND or time.monotonic() - self._missed_at >= QUIET_SECS):
            self._code = None
            self._tell(None, missed)


BEHIND: Final = "CAP-BEHIND"


def _behind() -> CaptureError:
    return CaptureError(
        BEHIND,
        "some events were not captured: they came faster than they could be written",
        hint="capture fewer links (links.….capture), or raise capture.queue_events if these are bursts",
    )
