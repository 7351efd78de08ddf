"""Event types that suppliers offer and consumers subscribe to, counted over all of them (RULES.md 1.8, 1.9)."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from adapters.cosnotification.service.stubs import CosNotification, CosNotifyComm
from mappings.event_forms import ANY_TYPE_NAME, TYPED_TYPE_NAME
from mappings.filters.event_types import ALL, EventType

Types = frozenset[EventType]
EVERYTHING: Types = frozenset({EventType("", ALL)})


def types_from_orb(types: Any) -> list[EventType]:
    """Raises InvalidEventType: the special type names stand for a whole, which no domain can narrow."""
    result = []
    for type_ in types:
        if type_.type_name in (ALL, ANY_TYPE_NAME, TYPED_TYPE_NAME) and type_.domain_name not in ("", "*"):
            raise CosNotifyComm.InvalidEventType(type_)
        result.append(_plain(EventType(type_.domain_name, type_.type_name)))
    return result


def types_to_orb(types: Iterable[EventType]) -> Any:
    return [CosNotification.EventType(*type_) for type_ in sorted(types)]


def _plain(type_: EventType) -> EventType:
    """One spelling for each: everything is ("", "%ALL")."""
    normal = type_.normal()
    return EventType("", ALL) if normal == ("*", "*") else normal


def normalised(types: Iterable[tuple[str, str]]) -> Types:
    """Event types of a constraint: none means all."""
    return frozenset(_plain(EventType(*type_)) for type_ in types) or EVERYTHING


class Declared:
    """What one client, or an admin, has declared by offer_change or subscription_change."""

    def __init__(self) -> None:
        self.types: Types = frozenset()

    def state(self) -> list[list[str]]:
        return sorted(list(type_) for type_ in self.types)

    def restore(self, state: list[list[str]]) -> None:
        self.types = frozenset(EventType(domain, name) for domain, name in state)

    def change(self, added: Any, removed: Any) -> None:
        """Nothing is changed where a type is invalid."""
        plus, minus = types_from_orb(added), types_from_orb(removed)
        self.types = (self.types - frozenset(minus)) | frozenset(plus)


class TypeBoard:
    """Who contributes which types; `changed` is told what the sum gains and loses, never in between."""

    def __init__(self, changed: Callable[[Types, Types], None]) -> None:
        self._changed = changed
        self._contributions: dict[Hashable, Types] = {}
        self._counts: Counter[EventType] = Counter()
        self._lock = threading.Lock()

    @property
    def all(self) -> Types:
        with self._lock:
            return frozenset(self._counts)

    def set(self, who: Hashable, types: Types) -> None:
        """From now on these are the types of this source; an empty set: it has gone."""
        with self._lock:
            before = self._contributions.pop(who, frozenset())
            if types:
                self._contributions[who] = types
            gained = set()
            lost = set()
            for type_ in types - before:
                self._counts[type_] += 1
                if self._counts[type_] == 1:
                    gained.add(type_)
            for type_ in before - types:
                self._counts[type_] -= 1
                if not self._counts[type_]:
                    del self._counts[type_]
                    lost.add(type_)
            if gained or lost:
                self._changed(frozenset(gained), frozenset(lost))

    def contributions(self) -> dict[Hashable, Types]:
        """For those who want to know who offers or wants what."""
        with self._lock:
            return dict(self._contributions)
