"""What happens to a push: accepted, held, told to come again, joined."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from adapters.base import ReconnectError
from adapters.cosnotification.inlet import Inlet, NotTaken
from mappings.idl_types import LONG
from mappings.model import Property, StructuredEvent

SOON = 10.0


def event(number: int) -> StructuredEvent:
    return StructuredEvent("d", "t", f"n{number}", (), (Property("n", LONG, number),))


@pytest.fixture
def pushes() -> ThreadPoolExecutor:
    with ThreadPoolExecutor(8) as pool:
        yield pool  # type: ignore[misc]


Offer = Callable[[], "Future[None]"]


def opened(capacity: int = 10, hold_secs: float = 30.0) -> Inlet:
    inlet = Inlet(capacity, hold_secs)
    inlet.open()
    return inlet


def names(deliveries: list) -> list[str]:  # type: ignore[type-arg]
    return [delivery.payload.event_name for delivery in deliveries]


def test_a_best_effort_push_returns_at_once() -> None:
    inlet = opened()
    inlet.offer(event(1))
    assert names(inlet.take(5, 0)) == ["n1"]


def test_a_persistent_push_returns_when_its_event_is_acknowledged(pushes: ThreadPoolExecutor) -> None:
    inlet = opened()
    push = pushes.submit(inlet.offer, event(1), persistent=True)
    (delivery,) = inlet.take(1, SOON)
    assert delivery.persistent
    assert not push.done()
    inlet.acknowledge([delivery.token])
    assert push.result(SOON) is None


def test_a_full_buffer_holds_the_push_until_there_is_room(pushes: ThreadPoolExecutor) -> None:
    inlet = opened(capacity=2)
    inlet.offer(event(1))
    inlet.offer(event(2))
    push = pushes.submit(inlet.offer, event(3))
    assert names(inlet.take(1, SOON)) == ["n1"]
    assert push.result(SOON) is None
    assert names(inlet.take(5, SOON)) == ["n2", "n3"]


def test_a_full_buffer_does_not_hold_for_ever() -> None:
    inlet = opened(capacity=1, hold_secs=0.05)
    inlet.offer(event(1))
    with pytest.raises(NotTaken):
        inlet.offer(event(2))
    assert names(inlet.take(5, 0)) == ["n1"]


def test_an_event_that_nobody_asked_for_is_forgotten_with_its_push() -> None:
    inlet = opened(hold_secs=0.05)
    with pytest.raises(NotTaken):
        inlet.offer(event(1), persistent=True)
    assert inlet.take(5, 0) == []


def test_the_retry_of_an_event_that_the_link_has_joins_it(pushes: ThreadPoolExecutor) -> None:
    inlet = opened(hold_secs=0.2)
    first = pushes.submit(inlet.offer, event(1), persistent=True)
    (delivery,) = inlet.take(1, SOON)
    with pytest.raises(NotTaken):
        first.result(SOON)
    for _ in range(2):  # the sink stays away for long: many retries, one event
        with pytest.raises(NotTaken):
            inlet.offer(event(1), persistent=True)
    assert inlet.take(5, 0) == []
    again = pushes.submit(inlet.offer, event(1), persistent=True)
    inlet.acknowledge([delivery.token])
    assert again.result(SOON) is None
    assert inlet.take(5, 0) == []


def test_the_retry_of_an_event_that_is_settled_meanwhile_returns_at_once(pushes: ThreadPoolExecutor) -> None:
    inlet = opened(hold_secs=0.1)
    first = pushes.submit(inlet.offer, event(1), persistent=True)
    (delivery,) = inlet.take(1, SOON)
    with pytest.raises(NotTaken):
        first.result(SOON)
    inlet.acknowledge([delivery.token])
    inlet.offer(event(1), persistent=True)  # the retry
    assert inlet.take(5, 0) == []
    later = pushes.submit(inlet.offer, event(1), persistent=True)  # an event of its own that looks the same
    (second,) = inlet.take(1, SOON)
    inlet.acknowledge([second.token])
    assert later.result(SOON) is None


def test_events_that_look_the_same_are_two_events(pushes: ThreadPoolExecutor) -> None:
    inlet = opened()
    both = [pushes.submit(inlet.offer, event(1), persistent=True) for _ in range(2)]
    got = inlet.take(1, SOON)
    while len(got) < 2:
        got += inlet.take(2, SOON)
    assert len({delivery.id for delivery in got}) == 2
    inlet.acknowledge(delivery.token for delivery in got)
    assert [push.result(SOON) for push in both] == [None, None]


def test_close_fails_held_pushes_and_keeps_every_event_in_order(pushes: ThreadPoolExecutor) -> None:
    inlet = opened()
    inlet.offer(event(1))
    inlet.offer(event(2))
    handed = inlet.take(1, SOON)
    held = pushes.submit(inlet.offer, event(3), persistent=True)
    while len(inlet._waiting) < 2:
        threading.Event().wait(0.001)
    inlet.close()
    with pytest.raises(NotTaken):
        held.result(SOON)
    with pytest.raises(NotTaken):
        inlet.offer(event(4))
    inlet.open()
    again = inlet.take(5, 0)
    assert names(again) == ["n1", "n2", "n3"]
    assert [delivery.redelivered for delivery in again] == [True, False, False]
    assert again[0].id == handed[0].id
    retry = pushes.submit(inlet.offer, event(3), persistent=True)
    while not inlet._handed or again[2].token.hold is None:
        threading.Event().wait(0.001)
    inlet.acknowledge(delivery.token for delivery in again)
    assert retry.result(SOON) is None
    assert inlet.take(5, 0) == []


def test_an_acknowledgement_of_an_earlier_connection_counts_while_the_event_waits() -> None:
    inlet = opened()
    inlet.offer(event(1))
    handed = inlet.take(1, SOON)
    inlet.close()
    inlet.open()
    inlet.acknowledge([handed[0].token])
    assert inlet.take(5, 0) == []
    inlet.acknowledge([handed[0].token])  # twice does no harm


def test_a_failure_shows_when_everything_is_taken() -> None:
    inlet = opened()
    inlet.offer(event(1))
    inlet.fail(ReconnectError("COR-GONE", "gone"))
    assert names(inlet.take(5, 0)) == ["n1"]
    with pytest.raises(ReconnectError):
        inlet.take(5, SOON)
