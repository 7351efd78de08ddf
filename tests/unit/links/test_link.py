"""What gateway/links/link.py promises: order, back-pressure, no loss, recovery, and the accounting sum."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future

import pytest

from adapters.base import Confirmation, DeadLetterError, Delivery, Outgoing, Refusal, RetryLaterError, StopError
from adapters.memory.settings import MemoryChannel
from adapters.memory.sink import MemorySink
from adapters.memory.source import MemorySource
from adapters.settings_base import BackOff
from gateway.links.accounts import Accounts, Balance
from gateway.links.link import Link, Pace
from gateway.links.step import FILTERED, Filtered
from mappings.errors import Expired, MappingError
from tests.unit.links.rig import QUICK, Rig, as_it_is, number, running, wait_for


def test_events_arrive_in_order_and_are_settled() -> None:
    with running(Rig()) as rig:
        rig.feed(200)
        wait_for(lambda: rig.link.balance().delivered == 200)
        assert rig.arrived() == list(range(200))
        assert rig.link.balance() == Balance(received=200, delivered=200)
    assert rig.inlet.contents("in") == []


def test_each_event_is_in_exactly_one_account() -> None:
    def sort_out(delivery: Delivery) -> Outgoing | Filtered:
        assert delivery.payload is not None
        match number(delivery.payload) % 5:
            case 0:
                return FILTERED
            case 1:
                raise Expired("too late")
            case 2:
                raise MappingError("MAP-TEST", "cannot be translated", path="filterable_data[0]")
            case 3:
                raise ZeroDivisionError("a fault of ours")
        return as_it_is(delivery)

    with running(Rig(sort_out)) as rig:
        rig.feed(50)
        wait_for(lambda: rig.link.balance().pending == 0 and rig.link.balance().received == 50)
        balance = rig.link.balance()
        assert balance == Balance(received=50, delivered=10, filtered=10, expired=10, dead_lettered=20)
        assert rig.arrived() == [n for n in range(50) if n % 5 == 4]
        assert {error.code for _, error in rig.recorder.letters} == {"MAP-TEST", "LNK-TRANSLATION"}
    assert rig.inlet.contents("in") == []


def test_the_source_is_acknowledged_only_after_the_sink_has_confirmed() -> None:
    rig = Rig()
    rig.outlet.hold()
    with running(rig):
        rig.feed(5)
        wait_for(lambda: len(rig.arrived()) == 5)
        time.sleep(0.05)
        assert rig.link.balance() == Balance(received=5, pending=5)
        rig.outlet.release_held()
        wait_for(lambda: rig.link.balance().delivered == 5)


def test_no_more_than_the_window_is_taken_from_the_source() -> None:
    rig = Rig(pace=Pace(window=7, batch=3, source_back_off=QUICK, sink_back_off=QUICK, retry=QUICK))
    rig.outlet.hold()
    with running(rig):
        rig.feed(100)
        wait_for(lambda: rig.link.balance().pending == 7)
        time.sleep(0.1)
        assert rig.link.balance().pending == 7
        assert len(rig.inlet.contents("in")) == 93
        rig.outlet.release_held()
        wait_for(lambda: rig.link.balance().delivered == 100)
        assert rig.arrived() == list(range(100))


def test_nothing_is_taken_from_the_source_while_the_sink_is_down() -> None:
    rig = Rig()
    rig.outlet.stop()
    with running(rig):
        rig.feed(10)
        wait_for(lambda: rig.link.status().source == "ready" and rig.link.status().sink == "down")
        time.sleep(0.1)
        assert rig.link.balance().received == 0
        rig.outlet.start()
        wait_for(lambda: rig.link.balance().delivered == 10)


def test_a_peer_that_is_down_at_the_start_is_said_once_and_found_later() -> None:
    rig = Rig()
    rig.inlet.stop()
    rig.outlet.stop()
    with running(rig):
        time.sleep(0.3)  # dozens of attempts
        assert rig.recorder.lines.count(("source", "down", "MEM-DOWN")) == 1
        assert rig.recorder.lines.count(("sink", "down", "MEM-DOWN")) == 1
        status = rig.link.status()
        assert status.state == "down"
        assert status.sink_error is not None
        rig.inlet.start()
        rig.outlet.start()
        rig.feed(3)
        wait_for(lambda: rig.link.balance().delivered == 3)
        assert rig.link.status().state == "ready"
        assert ("sink", "ready", None) in rig.recorder.lines


def test_a_link_without_traffic_tells_of_a_sink_that_died_and_came_back() -> None:
    rig = Rig()
    with running(rig):
        wait_for(lambda: rig.link.status().state == "ready")
        rig.outlet.stop()
        wait_for(lambda: rig.link.status().sink == "down")
        assert ("sink", "down", "MEM-CUT") in rig.recorder.lines
        rig.outlet.start()
        wait_for(lambda: rig.link.status().state == "ready")


def test_a_sink_that_dies_gets_every_unconfirmed_event_again_in_order() -> None:
    rig = Rig()
    rig.outlet.hold()
    with running(rig):
        rig.feed(30)
        wait_for(lambda: rig.link.balance().pending == 30)
        rig.outlet.stop()
        rig.outlet.release_held()
        wait_for(lambda: rig.link.status().sink == "down")
        assert rig.link.balance().pending == 30
        rig.outlet.start()
        wait_for(lambda: rig.link.balance().delivered == 30)
        # At least once: the batches that were stored before the cut are there twice, each copy in order.
        assert rig.arrived()[-30:] == list(range(30))


def test_a_source_that_dies_delivers_again_what_was_not_acknowledged() -> None:
    rig = Rig()
    rig.outlet.hold()
    with running(rig):
        rig.feed(10)
        wait_for(lambda: rig.link.balance().pending == 10)
        rig.inlet.cut()
        rig.outlet.release_held()
        wait_for(lambda: rig.link.balance().delivered >= 20)
        assert sorted(set(rig.arrived())) == list(range(10))
        assert rig.link.balance().holds


def test_an_event_refused_for_good_is_dead_lettered_and_the_rest_passes() -> None:
    rig = Rig()
    rig.outlet.refuse(lambda payload: number(payload) % 10 == 3)
    with running(rig):
        rig.feed(40)
        wait_for(lambda: rig.link.balance().pending == 0 and rig.link.balance().received == 40)
        assert rig.link.balance() == Balance(received=40, delivered=36, dead_lettered=4)
        assert [number(d.payload) for d, _ in rig.recorder.letters if d.payload] == [3, 13, 23, 33]
        assert {error.code for _, error in rig.recorder.letters} == {"MEM-REFUSED"}


def test_an_event_that_the_source_could_not_decode_is_dead_lettered() -> None:
    rig = Rig()
    broken = Delivery(None, "x", time.time(), error=DeadLetterError("COR-TEST", "garbage"), original=b"\x00")
    source_receive = rig.link._source.receive
    sent = []

    def receive(limit: int, timeout_secs: float) -> list[Delivery]:
        if not sent:
            sent.append(broken)
            return [broken]
        return source_receive(limit, timeout_secs)

    rig.link._source.receive = receive  # type: ignore[method-assign]
    with running(rig):
        wait_for(lambda: rig.link.balance().dead_lettered == 1)
        assert rig.recorder.letters == [(broken, broken.error)]


def test_a_full_sink_is_tried_again_later() -> None:
    rig = Rig()
    rig.outlet.capacity = 5
    with running(rig):
        rig.feed(12)
        wait_for(lambda: ("sink", "ready", "MEM-FULL") in rig.recorder.lines)
        assert rig.link.balance().holds
        rig.outlet.capacity = None
        wait_for(lambda: rig.link.balance().delivered == 12)
        assert rig.arrived() == list(range(12))


def test_an_event_to_be_retried_goes_before_those_that_came_after_it() -> None:
    rig = Rig(pace=Pace(window=50, batch=1, source_back_off=QUICK, sink_back_off=QUICK, retry=QUICK))
    real_send = rig.link._departures._sink.send
    failures = iter([RetryLaterError("MEM-FULL", "not now")] * 3)

    def send(batch):  # type: ignore[no-untyped-def]
        if (failure := next(failures, None)) is not None:
            raise failure
        return real_send(batch)

    rig.link._departures._sink.send = send  # type: ignore[method-assign]
    with running(rig):
        rig.feed(5)
        wait_for(lambda: rig.link.balance().delivered == 5)
        assert rig.arrived() == list(range(5))


def test_dead_letters_that_cannot_be_kept_hold_the_link_and_lose_nothing() -> None:
    def refuse_three(delivery: Delivery) -> Outgoing:
        assert delivery.payload is not None
        if number(delivery.payload) == 3:
            raise MappingError("MAP-TEST", "cannot be translated")
        return as_it_is(delivery)

    rig = Rig(refuse_three)
    rig.recorder.disk_full = True
    with running(rig):
        rig.feed(6)
        wait_for(lambda: ("dead-letters", "down", "LNK-DEAD-LETTER-STORE") in rig.recorder.lines)
        assert rig.link.balance().dead_lettered == 0
        rig.recorder.disk_full = False
        wait_for(lambda: rig.link.balance().pending == 0 and rig.link.balance().received == 6)
        assert rig.link.balance() == Balance(received=6, delivered=5, dead_lettered=1)
        assert ("dead-letters", "ready", None) in rig.recorder.lines


def test_stopping_with_a_full_disk_leaves_the_event_with_the_source() -> None:
    def refuse(delivery: Delivery) -> Outgoing:
        raise MappingError("MAP-TEST", "cannot be translated")

    rig = Rig(refuse)
    rig.recorder.disk_full = True
    with running(rig):
        rig.feed(1)
        wait_for(lambda: ("dead-letters", "down", "LNK-DEAD-LETTER-STORE") in rig.recorder.lines)
    assert rig.link.balance() == Balance(received=1, pending=1)
    assert len(rig.inlet.contents("in")) == 1


def test_stop_drains_what_is_in_flight() -> None:
    rig = Rig()
    rig.outlet.hold()
    rig.link.start()
    rig.feed(20)
    wait_for(lambda: rig.link.balance().pending == 20)
    rig.link.stop()
    threading.Timer(0.1, rig.outlet.release_held).start()
    assert rig.link.join(20)
    assert rig.link.balance() == Balance(received=20, delivered=20)
    assert rig.inlet.contents("in") == []
    assert rig.recorder.lines[-1] == ("link", "stopped", None)


def test_what_cannot_be_drained_stays_with_the_source() -> None:
    rig = Rig(pace=Pace(window=50, batch=10, drain_secs=0.1, source_back_off=QUICK, sink_back_off=QUICK, retry=QUICK))
    rig.outlet.hold()
    with running(rig):
        rig.feed(20)
        wait_for(lambda: rig.link.balance().pending == 20)
    assert rig.link.balance() == Balance(received=20, pending=20)
    assert [number(p) for p in rig.inlet.contents("in")] == list(range(20))


def test_a_setting_that_cannot_work_stops_the_link_and_says_why() -> None:
    rig = Rig()

    def connect() -> None:
        raise StopError("COR-TEST", "no such address", hint="mend orb.listen")

    rig.link._departures._sink.connect = connect  # type: ignore[method-assign]
    rig.link.start()
    assert rig.link.join(20)
    assert rig.recorder.lines[-1] == ("link", "stopped", "COR-TEST")
    assert rig.link.status().state == "stopped"


def test_a_fault_of_ours_stops_the_link_alone_and_is_seen() -> None:
    rig = Rig()

    def receive(limit: int, timeout_secs: float) -> list[Delivery]:
        raise KeyError("oh")

    rig.link._source.receive = receive  # type: ignore[method-assign]
    rig.link.start()
    assert rig.link.join(20)
    assert rig.recorder.lines[-1] == ("link", "stopped", "LNK-BUG")


@pytest.mark.parametrize("seed", range(3))
def test_whatever_breaks_nothing_is_lost_and_the_sum_holds_at_every_moment(seed: int) -> None:
    """Cuts on both sides at random moments while 2000 events pass; the seed is in the test's name."""
    chance = random.Random(seed)
    total = 2000
    with running(Rig()) as rig:
        for start in range(0, total, 100):
            rig.feed(100, first=start)
            for _ in range(3):
                time.sleep(chance.uniform(0, 0.01))
                chance.choice([rig.inlet.cut, rig.outlet.cut, rig.outlet.hold, rig.outlet.release_held, lambda: None])()
                assert rig.link.balance().holds
        rig.outlet.release_held()
        wait_for(lambda: set(rig.arrived()) == set(range(total)) and rig.link.balance().pending == 0)
        first_arrivals = list(dict.fromkeys(rig.arrived()))
        assert first_arrivals == list(range(total)), "the first copy of each event arrives in order"
        assert rig.link.balance().delivered >= total


def test_events_that_wait_longer_than_they_may_are_dead_lettered_and_younger_ones_delivered() -> None:
    pace = Pace(window=50, batch=10, source_back_off=QUICK, sink_back_off=QUICK, retry=QUICK, max_age_secs=0.2)
    rig = Rig(pace=pace)
    rig.outlet.hold()
    with running(rig):
        rig.feed(15)
        wait_for(lambda: rig.link.balance().pending == 15)
        rig.outlet.stop()
        wait_for(lambda: rig.link.balance().dead_lettered == 15)
        assert {error.code for _, error in rig.recorder.letters} == {"LNK-TOO-OLD"}
        assert [number(delivery.payload) for delivery, _ in rig.recorder.letters if delivery.payload] == list(range(15))
        assert rig.inlet.contents("in") == []
        rig.outlet.release_held()
        rig.outlet.start()
        rig.feed(3, first=100)
        wait_for(lambda: rig.link.balance().delivered == 3)
        assert rig.link.balance() == Balance(received=18, delivered=3, dead_lettered=15)


def test_a_link_goes_on_with_the_counts_of_the_one_before_it() -> None:
    accounts = Accounts()
    accounts.received(5)
    accounts.settled("delivered", 3)
    accounts.give_back()
    assert accounts.balance() == Balance(received=3, delivered=3)
    with running(Rig(accounts=accounts)) as rig:
        rig.feed(4)
        wait_for(lambda: rig.link.balance().delivered == 7)
        assert rig.link.balance() == Balance(received=7, delivered=7)


def test_a_link_goes_on_with_the_source_of_the_one_before_it_and_what_was_not_settled() -> None:
    before = Rig(
        pace=Pace(window=50, batch=10, drain_secs=0.1, source_back_off=QUICK, sink_back_off=QUICK, retry=QUICK)
    )
    before.outlet.hold()
    before.feed(10)
    before.link.start()
    wait_for(lambda: before.link.balance().pending == 10)
    before.link.stop(keep_source=True)
    assert before.link.join(20.0)
    handover = before.link.handover
    assert handover is not None
    assert len(handover.unsettled) == 10
    after = Rig(handover=handover)
    with running(after):
        before.feed(5, first=10)
        wait_for(lambda: after.link.balance().delivered == 15)
        assert after.arrived() == list(range(15))
        assert ("source", "connecting", None) not in after.recorder.lines
    assert before.inlet.contents("in") == []


def test_a_source_that_is_not_connected_is_not_handed_over() -> None:
    rig = Rig()
    rig.inlet.stop()
    rig.link.start()
    rig.link.stop(keep_source=True)
    assert rig.link.join(20.0)
    assert rig.link.handover is None


def test_what_has_waited_for_the_sink_is_translated_again_before_it_is_sent() -> None:
    lifetimes: dict[str, float] = {}

    def with_time_to_live(delivery: Delivery) -> Outgoing:
        assert delivery.payload is not None
        left = 0.8 + number(delivery.payload) * 1000 - (time.time() - delivery.received_at)
        if left <= 0:
            raise Expired("its time is over")
        lifetimes[delivery.id] = left
        return as_it_is(delivery)

    rig = Rig(with_time_to_live)
    rig.outlet.hold()
    with running(rig):
        rig.feed(4)  # number 0 lives for less than a second, the others for long
        wait_for(lambda: rig.link.balance().pending == 4)
        rig.outlet.stop()
        first = dict(lifetimes)
        time.sleep(1.0)
        rig.outlet.release_held()
        rig.outlet.start()
        wait_for(lambda: rig.link.balance().pending == 0)
        assert rig.link.balance() == Balance(received=4, delivered=3, expired=1)
        assert all(lifetimes[id_] <= first[id_] - 1.0 for id_ in list(first)[1:])
    assert rig.inlet.contents("in") == []


@pytest.mark.parametrize(
    "pause_secs", [0.0, 0.05]
)  # the link hears of the refusals all at once, or while it waits after the first
def test_flights_that_are_all_to_be_retried_keep_their_order_before_what_comes_later(pause_secs: float) -> None:
    """The far side takes batches without confirming them, says "later" to one after the other, and then takes everything."""
    rig = Rig()
    refusing = threading.Event()
    refusing.set()
    arrived: list[int] = []
    open_confirmations: list[Confirmation] = []

    class LaterSink(MemorySink):
        def send(self, batch: Sequence[Outgoing]) -> Confirmation:
            confirmation: Confirmation = Future()
            if refusing.is_set():
                open_confirmations.append(confirmation)
            else:
                arrived.extend(number(outgoing.payload) for outgoing in batch)
                threading.Timer(0.1, confirmation.set_result, [()]).start()
            return confirmation

    sink = LaterSink(rig.outlet, MemoryChannel(endpoint="out", name="out"))
    source = MemorySource(rig.inlet, MemoryChannel(endpoint="in", name="in"))
    later = BackOff(first_ms=300, longest_ms=300)
    pace = Pace(window=100, batch=10, source_back_off=QUICK, sink_back_off=QUICK, retry=later)
    link = Link("a", source, sink, as_it_is, rig.recorder, rig.recorder, pace)
    rig.feed(30)
    link.start()
    try:
        wait_for(lambda: len(open_confirmations) == 3)
        for confirmation in open_confirmations[:3]:
            confirmation.set_exception(RetryLaterError("MEM-FULL", "later"))
            refusing.clear()
            time.sleep(pause_secs)
        rig.feed(30, first=30)
        wait_for(lambda: link.balance().delivered == 60)
        assert arrived == list(range(60))
    finally:
        link.stop()
        assert link.join(20.0)


@pytest.mark.parametrize("looks", range(1, 9))
def test_refusals_that_come_while_the_link_looks_at_its_flights_do_not_turn_their_order(looks: int) -> None:
    """Just after the link has looked at its first flight, and before it looks at the second, all three are refused."""
    rig = Rig()
    arrived: list[int] = []
    sent: list[Confirmation] = []

    class Refused(Future[tuple[Refusal, ...]]):
        looked = 0

        def done(self) -> bool:
            answer = super().done()
            if self is sent[0] and len(sent) == 3:
                self.looked += 1
                if self.looked == looks:
                    for confirmation in sent[:3]:
                        confirmation.set_exception(RetryLaterError("MEM-FULL", "later"))
            return answer

    class LaterSink(MemorySink):
        def send(self, batch: Sequence[Outgoing]) -> Confirmation:
            confirmation: Confirmation = Refused() if len(sent) < 3 else Future()
            sent.append(confirmation)
            if len(sent) > 3:
                arrived.extend(number(outgoing.payload) for outgoing in batch)
                confirmation.set_result(())
            return confirmation

    sink = LaterSink(rig.outlet, MemoryChannel(endpoint="out", name="out"))
    source = MemorySource(rig.inlet, MemoryChannel(endpoint="in", name="in"))
    pace = Pace(window=100, batch=10, source_back_off=QUICK, sink_back_off=QUICK, retry=QUICK)
    link = Link("a", source, sink, as_it_is, rig.recorder, rig.recorder, pace)
    rig.feed(30)
    link.start()
    try:
        wait_for(lambda: link.balance().delivered == 30)
        assert arrived == list(range(30))
    finally:
        link.stop()
        assert link.join(20.0)
