"""Events with a StartTime (OC-VAR-4): held until then, in the order of their times, and nothing else with them."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from adapters.base import DeadLetterError, Delivery, Outgoing
from adapters.settings_base import BackOff
from gateway.links.link import Pace
from gateway.links.start_time import WaitingRoom, holding, starts_at
from gateway.links.step import FILTERED, Filtered, NotYet
from gateway.links.translation import compile_step, holds_back
from mappings.errors import Expired
from mappings.idl_types import LONG
from mappings.known_types import UTC_T
from mappings.model import Property, StructuredEvent
from mappings.passage import Translation
from mappings.translate import Options
from tests.unit.links.rig import QUICK, Rig, as_it_is, event, running, wait_for

TICKS_TO_1970 = 122_192_928_000_000_000
NOON = 1_700_000_000.0


def start(at: float) -> Property:
    ticks = TICKS_TO_1970 + int(at * 10_000_000)
    return Property("StartTime", UTC_T, {"time": ticks, "inacclo": 0, "inacchi": 0, "tdf": 0})


def later(number: int, at: float, *header: Property) -> StructuredEvent:
    return replace(event(number), variable_header=(start(at), *header))


def delivery(payload: StructuredEvent) -> Delivery:
    return Delivery(payload, "1", NOON)


def test_the_time_of_an_event() -> None:
    assert starts_at(delivery(later(1, NOON))) == pytest.approx(NOON, abs=1e-3)
    assert starts_at(delivery(event(1))) == 0.0
    wrong = replace(event(1), variable_header=(Property("StartTime", LONG, 7),))
    assert starts_at(delivery(wrong)) == 0.0  # OC-VAR-6: a malformed hint must not lose the event


def test_only_what_passes_and_is_early_waits() -> None:
    step = holding(as_it_is, 60.0, lambda: NOON)
    assert step(delivery(later(1, NOON + 60))) == NotYet(pytest.approx(NOON + 60, abs=1e-3))
    for passes in (event(1), later(1, NOON), later(1, NOON - 60)):
        assert isinstance(step(delivery(passes)), Outgoing)

    def filtered(_: Delivery) -> Outgoing | Filtered:
        return FILTERED

    def expired(_: Delivery) -> Outgoing | Filtered:
        raise Expired("too late")

    early = delivery(later(1, NOON + 1))
    assert holding(filtered, 60.0, lambda: NOON)(early) is FILTERED
    with pytest.raises(Expired):
        holding(expired, 60.0, lambda: NOON)(early)


def test_what_is_too_far_ahead_is_a_dead_letter() -> None:
    with pytest.raises(DeadLetterError) as told:
        holding(as_it_is, 60.0, lambda: NOON)(delivery(later(1, NOON + 61)))
    assert told.value.code == "LNK-START-TIME"
    assert "hold_secs" in (told.value.hint or "")


@pytest.mark.parametrize(
    ("forms", "delay", "expected"),
    [
        (("event", "message"), False, True),
        (("event", "message"), True, False),  # ActiveMQ is told: AMQ_SCHEDULED_DELAY
        (("event", "event"), False, False),  # the channel there minds it
        (("message", "event"), False, False),
        (("message", "message"), False, False),
    ],
)
def test_where_it_is_ours_to_mind(forms: Any, delay: bool, expected: bool) -> None:
    assert holds_back(Translation(*forms, Options(scheduled_delay=delay))) is expected


def test_a_waiting_room_gives_what_is_due_by_its_time() -> None:
    room = WaitingRoom()
    now = time.time()
    a, b, c, far = (delivery(event(n)) for n in range(4))
    for each, until in ((a, now - 1), (far, now + 900), (b, now - 3), (c, now - 2)):
        room.add(each, until)
    assert room.wait_secs(5.0) == 0.0
    assert room.take_due() == [b, c, a]
    assert (room.take_due(), list(room.deliveries), len(room)) == ([], [far], 1)
    assert room.wait_secs(5.0) == 5.0
    assert 800 < room.wait_secs(10_000.0) <= 900
    assert room.take(1) == [far]
    assert room.wait_secs(5.0) == 5.0


def patient(secs: float = 60.0, **pace: Any) -> Rig:
    made = Pace(
        **{"window": 50, "batch": 10, "drain_secs": 5.0, "source_back_off": QUICK, "sink_back_off": QUICK, **pace}
    )
    return Rig(holding(as_it_is, secs), made)


def far_away() -> float:
    return time.time() + 1000.0


def test_what_comes_behind_passes() -> None:
    rig = patient(1001.0)
    with running(rig):
        rig.inlet.put("in", [later(1, far_away()), event(2)])
        wait_for(lambda: rig.link.balance().delivered == 1)
        assert rig.arrived() == [2]
        status = rig.link.status()
        assert (status.held, status.balance.pending, status.balance.holds) == (1, 1, True)


def test_the_held_come_in_their_time_and_by_it() -> None:
    rig = patient()
    now = time.time()
    with running(rig):
        rig.inlet.put("in", [later(1, now + 2.0), later(2, now + 1.0)])
        wait_for(lambda: rig.link.balance().delivered == 2)
        assert time.time() >= now + 2.0
        assert rig.link.status().held == 0
    assert rig.arrived() == [2, 1]


def test_held_events_are_within_the_window() -> None:
    """They are in memory: a source that sends nothing but these is held back."""
    rig = patient(1001.0, window=5)
    with running(rig):
        rig.inlet.put("in", [later(n, far_away()) for n in range(20)])
        wait_for(lambda: rig.link.status().held == 5)
        time.sleep(0.2)
        assert rig.link.balance().received == 5


def test_what_is_due_at_once_is_sent_in_batches_that_the_sink_takes() -> None:
    rig = Rig(holding(as_it_is, 60.0), Pace(window=50, batch=10, source_back_off=QUICK, sink_back_off=QUICK))
    sizes: list[int] = []
    sink = rig.link._departures._sink
    real_send = sink.send

    def send(batch):  # type: ignore[no-untyped-def]
        sizes.append(len(batch))
        return real_send(batch)

    sink.send = send  # type: ignore[method-assign]
    at = time.time() + 0.5
    with running(rig):
        rig.inlet.put("in", [later(n, at) for n in range(45)])
        wait_for(lambda: rig.link.status().held == 45)
        wait_for(lambda: rig.link.balance().delivered == 45)
    assert rig.arrived() == list(range(45))
    assert max(sizes) == 10


def test_what_is_held_when_the_link_stops_comes_again() -> None:
    rig = patient(1001.0)
    with running(rig):
        rig.inlet.put("in", [later(1, far_away()), event(2)])
        wait_for(lambda: rig.link.balance().delivered == 1)
        wait_for(lambda: rig.link.status().held == 1)
    again = rig.inlet.contents("in")
    assert [e.event_name for e in again if isinstance(e, StructuredEvent)] == ["n1"]


def test_a_link_that_goes_on_with_the_source_goes_on_holding() -> None:
    before = patient(1001.0)
    before.link.start()
    before.inlet.put("in", [later(1, far_away())])
    wait_for(lambda: before.link.status().held == 1)
    before.link.stop(keep_source=True)
    assert before.link.join(20.0)
    handover = before.link.handover
    assert handover is not None
    assert len(handover.unsettled) == 1
    after = Rig(holding(as_it_is, 1001.0), handover=handover)
    with running(after):
        wait_for(lambda: after.link.status().held == 1)
    assert after.arrived() == []


def test_waiting_for_its_time_is_not_waiting_for_the_sink() -> None:
    """retry.max_age_secs counts from the StartTime."""
    rig = patient(max_age_secs=0.5, retry=BackOff(first_ms=5, longest_ms=20))
    with running(rig):
        rig.inlet.put("in", [later(1, time.time() + 1.0)])
        wait_for(lambda: rig.arrived() == [1])
    assert rig.recorder.letters == []


def test_what_its_time_has_kept_is_not_too_old_for_a_sink_that_is_full_just_then() -> None:
    rig = patient(max_age_secs=50.0, retry=QUICK)
    source = rig.link._source
    receive = source.receive
    source.receive = lambda limit, timeout_secs: [  # type: ignore[method-assign]
        replace(each, received_at=each.received_at - 100.0) for each in receive(limit, timeout_secs)
    ]
    rig.outlet.capacity = 0
    with running(rig):
        rig.inlet.put("in", [event(1), later(2, time.time() - 1.0)])
        wait_for(lambda: rig.link.balance().dead_lettered == 1)
        rig.outlet.capacity = None
        wait_for(lambda: rig.link.balance().delivered == 1)
    assert rig.arrived() == [2]
    assert [error.code for _, error in rig.recorder.letters] == ["LNK-TOO-OLD"]


def test_an_event_whose_time_to_live_ends_first_has_expired() -> None:
    """It is translated again when its time has come."""
    from mappings.known_types import TIME_T

    step = compile_step(Translation("event", "message"))
    rig = Rig(holding(step, 60.0))
    with running(rig):
        brief = Property("Timeout", TIME_T, 3_000_000)  # 0.3 s
        rig.inlet.put("in", [later(1, time.time() + 0.8, brief)])
        wait_for(lambda: rig.link.balance().expired == 1)
