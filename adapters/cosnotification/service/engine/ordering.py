"""Which of the events that wait for one consumer goes next, and which one goes overboard (RULES.md 1.6). Nothing here is shared.

Events mostly arrive in the order in which they leave. Such runs are kept as they are; what falls out of the run goes into a heap.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from adapters.cosnotification.service.engine.carried_event import CarriedEvent

NEVER: Final = 1 << 64
_NUMBERS: Final = 1 << 64  # arrival numbers are below


class Order(IntEnum):
    """CosNotification's values of OrderPolicy and DiscardPolicy."""

    ANY = 0
    FIFO = 1
    PRIORITY = 2
    DEADLINE = 3
    LIFO = 4  # DiscardPolicy alone


class Entry:
    """An event on its way to one consumer."""

    __slots__ = ("deadline", "event", "gone", "number", "priority", "start")

    def __init__(
        self, event: CarriedEvent, number: int, priority: int = 0, deadline: int = NEVER, start: int = 0
    ) -> None:
        self.event = event
        self.number = number  # of arrival
        self.priority = priority
        self.deadline = deadline
        self.start = start  # 0 once it is due
        self.gone = False  # taken or discarded; other places may still hold it


@dataclass(frozen=True, slots=True)
class Rules:
    order: Order = Order.PRIORITY
    discard: Order = Order.ANY
    limit: int = 0  # 0: none


_Key = Callable[[Entry], int]

# Small keys come first: to be delivered, or to be discarded.
_DELIVER: Final[dict[Order, _Key]] = {
    Order.FIFO: lambda entry: entry.number,
    Order.PRIORITY: lambda entry: entry.number - entry.priority * _NUMBERS,
    Order.ANY: lambda entry: entry.number - entry.priority * _NUMBERS,  # as all that the rules allow, the kindest
    Order.DEADLINE: lambda entry: entry.deadline * _NUMBERS + entry.number,
}
_DISCARD: Final[dict[Order, _Key]] = {
    Order.FIFO: lambda entry: entry.number,
    Order.PRIORITY: lambda entry: entry.priority * _NUMBERS - entry.number,  # of the least important, the newest
    Order.DEADLINE: lambda entry: entry.deadline * _NUMBERS + entry.number,
}  # ANY, LIFO: the newcomer, for which nothing need be kept


class Ordering:
    """`add`, and `pop` what is due. `discarded` and `expired` count what is never delivered."""

    def __init__(self, rules: Rules, dropped: Callable[[Entry], object] | None = None) -> None:
        """`dropped` hears of each that is discarded or has expired."""
        self._dropped = dropped
        self.discarded = 0
        self.expired = 0
        self.length = 0
        self._early: list[tuple[int, int, Entry]] = []  # a heap of those whose StartTime is to come
        self._early_length = 0  # without those that are gone
        self.change(rules)

    def __len__(self) -> int:
        return self.length

    def change(self, rules: Rules) -> None:
        """What waits is sorted anew, and discarded down to the new limit."""
        entries = sorted(self.all(), key=lambda entry: entry.number) if self.length else []
        self._rules = rules
        self._ready = _Sorted(_DELIVER[rules.order])
        discard_key = _DISCARD.get(rules.discard)
        self._victims = _Sorted(discard_key) if rules.limit and discard_key is not None else None
        self._early = []
        self._early_length = 0
        self.length = 0
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """Over the limit somebody is discarded, maybe the newcomer."""
        if self._rules.limit and self.length >= self._rules.limit:
            self.discarded += 1
            if self._victims is None:
                self._drop(entry)
                return
            self._victims.push(entry)
            victim = self._victims.pop()
            assert victim is not None
            victim.gone = True
            self._drop(victim)
            if victim is entry:
                return
            if victim.start:
                self._early_length -= 1
        else:
            self.length += 1
            if self._victims is not None:
                self._victims.push(entry)
        if entry.start:
            heapq.heappush(self._early, (entry.start, entry.number, entry))
            self._early_length += 1
        else:
            self._ready.push(entry)

    def pop(self, now: int) -> Entry | None:
        """The next that is due; those whose time is over are dropped on the way."""
        self._release(now)
        while (found := self._ready.pop()) is not None:
            found.gone = True
            self.length -= 1
            if self._victims is not None:
                self._victims.tidy(self.length)
            if found.deadline > now:
                return found
            self.expired += 1
            self._drop(found)
        return None

    def pop_first(self, now: int, wanted: Callable[[Entry], bool]) -> Entry | None:
        """The first that is due and wanted; the others stay where they are."""
        self._release(now)
        while (found := self._ready.first(wanted)) is not None:
            found.gone = True
            self.length -= 1
            self._ready.tidy(self.length)
            if self._victims is not None:
                self._victims.tidy(self.length)
            if found.deadline > now:
                return found
            self.expired += 1
            self._drop(found)
        return None

    @property
    def next_start(self) -> int | None:
        """When the next early event is due."""
        return self._early[0][0] if self._early else None

    def due(self, now: int) -> int:
        """How many could be popped now, or a few more: some may have expired."""
        if self._early:
            self._release(now)
        return self.length - self._early_length

    def clear(self) -> None:
        self.length = 0
        self.change(self._rules)

    def _drop(self, entry: Entry) -> None:
        if self._dropped is not None:
            self._dropped(entry)

    def _release(self, now: int) -> None:
        while self._early and (self._early[0][0] <= now or self._early[0][2].gone):
            entry = heapq.heappop(self._early)[2]
            if not entry.gone:
                entry.start = 0
                self._early_length -= 1
                self._ready.push(entry)

    def all(self) -> Iterator[Entry]:
        yield from self._ready
        yield from (entry for _, _, entry in self._early if not entry.gone)


class _Sorted:
    """Entries by key, smallest first. Those that are gone are skipped."""

    def __init__(self, key: _Key) -> None:
        self._key = key
        self._run: deque[Entry] = deque()  # in order
        self._last = -NEVER * NEVER  # key of the run's last
        self._heap: list[tuple[int, Entry]] = []

    def push(self, entry: Entry) -> None:
        key = self._key(entry)
        if not self._run or key > self._last:
            self._run.append(entry)
            self._last = key
        else:
            heapq.heappush(self._heap, (key, entry))

    def pop(self) -> Entry | None:
        run, heap = self._run, self._heap
        while run and run[0].gone:
            run.popleft()
        while heap and heap[0][1].gone:
            heapq.heappop(heap)
        if heap and (not run or heap[0][0] < self._key(run[0])):
            return heapq.heappop(heap)[1]
        return run.popleft() if run else None

    def first(self, wanted: Callable[[Entry], bool]) -> Entry | None:
        """It stays where it is."""
        run = self._run
        while run and run[0].gone:
            run.popleft()
        best = next((entry for entry in run if not entry.gone and wanted(entry)), None)
        if self._heap:
            late = min(((key, entry) for key, entry in self._heap if not entry.gone and wanted(entry)), default=None)
            if late is not None and (best is None or late[0] < self._key(best)):
                return late[1]
        return best

    def tidy(self, alive: int) -> None:
        """Forget those that are gone when they are the most."""
        if len(self._run) + len(self._heap) > 2 * alive + 64:
            self._run = deque(entry for entry in self._run if not entry.gone)
            self._heap = [item for item in self._heap if not item[1].gone]
            heapq.heapify(self._heap)

    def __iter__(self) -> Iterator[Entry]:
        yield from (entry for entry in self._run if not entry.gone)
        yield from (entry for _, entry in self._heap if not entry.gone)
