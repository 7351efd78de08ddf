"""What a link needs of the place where events go that can never pass."""

from __future__ import annotations

from typing import Protocol

from adapters.base import Delivery
from mappings.errors import IsthmusError


class DeadLetters(Protocol):
    def put(self, link: str, delivery: Delivery, error: IsthmusError, attempts: int = 0) -> None:
        """Keep it for good. Raises OSError when that is not possible now: the link then holds the event and tries again."""
