"""A journal is a Source like any wire's: the contract suite runs on it, and a link delivers from it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from adapters.base import DeadLetterError, Delivery, Form, Payload, ReconnectError, Sink, Source
from adapters.memory.connection import MemoryPeer
from adapters.memory.settings import MemoryChannel
from adapters.memory.sink import MemorySink
from gateway.journal.delivery_codec import DeliveryCodec
from gateway.journal.journal import Journal
from gateway.journal.source import JournalSource
from gateway.links.link import Link, Pace
from tests.contract.test_source import (  # noqa: F401 - these are the tests
    test_acknowledging_a_delivery_of_an_earlier_connection_is_ignored,
    test_close_is_allowed_in_every_state_and_connect_after_it,
    test_deliveries_come_in_order_and_complete,
    test_ids_tell_deliveries_apart,
    test_no_thread_stays_behind,
    test_receive_before_connect_asks_to_connect,
    test_receive_gives_nothing_after_its_time_out,
    test_released_deliveries_come_again,
    test_unacknowledged_deliveries_come_again_and_acknowledged_ones_do_not,
    test_wake_before_receive_is_not_lost,
    test_wake_ends_a_blocked_receive,
)
from tests.contract.wires.base import Wire
from tests.unit.journal.rig import PATIENCE_SECS, QUICK, wait_for
from tests.unit.links.rig import Recorder, as_it_is, event, number


class JournalWire(Wire):
    def __init__(self, form: Form, journal: Journal[Delivery]) -> None:
        self.form = form
        self._form = form
        self._journal = journal
        self._fed = 0

    def make_source(self) -> Source:
        return JournalSource(self._journal, "contract", self._form)

    def make_sink(self) -> Sink:
        raise NotImplementedError

    def feed(self, payloads: Sequence[Payload]) -> None:
        deliveries = []
        for payload in payloads:
            self._fed += 1
            deliveries.append(Delivery(payload, f"id-{self._fed}", time.time()))
        self._journal.append(deliveries)

    def drain(self, count: int, timeout_secs: float = 20.0) -> list[Payload]:
        raise NotImplementedError

    def stop_peer(self) -> None:
        raise NotImplementedError

    def start_peer(self) -> None:
        raise NotImplementedError


@pytest.fixture(params=["event", "message"])
def wire(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Wire]:
    journal = Journal.open(tmp_path, DeliveryCodec(), QUICK)
    try:
        yield JournalWire(request.param, journal)
    finally:
        journal.close()


def append(journal: Journal[Delivery], numbers: Sequence[int]) -> None:
    safe = threading.Event()
    deliveries = [Delivery(event(n), f"id-{n}", time.time(), original=b"raw %d" % n) for n in numbers]
    journal.append(deliveries, on_safe=safe.set)
    assert safe.wait(PATIENCE_SECS)


def test_a_source_made_before_the_first_append_misses_nothing(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path, DeliveryCodec(), QUICK)
    source = JournalSource(journal, "late", "event")
    append(journal, [1, 2])
    source.connect()
    assert [number(d.payload) for d in source.receive(10, 1.0) if d.payload] == [1, 2]
    journal.close()
    with pytest.raises(ReconnectError):
        source.receive(1, 0.0)
    source.close()
    with pytest.raises(ReconnectError):
        source.connect()


def test_after_a_restart_deliveries_are_marked_as_redelivered(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path, DeliveryCodec(), QUICK)
    JournalSource(journal, "a", "event")
    append(journal, [1])
    journal.close()
    journal = Journal.open(tmp_path, DeliveryCodec(), QUICK)
    source = JournalSource(journal, "a", "event")
    append(journal, [2])
    source.connect()
    deliveries = source.receive(10, 1.0)
    deliveries += source.receive(10, 1.0) if len(deliveries) < 2 else []
    assert [(d.redelivered, d.original, d.id) for d in deliveries] == [
        (True, b"raw 1", "id-1"),
        (False, b"raw 2", "id-2"),
    ]
    journal.close()


def test_three_links_deliver_from_one_journal_over_a_restart(tmp_path: Path) -> None:
    """One of them has a sink that is down at first, and one refuses an event."""
    peers = {name: MemoryPeer() for name in ("a", "b", "c")}
    recorder = Recorder()

    def refuse_seven(delivery: Delivery) -> object:
        assert delivery.payload is not None
        if number(delivery.payload) == 7:
            raise DeadLetterError("TEST-SEVEN", "not seven")
        return as_it_is(delivery)

    def links(journal: Journal[Delivery]) -> list[Link]:
        made = []
        for name, peer in peers.items():
            sink = MemorySink(peer, MemoryChannel(endpoint="out", name="out"))
            source = JournalSource(journal, name, "event")
            step = refuse_seven if name == "c" else as_it_is
            made.append(Link(name, source, sink, step, recorder, recorder, Pace(window=30, batch=7, drain_secs=1.0)))  # type: ignore[arg-type]
        return made

    def arrived(name: str) -> list[int]:
        return [number(payload) for payload in peers[name].contents("out")]

    peers["b"].stop()
    journal = Journal.open(tmp_path, DeliveryCodec(), QUICK)
    running = links(journal)
    append(journal, range(50))
    for link in running:
        link.start()
    wait_for(lambda: len(arrived("a")) == 50 and len(arrived("c")) == 49)
    for link in running:
        link.stop()
        assert link.join(PATIENCE_SECS)
    journal.close()

    peers["b"].start()
    journal = Journal.open(tmp_path, DeliveryCodec(), QUICK)
    running = links(journal)
    for link in running:
        link.start()
    append(journal, range(50, 60))
    wait_for(lambda: len(arrived("a")) == 60 and len(arrived("b")) == 60 and len(arrived("c")) == 59)
    for link in running:
        link.stop()
        assert link.join(PATIENCE_SECS)
    assert arrived("a") == arrived("b") == list(range(60))
    assert arrived("c") == [n for n in range(60) if n != 7]
    assert [number(delivery.payload) for delivery, _ in recorder.letters if delivery.payload] == [7]
    assert all(place.pending == 0 for place in journal.status().links)
    journal.close()
