"""The short way of plain events through a queue, against the sorted one.

Whatever is done, the same events come out of both, and are told.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.cosnotification.service.engine.carried_event import CarriedAny, CarriedEvent
from adapters.cosnotification.service.engine.event_queue import Batching, EventQueue, Mapped, QueueRules
from adapters.cosnotification.service.engine.ordering import Order, Rules


class Sorted(EventQueue):
    """Takes no short way."""

    def _take_plain(self, most: int) -> list[CarriedEvent]:
        return []


class Both:
    """The two queues, on one clock. What they do is compared after every step."""

    def __init__(self) -> None:
        self.now = 1_000
        self.told: tuple[list[CarriedEvent], list[CarriedEvent]] = ([], [])
        self.queues = tuple(
            kind(QueueRules(), lambda: self.now, over=told.extend)
            for kind, told in zip((EventQueue, Sorted), self.told, strict=True)
        )
        self.taken: list[CarriedEvent] = []

    def ask(self, question: Callable[[EventQueue], Any]) -> Any:
        short, long = (question(queue) for queue in self.queues)
        assert short == long
        assert [len(queue) for queue in self.queues] == [len(self.queues[0])] * 2
        assert self.queues[0].discarded == self.queues[1].discarded
        assert self.queues[0].expired == self.queues[1].expired
        assert self.told[0] == self.told[1]
        return short


SOON = st.integers(-50, 200)
SAID = st.fixed_dictionaries(
    {},
    optional={"priority": st.integers(-2, 2), "timeout": st.integers(1, 100), "start": SOON, "stop": SOON},
)
PLAIN = st.just({})
MOSTLY_PLAIN = st.one_of(PLAIN, PLAIN, PLAIN, SAID)
RULES = st.builds(
    QueueRules,
    st.builds(
        Rules,
        st.sampled_from([order for order in Order if order is not Order.LIFO]),
        st.sampled_from(Order),
        st.sampled_from([0, 3, 10]),
    ),
    st.integers(-1, 1),
    st.sampled_from([0, 0, 40]),
    st.booleans(),
    st.booleans(),
)
OFTEN = {
    "put": MOSTLY_PLAIN,
    "put many": st.lists(MOSTLY_PLAIN, min_size=1, max_size=4),
    "take": st.tuples(st.integers(1, 4), st.integers(0, 30)),
}
SELDOM = {
    "map": st.tuples(st.none() | st.integers(-2, 2), st.none() | st.integers(0, 50)),
    "expire": st.integers(0, 60),
    "settle": st.none(),
    "wait": st.integers(1, 60),
    "pause": st.booleans(),
    "change": RULES,
    "first": st.integers(1, 3),
    "clear": st.none(),
}
WAYS = OFTEN | SELDOM
STEPS = st.sampled_from([*OFTEN] * 8 + [*SELDOM]).flatmap(lambda step: st.tuples(st.just(step), WAYS[step]))


def every(nth: int) -> Callable[[CarriedEvent], bool]:
    return lambda event: bool(event.any % nth == 0)


@settings(max_examples=100)
@given(RULES, st.lists(STEPS, min_size=20, max_size=40))
def test_plain_events_leave_in_the_order_of_the_rules(rules: QueueRules, steps: list[tuple[str, Any]]) -> None:
    both = Both()
    both.ask(lambda queue: queue.change(rules))
    numbers = itertools.count()

    def made(said: dict[str, int]) -> CarriedEvent:
        event = CarriedAny(next(numbers))
        event.arrived = both.now
        for name, value in said.items():
            setattr(event, name, value + 1_000 if name in ("start", "stop") else value)
        event.plain = not said
        return event

    for step, argument in steps:
        match step:
            case "put":
                event = made(argument)
                both.ask(lambda queue, event=event: queue.put(event))  # type: ignore[misc]
            case "put many":
                events = [made(said) for said in argument]
                both.ask(lambda queue, events=events: queue.put_many(events))  # type: ignore[misc]
            case "map":
                mapped = Mapped(made({}), *argument)
                both.ask(lambda queue, mapped=mapped: queue.put(mapped))  # type: ignore[misc]
            case "take":
                both.ask(EventQueue.settle)
                most, both.now = Batching(argument[0]), both.now + argument[1]
                both.taken = both.ask(lambda queue, most=most: queue.take(most, 0))  # type: ignore[misc]
            case "expire":
                both.now += argument
                both.ask(lambda queue: queue.expire(both.taken))
                both.ask(EventQueue.settle)
                both.taken = []
            case "settle":
                both.ask(EventQueue.settle)
                both.taken = []
            case "wait":
                both.now += argument
            case "pause":
                both.ask(EventQueue.pause if argument else EventQueue.resume)
            case "change":
                both.ask(lambda queue, rules=argument: queue.change(rules))  # type: ignore[misc]
            case "first":
                wanted = every(argument)
                both.ask(lambda queue, wanted=wanted: queue.take_first(wanted))  # type: ignore[misc]
            case "clear":
                both.ask(EventQueue.clear)
    both.ask(EventQueue.settle)
    both.ask(EventQueue.clear)
    assert len(both.queues[0]) == 0
