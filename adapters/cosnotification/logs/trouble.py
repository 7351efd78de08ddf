"""What keeps a log from recording: told from the ORB's process to the gateway's by its code."""

from __future__ import annotations

from typing import Final

from adapters.base import RetryLaterError

FULL: Final = "COR-LOG-FULL"
NOT_WRITTEN: Final = "COR-LOG-WRITE"

_TROUBLES: Final = {
    FULL: (
        "it has reached its max_size and halts: what comes is passed on and not recorded",
        "delete records, raise max_size, or let it wrap",
    ),
    NOT_WRITTEN: (
        "its file cannot be written: what comes is passed on and not recorded",
        "make room; it goes on by itself, and says so",
    ),
}


def trouble_of(code: str, why: str) -> RetryLaterError | None:
    """None: there is none any more."""
    if not code:
        return None
    message, hint = _TROUBLES[code]
    return RetryLaterError(code, f"{message}: {why}" if why else message, hint=hint)
