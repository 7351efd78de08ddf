"""Plans by what is cheap to look at in an event's octets. They are learnt from what had to be read thoroughly.

A plan costs as much as two dozen events. It is made once a shape came WORTH times; when there are PLANS already, once it
came WORTH_A_PLACE times: events of ever new shapes are hardly slower than without plans.

Readers take no lock: what they look at is replaced, never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Final, Generic, Protocol, TypeVar

from mappings.cdr.event_plans import Plan

PLANS: Final = 256
PER_KEY: Final = 16
WORTH: Final = 4
WORTH_A_PLACE: Final = 100
_COUNTED: Final = 1024


class HasKey(Protocol):
    def key(self) -> Hashable: ...


S = TypeVar("S", bound=HasKey)


class LearntPlans(Generic[S]):
    """For one way to read the octets of one byte order; `make` gives the plan for a shape, if there can be one."""

    def __init__(self, make: Callable[[S], Plan | None]) -> None:
        self._make = make
        self._lock = Lock()
        self._by_key: dict[Hashable, tuple[Plan, ...]] = {}
        self._by_shape: dict[Hashable, Plan | None] = {}
        self._seen: dict[int, int] = {}
        self.get = self._by_key.get

    def served(self, key: Hashable, plan: Plan) -> None:
        """The plan was the right one, and others were asked before it: next time it is asked first."""
        self._by_key[key] = (plan, *(other for other in self._by_key.get(key, ()) if other is not plan))

    def is_worth_learning(self, shape: Hashable) -> bool:
        """After a thorough reading; `learn` comes next where this is so."""
        seen_as = hash(shape)  # of two with one hash, one is learnt too early
        with self._lock:
            if len(self._seen) >= _COUNTED:
                self._seen.clear()
            seen = self._seen[seen_as] = self._seen.get(seen_as, 0) + 1
            return seen == (WORTH if len(self._by_shape) < PLANS else WORTH_A_PLACE)

    def learn(self, key: Hashable, shape: S) -> None:
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
                    del self._by_key[list(self._by_key)[0]]  # noqa: RUF015  # at once: `served` takes no lock
                self._by_key[key] = (plan, *known[: PER_KEY - 1])

    def _forget(self) -> None:
        """The oldest plan; whoever misses it begins to count anew."""
        self._seen.clear()
        plan = self._by_shape.pop(next(iter(self._by_shape)))
        for key, plans in list(self._by_key.items()):
            if plan in plans:
                self._by_key[key] = tuple(other for other in plans if other is not plan)
