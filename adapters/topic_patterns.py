"""Patterns of topics as sources (mappings.destinations), in the wildcards of a broker.

    ours                            Artemis, RabbitMQ, embedded     ActiveMQ                        FioranoMQ
    exactly one level, `#`          *                               *                               as ours
    one or more levels, `*`         *.#                             *.> at the end; else wider      as ours
    any number, ABC.*               #                               > at the end                    as ours

Where a broker has no words for a pattern we subscribe wider than we were asked to, and the source drops what does not match: a
subscription to topics has copies of its own, so nobody else misses it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from mappings.destinations import Pattern, Wildcard, has_wildcard

ONE: Final = "*"
TOPIC: Final = "topic://"
LOOKED_UP: Final = "jndi:"  # such a name is a key of a directory, and no pattern
MOST_KNOWN: Final = 10_000  # names of topics, where they are compared here


class Wildcards(NamedTuple):
    """How a broker spells them; all have `*` for one level."""

    many: str  # any number of levels, none too
    anywhere: bool  # else only at the end of a name


HASH: Final = Wildcards("#", anywhere=True)
ARROW: Final = Wildcards(">", anywhere=False)


class WirePattern(NamedTuple):
    name: str  # as the broker spells it
    exact: bool  # whether it stands for the same topics there


def wire_pattern(pattern: Pattern, wildcards: Wildcards) -> WirePattern:
    levels: list[str] = []
    last = len(pattern.parts) - 1
    for index, part in enumerate(pattern.parts):
        match part:
            case str():
                levels.append(part)
                continue
            case Wildcard.ONE:
                levels.append(ONE)
                continue
            case Wildcard.SOME:
                levels.append(ONE)
        levels.append(wildcards.many)
        if index < last and not wildcards.anywhere:
            return WirePattern(".".join(levels), exact=False)
    return WirePattern(".".join(levels), exact=True)


def pattern_of(destination: str) -> Pattern | None:
    """Of the topics that a destination stands for; None where it names one. Raises ValueError where it can be neither."""
    kind, _, name = destination.partition("://")
    if name.startswith(LOOKED_UP):
        return None
    if kind == "topic":
        return Pattern(name) if has_wildcard(name) else None
    if {"*", "#"} & set(name.split(".")):
        raise ValueError("patterns are for topics: a queue is named in full")
    return None


class Topics:
    """What a source has to subscribe to, and which of the messages that then come are wanted."""

    def __init__(
        self,
        destination: str,
        wildcards: Wildcards | None,
        name_of: Callable[[str], str] = lambda shown: shown.removeprefix(TOPIC),
    ) -> None:
        """`wildcards` is None where the broker's rules are ours; `name_of` gets a topic's name from what a message tells of it."""
        self.subscribed = destination
        self.exact = True
        self._name_of = name_of
        self._pattern = pattern_of(destination)
        self._known: dict[str, bool] = {}  # what a message told -> whether it is wanted
        if self._pattern is not None and wildcards is not None:
            name, self.exact = wire_pattern(self._pattern, wildcards)
            self.subscribed = TOPIC + name

    def wants(self, shown: str | None) -> bool:
        """Names are compared as most brokers do: case counts. Raises what `name_of` raises."""
        if shown is None or self._pattern is None:
            return True
        wanted = self._known.get(shown)
        if wanted is None:
            wanted = self._pattern.matches(self._name_of(shown), case=True)
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[shown] = wanted
        return wanted
