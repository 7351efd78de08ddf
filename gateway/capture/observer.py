"""What a capture tells the world, and what is asked of it. No library of Parquet is needed for either."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from mappings.captures.errors import CaptureError


class CaptureObserver(Protocol):
    def capture_changed(self, error: CaptureError | None, uncaptured: int) -> None:
        """Traffic is not captured any more, for this reason, or is captured again; so many events were missed so far. From any
        thread; must not block."""


@dataclass(frozen=True, slots=True)
class CaptureStatus:
    """Of one link, since it began."""

    captured: int
    uncaptured: int
