"""Where pushes of one source pass, or wait: for room at the gateway, and persistent ones until their events are safe.

- A best-effort event is accepted when it is written to the gateway. Without room there (`credit`) its push is held.
- A push with a persistent event is held until the gateway says that every such event of it is settled. A channel that pushes one
  event at a time therefore waits for the far side each time; sequences and several suppliers share the waits.
- Events that we pulled ourselves are handed over whenever there is room (`room`, `hand_over`): nobody waits for them.
- No push is held longer than `hold_secs`: then it fails with NotTaken, and the channel tries again. Where the gateway has its
  events already, that second push *joins* the first instead of becoming new events.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Protocol

from adapters.cosnotification.giop.held import Held

REMEMBERED: Final = 1000  # pushes that gave up, to know their retry by

Contents = list[Any]
PassOn = Callable[[int], None]
"""Writes events to the gateway; the first of them has this number."""


class NotTaken(Exception):
    """The events are not taken: whoever pushed them must push them again."""


class _Over(Protocol):
    """Whoever waits for the end of a push."""

    def set(self) -> None: ...


class _Push:
    """One push whose events the gateway has, until all of them are settled."""

    __slots__ = ("contents", "over", "unsettled")

    def __init__(self, contents: object, unsettled: int) -> None:
        self.contents = contents  # equal to what its retry brings
        self.unsettled = unsettled
        self.over: _Over = threading.Event()  # set when all are settled, or the gate is closed


class _Answer:
    """In place of a thread that waits."""

    def __init__(self, held: Held, push: _Push) -> None:
        self._held = held
        self._push = push

    def set(self) -> None:
        self._held.settle(self._push.unsettled == 0)


class Gate:
    """Threads of the ORB call `offer`, one that pulls `room` and `hand_over`, the thread that hears the gateway the rest."""

    def __init__(self, capacity: int, hold_secs: float, pass_on: Callable[[int, Contents], None]) -> None:
        """`pass_on(number, contents)` writes events to the gateway; the first has this number, the others the next ones."""
        self._credit = capacity
        self._hold_secs = hold_secs
        self._pass_on = pass_on
        self._lock = threading.Lock()
        self._room = threading.Condition(self._lock)
        self._open = True
        self._next = 0
        self._unsettled: dict[int, _Push] = {}  # persistent events by number
        self._given_up: list[_Push] = []  # oldest first

    def offer(self, contents: Contents, persistent: Sequence[int] = ()) -> None:
        """The events of one push, in order, and which of them (by index) are persistent.

        Returns when they are safe, each by its own reliability. Raises NotTaken.
        """
        deadline = time.monotonic() + self._hold_secs
        with self._lock:
            push = self._retried(contents) if persistent and self._given_up else None
            if push is None:
                self._wait_for_room(deadline)
                push = self._take(contents, persistent) if persistent else None
                if push is None:
                    self._hand_over(contents)
                    return
            push.over = over = threading.Event()
            if push.unsettled == 0:
                return
        over.wait(deadline - time.monotonic())
        if not self._is_over(push):
            raise NotTaken

    def _is_over(self, push: _Push) -> bool:
        """Whether all of it is settled. Else whoever waits for it gives up now, and will come again."""
        with self._lock:
            if push.unsettled == 0:
                return True
            push.over = threading.Event()
            self._given_up.append(push)
            del self._given_up[:-REMEMBERED]
        return False

    def take_at_once(self, count: int, pass_on: PassOn) -> bool:
        """Best-effort events, if there is room for them now. Does not wait."""
        with self._lock:
            return self._take_now(count, pass_on) is not None

    def hold(self, count: int, contents: object, pass_on: PassOn) -> bool | Held:
        """Events of which some may be persistent, if there is room for them now. Does not wait: the answer comes when the gateway
        settles the number of the first. `contents` is equal to that of a retry, and of nothing else."""
        with self._lock:
            push = self._retried(contents) if self._given_up else None
            if push is None:
                first = self._take_now(count, pass_on)
                if first is None:
                    return False
                push = self._unsettled[first] = _Push(contents, 1)
            if push.unsettled == 0:
                return True
            held = Held(self._hold_secs, lambda: self._is_over(push))
            push.over = _Answer(held, push)
            return held

    def _take_now(self, count: int, pass_on: PassOn) -> int | None:
        """The number of the first, with the lock held; None where they are not taken."""
        if self._credit <= 0 or not self._open:
            return None
        first = self._next
        pass_on(first)
        self._credit -= count
        self._next += count
        return first

    @property
    def full(self) -> bool:
        return self._credit <= 0

    def room(self, timeout_secs: float) -> int:
        """For how many events there is room, as soon as there is any; 0 after the time-out, or when closed."""
        with self._lock:
            self._room.wait_for(lambda: self._credit > 0 or not self._open, timeout_secs)
            return self._credit if self._open else 0

    def hand_over(self, contents: Contents) -> None:
        """Events that are here for good: nobody would give them again, so they are taken even when closed."""
        with self._lock:
            self._hand_over(contents)

    def _wait_for_room(self, deadline: float) -> None:
        """One free place is enough: a sequence is taken whole, and may overdraw."""
        while self._credit <= 0 and self._open:
            if not self._room.wait(deadline - time.monotonic()):
                raise NotTaken
        if not self._open:
            raise NotTaken

    def _take(self, contents: Contents, persistent: Sequence[int]) -> _Push:
        push = _Push(contents, len(persistent))
        first = self._hand_over(contents)
        for index in persistent:
            self._unsettled[first + index] = push
        return push

    def _hand_over(self, contents: Contents) -> int:
        """The number of the first. With the lock held, so that numbers arrive in order. What fails takes no room."""
        first = self._next
        self._pass_on(first, contents)
        self._credit -= len(contents)
        self._next += len(contents)
        return first

    def _retried(self, contents: object) -> _Push | None:
        """The push that had given up, if this is its retry."""
        for index, push in enumerate(self._given_up):
            if push.contents == contents:
                del self._given_up[index]
                return push
        return None

    def settled(self, numbers: Iterable[int]) -> None:
        with self._lock:
            for number in numbers:
                push = self._unsettled.pop(number, None)
                if push is not None:
                    push.unsettled -= 1
                    if push.unsettled == 0:
                        push.over.set()

    def credit(self, count: int) -> None:
        """The gateway has room for so many more."""
        with self._lock:
            self._credit += count
            self._room.notify_all()

    def close(self) -> None:
        """Every push that is held fails."""
        with self._lock:
            self._open = False
            for push in self._unsettled.values():
                push.over.set()
            self._room.notify_all()
