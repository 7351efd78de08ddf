"""Whether an event must not be lost, by what its own header says. Imports no ORB."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

PERSISTENT: Final = 1  # CosNotification::Persistent


def is_persistent(variable_header: Iterable[tuple[str, Any, Any]]) -> bool:
    """Fields are names, types and values. EventReliability of the event itself; without it, it is best-effort (RULES.md 1.6)."""
    return any(name == "EventReliability" and value == PERSISTENT for name, _, value in variable_header)
