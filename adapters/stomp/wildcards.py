"""A pattern of ours in the wildcards of a broker.

    ours (mappings.destinations)    Artemis, RabbitMQ, embedded     ActiveMQ
    exactly one level, `#`          *                               *
    one or more levels, `*`         *.#                             *.> at the end; else wider
    any number, ABC.*               #                               > at the end

Where a broker has no words for it we subscribe wider than we were asked to, and the source drops what does not match.
"""

from __future__ import annotations

from typing import NamedTuple

from mappings.destinations import Pattern, Wildcard

ONE = "*"


class WirePattern(NamedTuple):
    name: str  # as the broker spells it
    exact: bool  # whether it stands for the same topics there


def wire_pattern(pattern: Pattern, many: str, *, anywhere: bool) -> WirePattern:
    """`many` is the broker's wildcard for any number of levels; `anywhere`: not only at the end of a name."""
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
        levels.append(many)
        if index < last and not anywhere:
            return WirePattern(".".join(levels), exact=False)
    return WirePattern(".".join(levels), exact=True)
