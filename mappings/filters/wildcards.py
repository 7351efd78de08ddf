"""Patterns with wildcards: `%` and `_` of LIKE (RULES.md 8.1), `*` of event types (1.8).

The text between two runs is found leftmost, one after the other, which is always right and never backtracks: no pattern, however
hostile, takes more than the length of the text times the length of the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Final, TypeAlias


class Wildcard(Enum):
    ONE = "any one character"
    RUN = "any run of characters, also none"


ONE: Final = Wildcard.ONE
RUN: Final = Wildcard.RUN

Token: TypeAlias = str | Wildcard
"""A literal character, or a wildcard."""

Matcher: TypeAlias = Callable[[str], bool]


def compile_wildcards(tokens: Iterable[Token]) -> Matcher:
    """A function that tells whether a whole text fits the pattern."""
    segments: list[list[Token]] = [[]]
    for token in tokens:
        if token is RUN:
            segments.append([])
        else:
            segments[-1].append(token)
    first, *others = segments
    if not others:
        return _whole(first)
    *middle, last = others
    return _parts(first, [segment for segment in middle if segment], last)


def _whole(segment: list[Token]) -> Matcher:
    if ONE not in segment:
        return _text(segment).__eq__
    pattern = _pattern(segment)
    return lambda text: pattern.fullmatch(text) is not None


def _parts(first: list[Token], middle: list[list[Token]], last: list[Token]) -> Matcher:
    if not middle and ONE not in first and ONE not in last:
        return _ends(_text(first), _text(last))
    head, tail = _pattern(first), _pattern(last)
    searches = [(_pattern(segment), len(segment)) for segment in middle]
    width, tail_width = len(first), len(last)

    def matches(text: str) -> bool:
        end = len(text) - tail_width
        if end < width or head.match(text) is None or tail.match(text, end) is None:
            return False
        start = width
        for pattern, segment_width in searches:
            found = pattern.search(text, start, end)
            if found is None:
                return False
            start = found.start() + segment_width
        return True

    return matches


def _ends(first: str, last: str) -> Matcher:
    shortest = len(first) + len(last)
    return lambda text: len(text) >= shortest and text.startswith(first) and text.endswith(last)


def _text(segment: list[Token]) -> str:
    return "".join(str(token) for token in segment)


def _pattern(segment: list[Token]) -> re.Pattern[str]:
    """Matches exactly as many characters as the segment has tokens."""
    return re.compile("".join("." if token is ONE else re.escape(str(token)) for token in segment), re.DOTALL)
