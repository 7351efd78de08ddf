"""The promises of adapters.base.Source."""

from __future__ import annotations

import threading
import time

import pytest

from adapters.base import Delivery, ReconnectError, Source
from tests.contract.wires.base import Wire, connected_source

PATIENCE_SECS = 20.0


def receive(source: Source, count: int, limit: int = 100) -> list[Delivery]:
    """Exactly `count` deliveries, or fewer when patience ends."""
    got: list[Delivery] = []
    deadline = time.monotonic() + PATIENCE_SECS
    while len(got) < count and time.monotonic() < deadline:
        got += source.receive(min(limit, count - len(got)), 1.0)
    return got


def reconnect(source: Source) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while True:
        try:
            return source.connect()
        except ReconnectError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def test_deliveries_come_in_order_and_complete(wire: Wire) -> None:
    with connected_source(wire) as source:
        wire.feed([wire.payload(n) for n in range(20)])
        numbers = []
        while len(numbers) < 20 and (deliveries := source.receive(7, PATIENCE_SECS)):
            numbers += [wire.number(d.payload) for d in deliveries]
            assert len(deliveries) <= 7
            assert all(d.error is None and d.id and abs(d.received_at - time.time()) < 60 for d in deliveries)
            source.acknowledge(deliveries)
        assert numbers == list(range(20))


def test_ids_tell_deliveries_apart(wire: Wire) -> None:
    with connected_source(wire) as source:
        wire.feed([wire.payload(1)] * 3)
        ids = set()
        for _ in range(3):
            deliveries = receive(source, 1)
            ids |= {d.id for d in deliveries}
            source.acknowledge(deliveries)
        assert len(ids) == 3


def test_receive_gives_nothing_after_its_time_out(wire: Wire) -> None:
    with connected_source(wire) as source:
        assert source.receive(10, 0.05) == []


def test_wake_ends_a_blocked_receive(wire: Wire) -> None:
    with connected_source(wire) as source:
        timer = threading.Timer(0.2, source.wake)
        timer.start()
        started = time.monotonic()
        assert source.receive(10, 60.0) == []
        assert time.monotonic() - started < 30.0
        timer.join()


def test_wake_before_receive_is_not_lost(wire: Wire) -> None:
    with connected_source(wire) as source:
        source.wake()
        started = time.monotonic()
        assert source.receive(10, 60.0) == []
        assert time.monotonic() - started < 30.0


def test_unacknowledged_deliveries_come_again_and_acknowledged_ones_do_not(wire: Wire) -> None:
    source = wire.make_source()
    source.connect()
    try:
        if not source.capabilities.acknowledges:
            pytest.skip("this wire has no acknowledgements")
        wire.feed([wire.payload(1)])
        source.acknowledge(receive(source, 1))
        wire.feed([wire.payload(2)])
        assert len(receive(source, 1)) == 1
    finally:
        source.close()
    reconnect(source)
    try:
        again = receive(source, 1)
        assert [wire.number(d.payload) for d in again] == [2]
        source.acknowledge(again)
        assert source.receive(10, 0.3) == []
    finally:
        source.close()


def test_released_deliveries_come_again(wire: Wire) -> None:
    source = wire.make_source()
    source.connect()
    try:
        wire.feed([wire.payload(7)])
        source.release(receive(source, 1))
        deadline = time.monotonic() + 3.0
        again: list[Delivery] = []
        while not again and time.monotonic() < deadline:
            again = source.receive(1, 0.5)
        if not again:  # a wire may keep them for the next connection
            source.close()
            reconnect(source)
            again = receive(source, 1)
        assert [wire.number(d.payload) for d in again] == [7]
        source.acknowledge(again)
    finally:
        source.close()


def test_acknowledging_a_delivery_of_an_earlier_connection_is_ignored(wire: Wire) -> None:
    source = wire.make_source()
    source.connect()
    try:
        wire.feed([wire.payload(3)])
        stale = receive(source, 1)
        source.close()
        reconnect(source)
        again = receive(source, 1)
        source.acknowledge(stale)
        source.acknowledge(again)
        assert [wire.number(d.payload) for d in again] == [3]
    finally:
        source.close()


def test_close_is_allowed_in_every_state_and_connect_after_it(wire: Wire) -> None:
    source = wire.make_source()
    source.close()
    source.connect()
    source.close()
    source.close()
    source.connect()
    try:
        wire.feed([wire.payload(5)])
        deliveries = receive(source, 1)
        assert [wire.number(d.payload) for d in deliveries] == [5]
        source.acknowledge(deliveries)
    finally:
        source.close()


def test_receive_before_connect_asks_to_connect(wire: Wire) -> None:
    source = wire.make_source()
    with pytest.raises(ReconnectError):
        source.receive(1, 0.1)


def test_a_dying_peer_means_reconnect_and_nothing_unacknowledged_is_lost(wire: Wire) -> None:
    source = wire.make_source()
    source.connect()
    try:
        wire.feed([wire.payload(1), wire.payload(2)])
        first = receive(source, 1)
        assert [wire.number(d.payload) for d in first] == [1]
        wire.stop_peer()
        with pytest.raises(ReconnectError):
            _receive_until_it_fails(source)
        source.close()
        with pytest.raises(ReconnectError):
            source.connect()
        wire.start_peer()
        reconnect(source)
        if not wire.keeps_over_restart:
            wire.feed([wire.payload(1), wire.payload(2)])
        numbers: list[int] = []
        while len(numbers) < 2 and (deliveries := receive(source, 1)):
            numbers += [wire.number(d.payload) for d in deliveries]
            source.acknowledge(deliveries)
        assert numbers == [1, 2]
    finally:
        source.close()


def _receive_until_it_fails(source: Source) -> None:
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline:
        source.receive(1, 0.5)


def test_no_thread_stays_behind(wire: Wire) -> None:
    with connected_source(wire) as warm_up:
        warm_up.receive(1, 0.05)
    before = {t.ident for t in threading.enumerate()}
    for _ in range(3):
        with connected_source(wire) as source:
            source.receive(1, 0.05)
    deadline = time.monotonic() + 10.0
    while (
        left := [t for t in threading.enumerate() if t.ident not in before and not _orb(t)]
    ) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def _orb(thread: threading.Thread) -> bool:
    """The ORB's own worker threads show up here when they first run Python code; the ORB ends them when they idle."""
    return type(thread).__name__ in ("WorkerThread", "_DummyThread")
