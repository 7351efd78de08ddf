"""The filters of one object, and how those of an admin and its proxy come together (RULES.md 1.11)."""

from __future__ import annotations

from collections.abc import Callable

from adapters.cosnotification.service.engine.carried_event import CarriedEvent

Test = Callable[[CarriedEvent], bool]


def any_of(tests: tuple[Test, ...]) -> Test | None:
    """Filters of one object: one is enough. None: there are none, and everything passes."""
    if not tests:
        return None
    if len(tests) == 1:
        return tests[0]
    return lambda event: any(test(event) for test in tests)


def combined(admin: Test | None, proxy: Test | None, *, all_of: bool) -> Test | None:
    """AND_OP or OR_OP. A side without filters has no say: who adds a filter means it."""
    if admin is None:
        return proxy
    if proxy is None:
        return admin
    if all_of:
        return lambda event: admin(event) and proxy(event)
    return lambda event: admin(event) or proxy(event)


class Remembered:
    """A test whose answer for the latest event is kept: an admin's filters are asked once, whatever number of proxies it has."""

    __slots__ = ("_latest", "_test")

    def __init__(self, test: Test) -> None:
        self._test = test
        self._latest: tuple[CarriedEvent | None, bool] = (None, False)

    def __call__(self, event: CarriedEvent) -> bool:
        latest = self._latest  # other threads may replace it at any time
        if latest[0] is event:
            return latest[1]
        answer = self._test(event)
        self._latest = (event, answer)
        return answer
