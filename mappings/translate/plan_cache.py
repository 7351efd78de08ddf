"""Plans of a translator, bounded: found by what is cheap to look at, told apart by their own guards.

The first event of a shape pays for its plan. When the cache is full, an event of yet another shape is worth a plan only if one
like it came a moment ago: traffic whose shapes never repeat is walked, and pushes nobody out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

PLANS: Final = 256
PER_KEY: Final = 16
RECENT: Final = 64

P = TypeVar("P", bound=Callable[..., object])


class PlanCache(Generic[P]):
    """Lists of plans by a key; the plan that served last comes first."""

    def __init__(self, plans: int = PLANS, per_key: int = PER_KEY) -> None:
        self._plans: dict[Hashable, list[P]] = {}
        self._count = 0
        self._most, self._per_key = plans, per_key
        self._recent: dict[Hashable, None] = {}
        self.get = self._plans.get

    def __len__(self) -> int:
        return self._count

    def is_worth_a_plan(self, key: Hashable, fingerprint: Callable[[], Hashable]) -> bool:
        """Whether an event that no plan was found for should get one. `fingerprint`: its whole shape."""
        if self._count < self._most and len(self._plans.get(key, ())) < self._per_key:
            return True
        shape = fingerprint()
        if shape in self._recent:
            del self._recent[shape]
            return True
        if len(self._recent) >= RECENT:
            del self._recent[next(iter(self._recent))]
        self._recent[shape] = None
        return False

    def add(self, key: Hashable, plan: P) -> None:
        plans = self._plans.setdefault(key, [])
        if len(plans) >= self._per_key:
            plans.pop()
            self._count -= 1
        plans.insert(0, plan)
        self._count += 1
        while self._count > self._most:
            oldest = next(iter(self._plans))
            if oldest == key:  # the newest is here: give it the youngest place instead
                self._plans[key] = self._plans.pop(key)
                continue
            self._count -= len(self._plans.pop(oldest))

    def served(self, key: Hashable, index: int) -> None:
        """The plan at this place of its list was the right one: next time it is asked first."""
        plans = self._plans[key]
        plans.insert(0, plans.pop(index))
