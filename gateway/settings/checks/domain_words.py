"""Routes through the event domain of a configuration, in words."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from gateway.domain.graph import Route
from gateway.settings.members import Members

_LONGEST_SHOWN: Final = 12


class RouteWords:
    def __init__(self, members: Members) -> None:
        self.members = members
        self.foreign: set[tuple[int, int]] = set()  # steps that are bridges of others

    def name(self, member: int) -> str:
        """All names that a member has in the file."""
        return " = ".join(self.members.names[member])

    def route(self, route: Route) -> str:
        """A step over a bridge of others has a dashed arrow; the middle of a long route is left out."""
        pieces = [self.name(route[0])]
        for source, sink in pairwise(route):
            pieces.append(f"{'⇢' if (source, sink) in self.foreign else '→'} {self.name(sink)}")
        if len(pieces) > _LONGEST_SHOWN:
            half = _LONGEST_SHOWN // 2
            pieces[half:-half] = [f"→ … ({len(pieces) - 2 * half} more)"]
        return " ".join(pieces)

    def routes(self, routes: Iterable[Route]) -> str:
        return ", and ".join(map(self.route, routes))
