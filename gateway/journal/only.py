"""Records for one link alone: every other link passes over them, as duplicates, from the moment that they can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gateway.journal.cursor_state import LARGEST_WINDOW, OUTCOMES
from gateway.journal.errors import LinkBehind

if TYPE_CHECKING:
    from gateway.journal.board import Board, Group

_DUPLICATE: Final = OUTCOMES.index("duplicate")


def check_reach(board: Board[Any], link: str, last: int) -> None:
    """With the lock. Raises LinkBehind where the cursor of another link cannot settle up to this sequence."""
    for place in board.places.values():
        if place.link != link and last - place.state.position > LARGEST_WINDOW:
            raise LinkBehind(place.link, place.state.pending(board.committed))


def pass_over(board: Board[Any], group: Group[Any]) -> None:
    """With the lock, as the records of this group become readable."""
    if group.only is None:
        return
    first = group.appended.first
    for place in board.places.values():
        if place.link != group.only:
            place.state.settle(range(first, first + len(group.appended.payloads)), _DUPLICATE)
            board.changed(place)
