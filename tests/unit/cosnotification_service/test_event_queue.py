from __future__ import annotations

import threading

from adapters.cosnotification.service.engine.carried_event import CarriedAny, CarriedEvent
from adapters.cosnotification.service.engine.event_queue import UNITS_PER_SEC, Batching, EventQueue, Mapped, QueueRules
from adapters.cosnotification.service.engine.ordering import Order, Rules

PATIENCE_SECS = 20.0


def carried(**said: int) -> CarriedEvent:
    event = CarriedAny(None)
    for name, value in said.items():
        setattr(event, name, value)
    event.plain = said.keys() <= {"arrived", "debt"}
    return event


class Clock:
    def __init__(self) -> None:
        self.now = 1_000

    def __call__(self) -> int:
        return self.now


def test_what_is_put_is_taken_and_counts_until_it_is_settled() -> None:
    queue = EventQueue(QueueRules())
    events = [carried() for _ in range(3)]
    queue.put(events[0])
    queue.put_many(events[1:])
    assert queue.take(Batching(2), 0) == events[:2]
    assert len(queue) == 3
    queue.settle()
    assert len(queue) == 1


def test_a_limit_holds_though_nobody_takes() -> None:
    queue = EventQueue(QueueRules(Rules(Order.FIFO, Order.FIFO, 3)))
    events = [carried() for _ in range(10)]
    for event in events:
        queue.put(event)
        assert len(queue) <= 3
    assert queue.take(Batching(10), 0) == events[7:]
    assert queue.discarded == 7


def test_many_threads_put_while_one_takes() -> None:
    queue = EventQueue(QueueRules())
    threads = 4
    each = 500
    start = threading.Barrier(threads)

    def put(thread: int) -> None:
        start.wait()
        for number in range(each):
            queue.put(carried(arrived=thread * each + number))

    putters = [threading.Thread(target=put, args=(n,)) for n in range(threads)]
    for putter in putters:
        putter.start()
    got: list[int] = []
    while len(got) < threads * each:
        taken = queue.take(Batching(7), PATIENCE_SECS)
        assert taken, "an event was missed"
        got += [event.arrived for event in taken]
        queue.settle()
    for putter in putters:
        putter.join()
    for thread in range(threads):
        mine = [number for number in got if number // each == thread]
        assert mine == sorted(mine)
    assert sorted(got) == list(range(threads * each))


def test_a_paused_queue_gives_nothing_until_it_is_resumed() -> None:
    queue = EventQueue(QueueRules())
    queue.pause()
    queue.put(carried())
    assert queue.take(Batching(1), 0.01) == []
    queue.resume()
    assert len(queue.take(Batching(1), 0)) == 1


def test_a_batch_goes_when_it_is_full_or_its_time_has_come() -> None:
    clock = Clock()
    queue = EventQueue(QueueRules(), clock)
    queue.put(carried())
    queue.put(carried())
    assert queue.take(Batching(3, 100), 0) == []
    clock.now += 99
    assert queue.take(Batching(3, 100), 0) == []
    clock.now += 1
    assert len(queue.take(Batching(3, 100), 0)) == 2
    queue.put_many([carried() for _ in range(4)])
    assert len(queue.take(Batching(3, 100), 0)) == 3
    assert queue.take(Batching(3, 100), 0) == []
    clock.now += 100
    assert len(queue.take(Batching(3, 100), 0)) == 1


def test_timeout_counts_from_arrival_and_stop_time_is_absolute() -> None:
    clock = Clock()
    queue = EventQueue(QueueRules(timeout=50), clock)
    queue.put(carried(arrived=1_000, timeout=10))
    queue.put(carried(arrived=1_000, stop=1_020))
    queue.put(carried(arrived=1_000))
    queue.put(carried(arrived=1_000, timeout=1_000, stop=1_005))
    clock.now = 1_012
    taken = queue.take(Batching(4), 0)
    assert [event.stop for event in taken] == [1_020, None]
    assert queue.expired == 2
    clock.now = 1_019
    assert queue.expire(taken) == taken
    clock.now = 1_020
    assert queue.expire(taken) == taken[1:]
    clock.now = 1_050
    assert queue.expire(taken[1:]) == []


def test_times_mean_nothing_where_they_are_not_supported() -> None:
    clock = Clock()
    queue = EventQueue(QueueRules(timeout=1, starts=False, stops=False), clock)
    queue.put(carried(arrived=0, timeout=10, stop=5, start=9_999))
    assert len(queue.take(Batching(1), 0)) == 1


def test_priority_of_the_event_then_of_the_consumer_unless_mapped() -> None:
    queue = EventQueue(QueueRules(priority=5))
    low, unsaid, mapped = carried(priority=1), carried(), carried(priority=1)
    queue.put(low)
    queue.put(unsaid)
    queue.put(Mapped(mapped, 9, None))
    assert queue.take(Batching(3), 0) == [mapped, unsaid, low]


def test_what_was_taken_may_expire_while_its_consumer_cannot_be_reached() -> None:
    clock = Clock()
    queue = EventQueue(QueueRules(), clock)
    queue.put(carried(arrived=1_000, timeout=10))
    queue.put(carried(arrived=1_000, timeout=100))
    taken = queue.take(Batching(2), 0)
    clock.now = 1_050
    assert queue.expire(taken) == taken[1:]
    assert queue.expired == 1
    assert len(queue) == 1


def test_a_taker_that_sleeps_is_woken() -> None:
    queue = EventQueue(QueueRules())
    got: list[int] = []
    taker = threading.Thread(target=lambda: got.append(len(queue.take(Batching(1), PATIENCE_SECS))))
    taker.start()
    queue.put(carried())
    taker.join(PATIENCE_SECS)
    assert got == [1]


def test_what_has_run_out_does_not_hide_what_is_to_come() -> None:
    clock = Clock()
    queue = EventQueue(QueueRules(), clock)
    queue.put(carried(arrived=1_000, stop=1))
    queue.put(carried(start=clock.now + UNITS_PER_SEC // 100))
    asked: list[int] = []

    def never_stop() -> bool:
        asked.append(clock.now)
        clock.now += UNITS_PER_SEC
        return False

    assert len(queue.take(Batching(1), PATIENCE_SECS, stop=never_stop)) == 1
    assert len(asked) == 1, "it slept until the start, not until the time-out"


def test_the_first_that_is_wanted_is_taken_and_the_others_keep_their_places() -> None:
    clock = Clock()
    queue = EventQueue(QueueRules(), clock)
    low, high, early, dead = carried(), carried(priority=5), carried(start=2_000), carried(arrived=1, timeout=10)
    others = [carried() for _ in range(200)]
    queue.put_many([*others[:100], low, early, dead, high, *others[100:]])
    assert queue.take_first(lambda event: event in (low, high)) is high, "in the order of the queue, not of arrival"
    assert queue.take_first(lambda event: event in (low, high)) is low
    assert queue.take_first(lambda event: event is early) is None, "its time has not come"
    assert queue.take_first(lambda event: event is dead) is None, "its time is over"
    assert queue.expired == 1
    clock.now = 2_000
    assert queue.take_first(lambda event: event is early) is early
    assert queue.take(Batching(500), 0) == others
    queue.settle()
    assert len(queue) == 0


def test_nothing_is_taken_first_while_paused() -> None:
    queue = EventQueue(QueueRules())
    queue.put(event := carried())
    queue.pause()
    assert queue.take_first(lambda _: True) is None
    queue.resume()
    assert queue.take_first(lambda _: True) is event


def test_of_a_batch_that_is_taken_apart_the_rest_is_settled_though_one_expires() -> None:
    """A batch that was refused goes event by event; what expires meanwhile must not take what has gone with it."""
    clock, over = Clock(), list[CarriedEvent]()
    queue = EventQueue(QueueRules(), clock, over=over.extend)
    events = [carried(), carried(arrived=1_000, timeout=10), carried()]
    queue.put_many(events)
    assert queue.take(Batching(3), 0) == events
    clock.now = 2_000
    assert queue.expire(events[1:2]) == []
    assert over == events[1:2]
    queue.settle()
    assert over == [events[1], events[0], events[2]]
    assert len(queue) == 0


def test_the_consumers_own_timeout_ends_plain_events() -> None:
    clock = Clock()
    queue = EventQueue(QueueRules(timeout=50), clock)
    queue.put(carried(arrived=1_000))
    queue.put(late := carried(arrived=1_040))
    clock.now = 1_060
    assert queue.take(Batching(2), 0) == [late]
    assert queue.expired == 1


def test_nothing_overtakes_what_was_sorted_in() -> None:
    queue = EventQueue(QueueRules())
    first, second, third = carried(priority=0), carried(), carried()
    queue.put_many([first, second])
    assert queue.take(Batching(1), 0) == [first]
    queue.put(third)
    assert queue.take(Batching(1), 0) == [second]
    assert queue.take(Batching(1), 0) == [third]
