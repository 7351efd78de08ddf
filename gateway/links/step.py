"""What a link does to one event between its source and its sink. `translation.py` makes it, `link.py` calls it for every event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from adapters.base import Delivery, Outgoing


class Filtered:
    """The link's filter says no."""


FILTERED: Final = Filtered()


class NotYet(NamedTuple):
    """It passes, but not before this time."""

    until: float  # seconds since 1970


Step: TypeAlias = Callable[[Delivery], Outgoing | Filtered]
"""Raises MappingError (dead-letter it) and its kinds Expired and Looped (count it, send nothing)."""

PatientStep: TypeAlias = Callable[[Delivery], Outgoing | Filtered | NotYet]
"""A step that may also say when to ask again (`start_time.py`). Raises DeadLetterError as well."""
