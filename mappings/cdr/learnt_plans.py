"""Plans by what is cheap to look at in an event's octets. They are learnt from events that had to be read thoroughly.

A plan costs as much as two dozen events. It is made once a shape came WORTH times; when there are PLANS already, once it
came WORTH_A_PLACE times: events of ever new shapes are hardly slower than without plans.

Readers take no lock: what they look at is replaced, never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Final

from mappings.cdr.event_plans import Plan
from mappings.cdr.event_shape import Shape
from mappings.model import StructuredEvent

PLANS: Final = 256
PER_KEY: Final = 16
WORTH: Final = 4
WORTH_A_PLACE: Final = 100
MAX_FIELDS: Final = 200
_COUNTED: Final = 1024


class LearntPlans:
    """For one way to read the octets of one byte order."""

    def __init__(self, make: Callable[[Shape], Plan | None]) -> None:
        self._make = make
        self._lock = Lock()
        self._by_key: dict[Hashable, tuple[Plan, ...]] = {}
        self._by_shape: dict[Hashable, Plan | None] = {}
        self._seen: dict[int, int] = {}
        self.get = self._by_key.get

    def served(self, key: Hashable, plan: Plan) -> None:
        """The plan was the right one, and others were asked before it: next time it is asked first."""
        self._by_key[key] = (plan, *(other for other in self._by_key.get(key, ()) if other is not plan))

    def is_worth_learning(self, key: Hashable, event: StructuredEvent) -> bool:
        """After an event was read thoroughly; `learn` comes next where this is so."""
        if len(event.variable_header) + len(event.filterable_data) > MAX_FIELDS:
            return False
        fields: list[object] = [key, id(event.remainder_of_body.type)]
        for name, type_, _value in event.variable_header:
            fields += name, id(type_)
        for name, type_, _value in event.filterable_data:
            fields += name, id(type_)
        shape = hash(tuple(fields))  # of two with one hash, one is learnt too early
        with self._lock:
            if len(self._seen) >= _COUNTED:
                self._seen.clear()
            seen = self._seen[shape] = self._seen.get(shape, 0) + 1
            return seen == (WORTH if len(self._by_shape) < PLANS else WORTH_A_PLACE)

    def learn(self, key: Hashable, shape: Shape) -> None:
        exact = shape.key()
        with self._lock:
            if exact not in self._by_shape:
                if len(self._by_shape) >= PLANS:
                    self._forget()
                self._by_shape[exact] = self._make(shape)
            plan = self._by_shape[exact]
            known = self._by_key.get(key, ())
            if plan is not None and plan not in known:
                if key not in self._by_key and len(self._by_key) >= PLANS:
                    del self._by_key[next(iter(self._by_key))]
                self._by_key[key] = (plan, *known[: PER_KEY - 1])

    def _forget(self) -> None:
        """The oldest plan; whoever misses it begins to count anew."""
        self._seen.clear()
        plan = self._by_shape.pop(next(iter(self._by_shape)))
        for key, plans in list(self._by_key.items()):
            if plan in plans:
                self._by_key[key] = tuple(other for other in plans if other is not plan)
