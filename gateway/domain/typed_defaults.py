"""The default channels of typed clients: as those of the others (RULES.md 4.7), among the typed channels alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gateway.domain.errors import ChannelNotFound


class TypedDefaults:
    """The first typed channel, unless another was chosen that is still there."""

    def __init__(self, typed_members: Callable[[], Sequence[int]]) -> None:
        self._typed_members = typed_members
        self.chosen: dict[str, int] = {}  # by `consumer` and `supplier`

    def of(self, client: str) -> int:
        """Raises ChannelNotFound where there is no typed channel."""
        members = self._typed_members()
        chosen = self.chosen.get(client)
        if chosen is not None and chosen in members:
            return chosen
        if not members:
            raise ChannelNotFound(None)
        return min(members)
