"""What happens to a push: passed on, held, told to come again, joined."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import Queue

import pytest

from adapters.cosnotification.worker.gate import Contents, Gate, NotTaken

SOON = 10.0


@pytest.fixture
def pushes() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


class Rig:
    def __init__(self, capacity: int = 10, hold_secs: float = 30.0) -> None:
        self.passed: Queue[tuple[int, Contents]] = Queue()
        self.gate = Gate(capacity, hold_secs, lambda first, contents: self.passed.put((first, contents)))


def test_a_best_effort_push_returns_at_once() -> None:
    rig = Rig()
    rig.gate.offer(["a"])
    rig.gate.offer(["b", "c"])
    rig.gate.offer(["d"])
    assert [rig.passed.get(timeout=SOON) for _ in range(3)] == [(0, ["a"]), (1, ["b", "c"]), (3, ["d"])]


def test_a_persistent_push_returns_when_all_its_events_are_settled(pushes: ThreadPoolExecutor) -> None:
    rig = Rig()
    push = pushes.submit(rig.gate.offer, ["a", "b"], [0, 1])
    assert rig.passed.get(timeout=SOON) == (0, ["a", "b"])
    rig.gate.settled([1])
    assert not push.done()
    rig.gate.settled([0])
    assert push.result(SOON) is None


def test_only_the_persistent_events_of_a_push_are_waited_for(pushes: ThreadPoolExecutor) -> None:
    rig = Rig()
    push = pushes.submit(rig.gate.offer, ["a", "b", "c"], [1])
    assert rig.passed.get(timeout=SOON) == (0, ["a", "b", "c"])
    rig.gate.settled([1])
    assert push.result(SOON) is None


def test_without_room_a_push_is_held_until_there_is_some(pushes: ThreadPoolExecutor) -> None:
    rig = Rig(capacity=1)
    rig.gate.offer(["a"])
    push = pushes.submit(rig.gate.offer, ["b"])
    assert rig.passed.get(timeout=SOON) == (0, ["a"])
    assert rig.passed.empty()
    rig.gate.credit(1)
    assert push.result(SOON) is None
    assert rig.passed.get(timeout=SOON) == (1, ["b"])


def test_without_room_a_push_is_not_held_for_ever() -> None:
    rig = Rig(capacity=1, hold_secs=0.05)
    rig.gate.offer(["a"])
    for persistent in ([], [0]):
        with pytest.raises(NotTaken):
            rig.gate.offer(["b"], persistent)
    assert rig.passed.qsize() == 1


def test_the_retries_of_a_push_that_gave_up_join_it(pushes: ThreadPoolExecutor) -> None:
    rig = Rig(hold_secs=0.1)
    for _ in range(3):  # the sink stays away for long: many retries, one event
        with pytest.raises(NotTaken):
            rig.gate.offer(["a"], [0])
    assert rig.passed.get(timeout=SOON) == (0, ["a"])
    again = pushes.submit(rig.gate.offer, ["a"], [0])
    rig.gate.settled([0])
    assert again.result(SOON) is None
    assert rig.passed.empty()


def test_the_retry_of_a_push_that_is_settled_meanwhile_returns_at_once(pushes: ThreadPoolExecutor) -> None:
    rig = Rig(hold_secs=0.1)
    with pytest.raises(NotTaken):
        rig.gate.offer(["a"], [0])
    rig.gate.settled([0])
    rig.gate.offer(["a"], [0])
    assert rig.passed.qsize() == 1
    later = pushes.submit(rig.gate.offer, ["a"], [0])  # an event of its own that looks the same
    assert [rig.passed.get(timeout=SOON) for _ in range(2)] == [(0, ["a"]), (1, ["a"])]
    rig.gate.settled([1])
    assert later.result(SOON) is None


def test_events_that_look_the_same_are_two_events(pushes: ThreadPoolExecutor) -> None:
    rig = Rig()
    both = [pushes.submit(rig.gate.offer, ["a"], [0]) for _ in range(2)]
    assert sorted(rig.passed.get(timeout=SOON)[0] for _ in range(2)) == [0, 1]
    rig.gate.settled([0, 1])
    assert [push.result(SOON) for push in both] == [None, None]


def test_close_fails_every_push_that_is_held(pushes: ThreadPoolExecutor) -> None:
    rig = Rig(capacity=1)
    held = pushes.submit(rig.gate.offer, ["a"], [0])
    rig.passed.get(timeout=SOON)
    without_room = pushes.submit(rig.gate.offer, ["b"])
    rig.gate.close()
    for push in (held, without_room):
        with pytest.raises(NotTaken):
            push.result(SOON)
    with pytest.raises(NotTaken):
        rig.gate.offer(["c"])


def test_what_cannot_be_handed_over_takes_no_room() -> None:
    taken: list[int] = []

    def pass_on(first: int, contents: list[object]) -> None:
        if contents == ["bad"]:
            raise ValueError("it cannot travel")
        taken.append(first)

    gate = Gate(1, 0.1, pass_on)
    for persistent in ((), (0,)):
        with pytest.raises(ValueError, match="cannot travel"):
            gate.offer(["bad"], persistent)
    gate.offer(["good"])
    assert taken == [0]
