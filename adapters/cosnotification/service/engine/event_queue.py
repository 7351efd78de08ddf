"""The events that wait for one consumer.

Any number of threads put, one at a time takes. Putting takes no lock: what arrives goes to the end of a deque, and whoever takes
sorts it in. Only over the limit the one who puts does that, so that a consumer which takes nothing costs no more than its limit.

Where nothing that waits is preferred, delayed or ended by anything, every order is that of arrival: then nothing is sorted, and
events are taken off the deque as they are.
"""

from __future__ import annotations

import operator
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from adapters.cosnotification.service.engine.carried_event import CarriedEvent
from adapters.cosnotification.service.engine.ordering import NEVER, Entry, Ordering, Rules
from mappings.filters.etcl import system_clock

UNITS_PER_SEC: Final = 10_000_000  # TimeT

_is_plain: Final = operator.attrgetter("plain")


class Mapped(NamedTuple):
    """An event whose Priority or Timeout a mapping filter sets for this consumer (RULES.md 1.7)."""

    event: CarriedEvent
    priority: int | None
    timeout: int | None

    @property
    def plain(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class QueueRules:
    """What the consumer's QoS makes of an event."""

    rules: Rules = field(default_factory=Rules)
    priority: int = 0  # of events that say none
    timeout: int = 0  # likewise, in TimeT; 0: none
    starts: bool = True  # StartTimeSupported
    stops: bool = True  # StopTimeSupported, for Timeout too


@dataclass(slots=True)
class Batching:
    """How many events go in one call, and how long (TimeT) a call waits to be full. May change while a `take` waits."""

    most: int = 1
    pacing: int = 0


class EventQueue:
    def __init__(
        self,
        rules: QueueRules,
        now: Callable[[], int] = system_clock,
        *,
        over: Callable[[Iterable[CarriedEvent]], object] | None = None,
    ) -> None:
        """`over` hears of events that this consumer has got, or will never get."""
        self._over = over
        self.refill: Callable[[], None] | None = None  # set where there is more that is not in memory
        self._rules = rules
        self._now = now
        self._arrived: deque[CarriedEvent | Mapped] = deque()
        self._ordering = Ordering(rules.rules, None if over is None else lambda entry: over([entry.event]))
        self._unsorted = (
            False  # something has arrived that is not plain: set after it is there, cleared before all is sorted in
        )
        self._taken: list[CarriedEvent] = []  # and not yet settled
        self._deadlines: dict[CarriedEvent, int] = {}  # of the taken, where they have one
        self._number = 0
        self._lock = threading.Lock()
        self._paused = False
        self._paced_since = 0  # when the batch that is being filled began
        self._sleeping = False
        self._wake = threading.Lock()  # released by who wakes: half the price of an Event
        self._wake.acquire()
        self._set_limit()

    def __len__(self) -> int:
        """Those under way included."""
        return len(self._arrived) + len(self._ordering) + len(self._taken)

    @property
    def discarded(self) -> int:
        return self._ordering.discarded

    @property
    def expired(self) -> int:
        return self._ordering.expired

    def change(self, rules: QueueRules) -> None:
        with self._lock:
            self._sort_in()
            self._rules = rules
            self._ordering.change(rules.rules)
            self._set_limit()
        self.nudge()

    def put(self, event: CarriedEvent | Mapped) -> None:
        self._arrived.append(event)
        if not event.plain:
            self._unsorted = True
        if self._sleeping:
            self.nudge()
        if len(self._arrived) + self._ordering.length > self._most:
            self._make_room()

    def put_many(self, events: Sequence[CarriedEvent]) -> None:
        self._arrived.extend(events)
        if not all(map(_is_plain, events)):
            self._unsorted = True
        if self._sleeping:
            self.nudge()
        if len(self._arrived) + self._ordering.length > self._most:
            self._make_room()

    def take(
        self, batching: Batching, timeout_secs: float, *, stop: Callable[[], bool] | None = None
    ) -> list[CarriedEvent]:
        """Up to so many events that are due, which have to be settled; none after the time-out, or while paused.

        With a pacing interval fewer are given only when the first of them has waited that long.
        """
        if self._arrived and not self._unsorted and not batching.pacing:
            plain = self._take_plain(batching.most)
            if plain:
                return plain
        until = time.monotonic() + timeout_secs
        while True:
            if self.refill is not None:
                self.refill()
            with self._lock:
                most = batching.most
                wait_secs = self._secs_until_due(most, batching.pacing)
                if wait_secs == 0.0:
                    got = self._pop(most)
                    if got:
                        self._taken = [entry.event for entry in got]
                        self._deadlines = {entry.event: entry.deadline for entry in got if entry.deadline < NEVER}
                        return self._taken
                    wait_secs = self._secs_until_due(most, batching.pacing)  # all that was due had expired
            left_secs = until - time.monotonic()
            if left_secs <= 0 or (stop is not None and stop()):
                return []
            self._sleep(left_secs if wait_secs is None else min(left_secs, wait_secs))

    def _take_plain(self, most: int) -> list[CarriedEvent]:
        """The usual case: what waits is in its order already. None where it may not be."""
        with self._lock:
            arrived, rules = self._arrived, self._rules
            sorted_ = self._unsorted or self._ordering.length or (rules.timeout and rules.stops)
            if sorted_ or self._paused or self.refill is not None:
                return []
            popleft = arrived.popleft
            self._taken = [popleft() for _ in range(min(most, len(arrived)))]  # type: ignore[misc]
            self._deadlines = {}
            return self._taken

    def take_first(self, wanted: Callable[[CarriedEvent], bool]) -> CarriedEvent | None:
        """The first event that is due and wanted, if there is one now; it need not be settled. The others keep their places."""
        if self.refill is not None:
            self.refill()
        with self._lock:
            self._sort_in()
            if self._paused:
                return None
            entry = self._ordering.pop_first(self._now(), lambda entry: wanted(entry.event))
        if entry is None:
            return None
        if self._over is not None:
            self._over([entry.event])
        return entry.event

    def settle(self) -> None:
        """What was taken is done with."""
        taken, self._taken = self._taken, []
        if self._over is not None and taken:
            self._over(taken)

    def expire(self, events: list[CarriedEvent]) -> list[CarriedEvent]:
        """Those of some of the taken whose time is not over."""
        deadlines = self._deadlines
        if not deadlines:
            return events
        now = self._now()
        late = {event for event in events if deadlines.get(event, NEVER) <= now}
        if not late:
            return events
        self._ordering.expired += len(late)
        self._taken = [event for event in self._taken if event not in late]
        if self._over is not None:
            self._over(late)
        return [event for event in events if event not in late]

    def pause(self) -> None:
        with self._lock:
            self._paused = True

    def resume(self) -> None:
        with self._lock:
            self._paused = False
        self.nudge()

    def nudge(self) -> None:
        """Let a `take` that waits look again."""
        with suppress(RuntimeError):  # somebody else has woken it
            self._wake.release()

    def clear(self) -> None:
        """Nobody will ever take what waits."""
        with self._lock:
            self._sort_in()
            left = [entry.event for entry in self._ordering.all()]
            self._ordering.clear()
        if self._over is not None and left:
            self._over(left)

    def _sleep(self, secs: float) -> None:
        self._sleeping = True
        try:
            if self._paused or not self._arrived:  # put may have missed that we sleep
                self._wake.acquire(timeout=secs)
        finally:
            self._sleeping = False

    # Under the lock

    def _secs_until_due(self, most: int, pacing: int) -> float | None:
        """0 when something may be taken, None when only an arrival or a nudge can change that it may not."""
        self._sort_in()
        if self._paused or not len(self._ordering):
            return None
        now = self._now()
        due = self._ordering.due(now)
        next_start = self._ordering.next_start
        if due == 0:
            return None if next_start is None else max(0.001, (next_start - now) / UNITS_PER_SEC)
        if not pacing or due >= most:
            return 0.0
        wait = self._paced_since + pacing - now
        return 0.0 if wait <= 0 else wait / UNITS_PER_SEC

    def _pop(self, most: int) -> list[Entry]:
        now = self._now()
        got: list[Entry] = []
        while len(got) < most and (entry := self._ordering.pop(now)) is not None:
            got.append(entry)
        self._paced_since = now
        return got

    def _sort_in(self) -> None:
        arrived = self._arrived
        self._unsorted = False
        if not arrived:
            return
        if not len(self._ordering):
            self._paced_since = self._now()
        rules, add, number = self._rules, self._ordering.add, self._number
        while arrived:
            item = arrived.popleft()
            number += 1
            if isinstance(item, Mapped):
                event, priority, timeout = item.event, item.priority, item.timeout
            else:
                event, priority, timeout = item, None, None
            if priority is None:
                priority = event.priority if event.priority is not None else rules.priority
            deadline, start = NEVER, 0
            if rules.stops:
                if timeout is None:
                    timeout = event.timeout if event.timeout is not None else rules.timeout
                if timeout:
                    deadline = event.arrived + timeout
                if event.stop is not None:
                    deadline = min(deadline, event.stop)
            if rules.starts and event.start is not None:
                start = event.start
            add(Entry(event, number, priority, deadline, start))
        self._number = number

    def _make_room(self) -> None:
        with self._lock:
            self._sort_in()

    def _set_limit(self) -> None:
        limit = self._rules.rules.limit
        self._most = limit if limit else NEVER
