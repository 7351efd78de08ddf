"""What can be wrong with a capture (CAP-…)."""

from __future__ import annotations

from mappings.errors import IsthmusError


class CaptureError(IsthmusError):
    """A capture, or a part of it, that cannot be written or read."""


def library_missing(library: str, purpose: str) -> CaptureError:
    return CaptureError(
        "CAP-LIBRARY",
        f"{purpose} needs {library}, which is not installed",
        hint="install Isthmus with its `capture` extra (or `spark`, for the jobs)",
    )
