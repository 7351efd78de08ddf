"""How a link sends: several lanes in order by key, a breaker, a ratio of dead letters that stops it, expiry while events wait."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Future

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.base import (
    Capabilities,
    Confirmation,
    DeadLetterError,
    Delivery,
    Outgoing,
    ReconnectError,
    Refusal,
    RetryLaterError,
    Sink,
    StopError,
)
from adapters.memory.settings import MemoryChannel
from adapters.memory.sink import MemorySink
from gateway.links.breaker import Breaker
from gateway.links.dead_letter_ratio import DeadLetterRatio
from gateway.links.lanes import LanedSink, key_of, round_robin
from gateway.links.link import Pace
from mappings.errors import Expired
from mappings.idl_types import LONG
from mappings.model import Headers, Message, MessageProperty, Property, StructuredEvent
from tests.unit.links.rig import QUICK, Rig, as_it_is, event, number, running, wait_for

# Lanes


class SlowLane(Sink):
    """Takes what it gets, and confirms when a test says so."""

    capabilities = Capabilities("event", True, True, False, True, True)

    def __init__(self) -> None:
        self.taken: list[Outgoing] = []
        self.open: list[tuple[Confirmation, int]] = []
        self.connected = False
        self.trouble: Exception | None = None

    def connect(self) -> None:
        if self.trouble is not None:
            raise self.trouble
        self.connected = True

    def send(self, batch: Sequence[Outgoing]) -> Confirmation:
        if self.trouble is not None:
            raise self.trouble
        self.taken += batch
        confirmation: Confirmation = Future()
        self.open.append((confirmation, len(batch)))
        return confirmation

    def close(self) -> None:
        self.connected = False
        for confirmation, _ in self.open:
            if not confirmation.done():
                confirmation.set_exception(ReconnectError("X", "closed"))


def keyed(key: str, number: int) -> Outgoing:
    payload = StructuredEvent("", "", f"{number}", (), (Property("Element", LONG, key),))
    return Outgoing(payload, f"{key}-{number}")


def laned(count: int) -> tuple[list[SlowLane], LanedSink]:
    lanes = [SlowLane() for _ in range(count)]
    sink = LanedSink(lanes, key_of(["Element"]))
    sink.connect()
    return lanes, sink


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=20), max_size=20), st.integers(1, 5))
def test_equal_keys_go_by_one_lane_in_their_order(batches: list[list[str]], count: int) -> None:
    lanes, sink = laned(count)
    sent = defaultdict(list)
    number = 0
    for keys in batches:
        batch = []
        for key in keys:
            batch.append(keyed(key, number))
            sent[key].append(f"{key}-{number}")
            number += 1
        sink.send(batch)
    for key, ids in sent.items():
        holding = [lane for lane in lanes if any(outgoing.id.startswith(key) for outgoing in lane.taken)]
        assert len(holding) == 1
        assert [outgoing.id for outgoing in holding[0].taken if outgoing.id.startswith(key)] == ids


@given(st.randoms(use_true_random=False), st.integers(1, 8))
def test_confirmations_complete_whole_and_in_the_order_of_the_sends(chance: object, count: int) -> None:
    lanes, sink = laned(3)
    done: list[int] = []
    wholes = []
    for index in range(count):
        whole = sink.send([keyed(key, index) for key in "abcdef"])
        whole.add_done_callback(lambda _, index=index: done.append(index))  # type: ignore[misc]
        wholes.append(whole)
    parts = [confirmation for lane in lanes for confirmation, _ in lane.open]
    chance.shuffle(parts)  # type: ignore[attr-defined]
    for confirmation in parts:
        assert len(done) < count
        confirmation.set_result(())
    assert done == list(range(count))
    assert all(whole.result(0) == () for whole in wholes)


def test_refusals_name_the_events_of_the_whole_batch_and_the_worst_error_counts() -> None:
    lanes, sink = laned(2)
    batch = [keyed(key, 0) for key in "abcdefgh"]
    whole = sink.send(batch)
    refused = []
    for lane in lanes:
        (confirmation, count) = lane.open[0]
        refused.append(lane.taken[count - 1].id)
        confirmation.set_result((Refusal(count - 1, DeadLetterError("X", "no")),))
    assert sorted(batch[refusal.index].id for refusal in whole.result(0)) == sorted(refused)
    later = sink.send(batch)
    lanes[0].open[1][0].set_exception(RetryLaterError("FULL", "later"))
    lanes[1].open[1][0].set_result(())
    assert isinstance(later.exception(0), RetryLaterError)
    lost = sink.send(batch)
    lanes[0].open[2][0].set_exception(RetryLaterError("FULL", "later"))
    lanes[1].open[2][0].set_exception(ReconnectError("GONE", "gone"))
    assert isinstance(lost.exception(0), ReconnectError)
    left = sink.send(batch)
    sink.close()
    assert isinstance(left.exception(0), ReconnectError)


def test_a_lane_that_cannot_connect_leaves_none_connected() -> None:
    lanes, sink = laned(3)
    sink.close()
    lanes[2].trouble = ReconnectError("GONE", "gone")
    with pytest.raises(ReconnectError):
        sink.connect()
    assert [lane.connected for lane in lanes] == [False] * 3


def test_keys_are_found_in_messages_and_events_and_missing_ones_share_a_lane() -> None:
    message = Message(Headers(JMSType="t"), (MessageProperty("p", "int", 1),))
    assert key_of(["p", "JMSType", "none"])(Outgoing(message, "x")) == [1, "t", None]
    assert key_of(["Number", "type_name", "none"])(Outgoing(event(3), "x")) == [3, "Alarm", None]
    keys = round_robin()
    assert [keys(Outgoing(message, "x")) for _ in range(3)] == [0, 1, 2]


def test_a_link_by_several_lanes_loses_nothing_and_keeps_each_key_in_order() -> None:
    rig = Rig()
    lanes = [MemorySink(rig.outlet, MemoryChannel(endpoint="out", name="out")) for _ in range(4)]
    by_seven = LanedSink(lanes, lambda outgoing: number(outgoing.payload) % 7)
    rig.link._departures._sink = rig.link._sink_end._end = by_seven
    with running(rig):
        rig.feed(300)
        wait_for(lambda: rig.link.balance().delivered >= 100)
        rig.outlet.cut()
        wait_for(lambda: rig.link.balance().delivered == 300)
        for key in range(7):
            came = [n for n in dict.fromkeys(rig.arrived()) if n % 7 == key]
            assert came == sorted(came)
        assert set(rig.arrived()) == set(range(300))


# The breaker


def test_the_breaker() -> None:
    breaker = Breaker(3, 0.05)
    assert [breaker.failed() for _ in range(3)] == [False, False, True]
    assert not breaker.lets_pass
    time.sleep(0.06)
    assert breaker.lets_pass
    assert breaker.state == "half_open"
    assert not breaker.failed(), "it was told already"
    assert not breaker.lets_pass
    time.sleep(0.06)
    assert breaker.lets_pass
    assert breaker.succeeded()
    assert not breaker.succeeded()
    assert breaker.state == "closed"
    never = Breaker(0, 10)
    assert not any(never.failed() for _ in range(100))
    assert never.lets_pass


class Flapping(MemorySink):
    """Lets itself be connected, and breaks when it is sent to."""

    broken = True
    sends = 0

    def send(self, batch: Sequence[Outgoing]) -> Confirmation:
        if self.broken:
            self.sends += 1
            raise ReconnectError("FLAP", "it breaks when it is used")
        return super().send(batch)


def test_a_sink_that_breaks_again_and_again_is_left_alone_and_tried_with_one_batch() -> None:
    from adapters.settings_base import BackOff

    pace = Pace(window=50, batch=5, drain_secs=5.0, source_back_off=QUICK, sink_back_off=QUICK,
                retry=BackOff(first_ms=5, longest_ms=400), breaker=4)  # fmt: skip
    rig = Rig(pace=pace)
    sink = Flapping(rig.outlet, MemoryChannel(endpoint="out", name="out"))
    rig.link._departures._sink = rig.link._sink_end._end = sink
    with running(rig):
        rig.feed(30)
        wait_for(lambda: any(code == "LNK-BREAKER" for _, _, code in rig.recorder.lines))
        before = sink.sends
        assert before == 4
        time.sleep(0.2)
        assert sink.sends == before
        wait_for(lambda: sink.sends == before + 1)
        sink.broken = False
        wait_for(lambda: rig.link.balance().delivered == 30)
        assert rig.arrived() == list(range(30))
        assert rig.recorder.lines[-1] == ("sink", "ready", None)
        assert sum(code == "LNK-BREAKER" for _, _, code in rig.recorder.lines) == 1


# Too many dead letters


def test_the_ratio_is_that_of_the_last_events_and_a_few_do_not_count() -> None:
    ratio = DeadLetterRatio(0.5, 10)
    ratio.count(0, 9)  # too few to tell
    with pytest.raises(StopError) as stopped:
        ratio.count(0, 1)
    assert stopped.value.code == "LNK-DEAD-LETTER-RATIO"
    other = DeadLetterRatio(0.5, 10)
    other.count(0, 5)
    for _ in range(100):
        other.count(1, 0)
    other.count(0, 5)
    with pytest.raises(StopError):
        other.count(0, 1)


def test_a_link_stops_when_too_many_events_are_dead_letters_and_loses_none() -> None:
    rig = Rig(
        pace=Pace(
            window=50,
            batch=5,
            source_back_off=QUICK,
            sink_back_off=QUICK,
            retry=QUICK,
            stop_at_ratio=0.3,
            stop_after=20,
        )
    )
    rig.outlet.refuse(lambda payload: number(payload) >= 100)
    with running(rig):
        rig.feed(200)
        wait_for(lambda: rig.link.status().state == "stopped")
        error = rig.link.status().error
        assert error is not None
        assert error.code == "LNK-DEAD-LETTER-RATIO"
        balance = rig.link.balance()
        assert balance.delivered == 100
        assert 6 <= balance.dead_lettered <= 15
        assert balance.holds
    left = [number(payload) for payload in rig.inlet.contents("in")]
    dead = [number(delivery.payload) for delivery, _ in rig.recorder.letters if delivery.payload is not None]
    assert sorted(dead + left) == list(range(100, 200)), (
        "what was neither delivered nor dead-lettered is with the source"
    )


# Expiry, attempts


def expiring(at: dict[int, float]) -> object:
    def step(delivery: Delivery) -> Outgoing:
        assert delivery.payload is not None
        if time.monotonic() > at.get(number(delivery.payload), 1e12):
            raise Expired("its time is over")
        return as_it_is(delivery)

    return step


@pytest.mark.parametrize("kept", [False, True])
def test_what_expires_while_the_sink_is_away_is_counted_then_and_kept_if_asked(
    kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.links.departures.EXPIRY_SECS", 0.05)
    soon = time.monotonic() + 0.5
    pace = Pace(window=50, batch=10, source_back_off=QUICK, sink_back_off=QUICK, retry=QUICK, dead_letter_expired=kept)
    rig = Rig(expiring({1: soon, 3: soon}), pace)  # type: ignore[arg-type]
    rig.outlet.hold()
    with running(rig):
        rig.feed(5)
        wait_for(lambda: rig.link.balance().pending == 5)
        rig.outlet.stop()
        wait_for(lambda: rig.link.balance().pending == 3)
        balance = rig.link.balance()
        assert (balance.expired, balance.dead_lettered) == ((0, 2) if kept else (2, 0))
        assert [error.code for _, error in rig.recorder.letters] == ["MAP-EXPIRED"] * 2 * kept
        rig.outlet.release_held()
        rig.outlet.start()
        wait_for(lambda: rig.link.balance().delivered == 3)


def test_a_letter_says_how_often_it_was_tried() -> None:
    rig = Rig()
    rig.outlet.capacity = 0
    with running(rig):
        rig.feed(1)
        time.sleep(0.1)
        rig.outlet.refuse(lambda _: True)
        rig.outlet.capacity = None
        wait_for(lambda: rig.link.balance().dead_lettered == 1)
    assert rig.recorder.attempts == [1], "what was not taken at all was no attempt"
    assert threading.active_count() < 100
