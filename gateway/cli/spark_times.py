"""Times on the command line: ISO 8601, in UTC where no zone is given."""

from __future__ import annotations

from datetime import UTC, datetime

from mappings.captures.errors import CaptureError


def micros(text: str | None) -> int | None:
    """Microseconds since 1970. Raises CaptureError."""
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise CaptureError(
            "CAP-OPTION", f"{text!r} is no time", hint="write 2026-11-18, or 2026-11-18T20:15:00, in UTC"
        ) from None
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    return round(time.timestamp() * 1_000_000)
