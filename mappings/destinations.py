"""Hierarchical topics: which names a pattern stands for (RULES section 10, the rules of FioranoMQ).

A name is levels between dots. In a pattern a whole level may be a wildcard:

    ABC.*       `*` last and the only wildcard: ABC itself and everything below it
    ABC.*.1     `*` anywhere else, or with another wildcard: one or more levels
    ABC.#       `#`: exactly one level
    ABC.#.*     both: exactly one level, then one or more
    ABC.*.#     no pattern: `#` after `*` has no meaning

Levels are trimmed, and never empty. Case does not count, unless asked: to FioranoMQ two names that differ in case are one topic, to
most other brokers they are two.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, TypeAlias


class PatternError(ValueError):
    """A text that is no pattern; says why."""


class Wildcard(Enum):
    ONE = "exactly one level"
    SOME = "one or more levels"
    ANY = "any number of levels, none too"


Part: TypeAlias = "str | Wildcard"

SEPARATOR: Final = "."
ONE_LEVEL: Final = "#"
MORE_LEVELS: Final = "*"


def has_wildcard(name: str) -> bool:
    """Whether a name can only be meant as a pattern: a topic that is called so cannot be made, nor published to."""
    return ONE_LEVEL in name or MORE_LEVELS in name


class Pattern:
    """A pattern, ready to match. `parts` is what it says, level by level. Raises PatternError."""

    def __init__(self, text: str) -> None:
        self.text = text
        levels = _levels(text)
        if levels is None:
            raise PatternError("a level between two dots is empty")
        wildcards = [level for level in levels if level in (ONE_LEVEL, MORE_LEVELS)]
        for level in levels:
            if has_wildcard(level) and level not in wildcards:
                raise PatternError(f"{level!r}: a wildcard stands for a whole level, between dots")
        if MORE_LEVELS in wildcards and ONE_LEVEL in wildcards[wildcards.index(MORE_LEVELS) :]:
            raise PatternError("`#` behind `*` has no meaning")
        root_too = wildcards == [MORE_LEVELS] and levels[-1] == MORE_LEVELS and len(levels) > 1
        more = Wildcard.ANY if root_too else Wildcard.SOME
        meaning: dict[str, Wildcard] = {ONE_LEVEL: Wildcard.ONE, MORE_LEVELS: more}
        self.parts: tuple[Part, ...] = tuple(meaning.get(level, level) for level in levels)
        self._folded: tuple[Part, ...] = tuple(p.casefold() if isinstance(p, str) else p for p in self.parts)

    def matches(self, name: str, *, case: bool = False) -> bool:
        """Whether the topic of this name is one of them; `case`: whether upper and lower case are told apart."""
        levels = _levels(name if case else name.casefold())
        return levels is not None and not has_wildcard(name) and _match(self.parts if case else self._folded, levels)

    def __repr__(self) -> str:
        return f"Pattern({self.text!r})"


def _levels(name: str) -> list[str] | None:
    """None where one is empty."""
    levels = [level.strip() for level in name.split(SEPARATOR)]
    return levels if all(levels) else None


def _match(parts: tuple[Part, ...], levels: list[str]) -> bool:
    reached = {0}  # how many levels the parts so far may have used up
    for part in parts:
        match part:
            case Wildcard.ONE:
                reached = {n + 1 for n in reached}
            case Wildcard.SOME:
                reached = set(range(min(reached) + 1, len(levels) + 1))
            case Wildcard.ANY:
                reached = set(range(min(reached), len(levels) + 1))
            case _:
                reached = {n + 1 for n in reached if n < len(levels) and levels[n] == part}
        if not reached or min(reached) > len(levels):
            return False
    return len(levels) in reached
