"""Event types of constraints, offers and subscriptions: which events they cover (RULES.md 1.8).

*        anywhere in a domain or type name: any run of characters, also none; no other character means anything but itself
""       the same as *
%ALL     as a type name: every type
%ANY     the type name of untyped events, %TYPED that of typed ones; both with the domain ""
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from mappings.filters.wildcards import RUN, Matcher, Token, compile_wildcards

ALL: Final = "%ALL"
WILDCARD: Final = "*"


class EventType(NamedTuple):
    domain_name: str
    type_name: str

    def normal(self) -> EventType:
        """The one spelling of this event type: `*` for an empty name, and for `%ALL`."""
        return EventType(self.domain_name or WILDCARD, WILDCARD if self.type_name in ("", ALL) else self.type_name)


class EventTypes:
    """A compiled set of event types. Without any, it covers everything. It never changes and may be shared by threads."""

    __slots__ = ("_all", "_exact", "_patterns", "types")

    def __init__(self, types: Iterable[tuple[str, str]] = ()) -> None:
        self.types = tuple(EventType(*type_) for type_ in types)
        normal = [type_.normal() for type_ in self.types]
        self._all = not normal or (WILDCARD, WILDCARD) in normal
        self._exact = frozenset(type_ for type_ in normal if not _has_wildcard(*type_))
        self._patterns = [
            (matcher(type_.domain_name), matcher(type_.type_name)) for type_ in normal if _has_wildcard(*type_)
        ]

    def covers(self, domain_name: str, type_name: str) -> bool:
        """Whether an event of this type passes. An untyped event is ("", "%ANY"), a typed one ("", "%TYPED")."""
        if self._all or (domain_name, type_name) in self._exact:
            return True
        return any(domain(domain_name) and type_(type_name) for domain, type_ in self._patterns)

    def __repr__(self) -> str:
        return f"EventTypes({[tuple(type_) for type_ in self.types]!r})"


def dominates(first: tuple[str, str], second: tuple[str, str]) -> bool:
    """Whether the first event type covers every event that the second does; both may hold wildcards."""
    above, below = EventType(*first).normal(), EventType(*second).normal()
    # A `*` of the second is an ordinary character here, which only a `*` of the first takes: what it stands for, that takes too.
    return matcher(above.domain_name)(below.domain_name) and matcher(above.type_name)(below.type_name)


def matcher(name: str) -> Matcher:
    """A function that tells whether a name fits a name with wildcards."""
    tokens: list[Token] = [RUN if character == WILDCARD else character for character in name]
    return compile_wildcards(tokens)


def _has_wildcard(domain_name: str, type_name: str) -> bool:
    return WILDCARD in domain_name or WILDCARD in type_name
