"""Messages whose headers come in the same order, read by one expression.

What one producer sends to one queue has the same header names in the same order, over and over. So a decoder learns such a *layout*
when it has met it twice: a regular expression that takes all values out of a head at once, and where in them each JMS field and
each property stands. A message of no layout that is known is read header by header (`codec.Decoder`); both ways give the same.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, NamedTuple

from adapters.stomp.frames import Frame, unescape

MOST_LAYOUTS: Final = 16
MOST_SEEN: Final = 1_000  # layouts that are counted
LEARN_AT: Final = 2  # sightings, while there is room; learning one costs as much as reading some dozen messages
RELEARN_AT: Final = 1_000  # sightings, where another one has to go

Values = tuple[str | None, ...]


class Layout(NamedTuple):
    """`fields`, `properties` and `body` are places in the values; the last value of all is None, and stands for what is absent."""

    expression: re.Pattern[str]
    fields: tuple[int, ...]  # of codec.FIELDS
    properties: tuple[tuple[str, int], ...]  # name, place
    body: dict[str, int]  # of the headers that tell the kind of body, those that are there
    is_bytes: bool  # by the content-length

    def read(self, head: str) -> Values | None:
        """None: the head has another layout. Raises FrameError."""
        match = self.expression.fullmatch(head)
        if match is None:
            return None
        if "\\" in head:
            return (*[unescape(value) if "\\" in value else value for value in match.groups()], None)
        return (*match.groups(), None)


class Layouts:
    """Those that a decoder knows, the one that matched last first."""

    def __init__(self) -> None:
        self._known: list[Layout] = []
        self._seen: Counter[tuple[str, ...]] = Counter()

    def read(self, head: str) -> tuple[Layout, Values] | None:
        known = self._known
        for place, layout in enumerate(known):
            values = layout.read(head)
            if values is not None:
                if place:
                    known.insert(0, known.pop(place))
                return layout, values
        return None

    def worth_learning(self, names: tuple[str, ...]) -> bool:
        """Whether it is seen often enough. Counts this sighting."""
        self._seen[names] += 1
        if self._seen[names] < (LEARN_AT if len(self._known) < MOST_LAYOUTS else RELEARN_AT):
            if len(self._seen) > MOST_SEEN:
                self._seen.clear()
            return False
        del self._seen[names]
        return True

    def add(self, layout: Layout) -> None:
        self._known.insert(0, layout)
        del self._known[MOST_LAYOUTS:]


def wire_names(frame: Frame) -> list[str]:
    """The header names of a head as they stand on the wire, in order."""
    return [line.partition(":")[0] for line in frame.head.decode().split("\n")[1:]]


def expression_of(command: str, names: list[str]) -> re.Pattern[str]:
    """Possessive: whatever a value is, it is gone through once."""
    return re.compile("".join([re.escape(command), *[f"\n{re.escape(name)}:([^\n]*+)" for name in names]]))
