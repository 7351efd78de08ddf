"""What gateway/inlet/inlet.py promises: acknowledged when safe, in order, held back by a disk that takes nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.base import Delivery, StopError
from adapters.memory.connection import MemoryPeer
from adapters.memory.settings import MemoryChannel
from adapters.memory.source import MemorySource
from gateway.inlet.inlet import BATCH, Inlet
from gateway.inlet.intake import durability
from gateway.journal.delivery_codec import DeliveryCodec
from gateway.journal.disk import Disk
from gateway.journal.errors import JournalError
from gateway.journal.journal import Journal
from gateway.links.observer import State
from mappings.errors import IsthmusError
from tests.unit.journal.rig import QUICK as QUICK_JOURNAL
from tests.unit.journal.rig import BadDisk
from tests.unit.links.rig import PATIENCE_SECS, QUICK, event, number, wait_for


class Recorder:
    def __init__(self) -> None:
        self.lines: list[tuple[str, str | None]] = []

    def inlet_changed(self, channel: str, state: State, error: IsthmusError | None, attempts: int) -> None:
        self.lines.append((state, error.code if error else None))

    def journal_found(self, channel: str, finding: JournalError) -> None:
        raise AssertionError(finding)

    def journal_held(self, channel: str, reason: JournalError) -> None:
        raise AssertionError("the journal tells its own observer")

    def journal_released(self, channel: str, held_secs: float) -> None:
        raise AssertionError("the journal tells its own observer")


class SlowDisk(Disk):
    """Syncs of segments wait until told."""

    def __init__(self) -> None:
        self.may_sync = threading.Event()
        self.may_sync.set()

    def sync(self, descriptor: int) -> None:
        assert self.may_sync.wait(PATIENCE_SECS)
        super().sync(descriptor)


class Rig:
    def __init__(self, folder: Path, disk: Disk | None = None, safe: str = "by_event", **options: object) -> None:
        self.peer = MemoryPeer()
        self.source = MemorySource(self.peer, MemoryChannel(endpoint="in", name="in"))
        self.journal: Journal[Delivery] = Journal.open(
            folder,
            DeliveryCodec(),
            replace(QUICK_JOURNAL, **{"segment_bytes": 10_000, **options}),  # type: ignore[arg-type]
            disk=disk,
        )
        self.cursor = self.journal.cursor("a")
        self.recorder = Recorder()
        self.inlet = Inlet("in", self.source, self.journal, durability([safe]), QUICK, self.recorder, 5.0)  # type: ignore[list-item]

    def feed(self, count: int, first: int = 0) -> None:
        self.peer.put("in", [event(n) for n in range(first, first + count)])

    def unacknowledged(self) -> int:
        return len(self.source._unsettled)

    def journalled(self) -> list[int]:
        """What a link has not read yet."""
        numbers = []
        while entries := self.cursor.read(100, 0.0):
            numbers += [number(entry.item.payload) for entry in entries if entry.item.payload]
        return numbers


@contextmanager
def running(rig: Rig) -> Iterator[Rig]:
    rig.inlet.start()
    try:
        yield rig
    finally:
        rig.inlet.stop()
        assert rig.inlet.join(PATIENCE_SECS)
        rig.journal.close()


def test_what_comes_is_in_the_journal_in_order_and_acknowledged(tmp_path: Path) -> None:
    with running(Rig(tmp_path)) as rig:
        rig.feed(1200)
        wait_for(lambda: rig.inlet.status().journal.last == 1200 and rig.unacknowledged() == 0)
        assert rig.journalled() == list(range(1200))
        status = rig.inlet.status()
        assert (status.state, status.error, status.received, status.unsafe) == ("ready", None, 1200, 0)
    assert rig.peer.contents("in") == []
    assert rig.recorder.lines == [
        ("connecting", None), ("ready", None), ("draining", None), ("down", None), ("stopped", None),
    ]  # fmt: skip


def test_persistent_events_are_acknowledged_after_the_sync_only(tmp_path: Path) -> None:
    disk = SlowDisk()
    with running(Rig(tmp_path, disk)) as rig:
        wait_for(lambda: rig.inlet.status().state == "ready")
        disk.may_sync.clear()
        rig.feed(3)
        wait_for(lambda: rig.inlet.status().unsafe == 3)
        time.sleep(0.05)
        assert rig.unacknowledged() == 3
        disk.may_sync.set()
        wait_for(lambda: rig.unacknowledged() == 0)


def test_a_persistent_event_among_best_effort_ones_waits_for_the_sync(tmp_path: Path) -> None:
    disk = SlowDisk()
    rig = Rig(tmp_path, disk, relaxed_sync_secs=60.0, cursor_sync_secs=60.0, segment_bytes=10**6)
    receive = rig.source.receive
    rig.source.receive = lambda limit, timeout_secs: [  # type: ignore[method-assign]
        replace(delivery, persistent=number(delivery.payload) == 2)  # type: ignore[arg-type]
        for delivery in receive(limit, timeout_secs)
    ]
    disk.may_sync.clear()
    rig.feed(3)  # before it runs: one batch
    with running(rig):
        wait_for(lambda: rig.inlet.status().unsafe == 3)
        time.sleep(0.05)
        assert rig.unacknowledged() == 3
        disk.may_sync.set()
        wait_for(lambda: rig.unacknowledged() == 0)


@pytest.mark.parametrize(("safe", "waits"), [("by_event", False), ("written", False), ("synced", True)])
def test_best_effort_events_wait_for_the_sync_only_where_a_link_says_so(tmp_path: Path, safe: str, waits: bool) -> None:
    disk = SlowDisk()
    rig = Rig(tmp_path, disk, safe, relaxed_sync_secs=60.0, cursor_sync_secs=60.0, segment_bytes=10**6)
    receive = rig.source.receive
    rig.source.receive = lambda limit, timeout_secs: [  # type: ignore[method-assign]
        replace(delivery, persistent=False) for delivery in receive(limit, timeout_secs)
    ]
    with running(rig):
        rig.feed(1)
        wait_for(lambda: rig.inlet.status().journal.last == 1 and rig.unacknowledged() == 0)  # a segment has been begun
        wait_for(lambda: not rig.journal.status().queued_bytes)
        time.sleep(0.05)
        disk.may_sync.clear()
        rig.feed(3, first=1)
        if waits:
            wait_for(lambda: rig.inlet.status().unsafe == 3)
            time.sleep(0.05)
            assert rig.unacknowledged() == 3
        else:
            wait_for(lambda: rig.inlet.status().received == 4 and rig.unacknowledged() == 0)
        disk.may_sync.set()


def test_a_written_persistent_event_does_not_wait_where_all_links_say_so() -> None:
    persistent, best_effort = (Delivery(event(1), "x", 0.0, persistent=persistent) for persistent in (True, False))
    for safe, durable in ((["written"], (False, False)), (["written", "by_event"], (True, False)),
                          (["by_event", "written", "synced"], (True, True)), ([], (True, False))):  # fmt: skip
        is_durable = durability(safe)  # type: ignore[arg-type]
        assert (is_durable(persistent), is_durable(best_effort)) == durable


def test_a_full_disk_holds_the_source_back_and_it_goes_on_by_itself(tmp_path: Path) -> None:
    disk = BadDisk()
    with running(Rig(tmp_path, disk, queue_bytes=4000)) as rig:
        rig.feed(1)
        wait_for(lambda: rig.unacknowledged() == 0 and rig.inlet.status().received == 1)
        disk.room = 0
        rig.feed(600, first=1)
        wait_for(lambda: rig.journal.held is not None)
        time.sleep(0.1)
        before = len(rig.peer.contents("in"))
        assert rig.unacknowledged() > 0
        rig.feed(2000, first=601)
        time.sleep(0.2)
        assert len(rig.peer.contents("in")) >= before + 1000  # one batch that was asked for may still have come
        assert rig.inlet.status().journal.held is not None
        disk.room = None
        wait_for(lambda: rig.inlet.status().received == 2601 and rig.unacknowledged() == 0)
        assert rig.journalled() == list(range(2601))


def test_a_source_is_not_asked_while_the_journal_is_held_however_much_could_wait(tmp_path: Path) -> None:
    disk = BadDisk()
    with running(Rig(tmp_path, disk)) as rig:
        rig.feed(1)
        wait_for(lambda: rig.unacknowledged() == 0 and rig.inlet.status().received == 1)
        disk.room = 0
        rig.feed(1, first=1)
        wait_for(lambda: rig.journal.held is not None)
        rig.feed(500, first=2)
        time.sleep(0.2)
        assert rig.inlet.status().received <= 2 + BATCH, "but for what it was asked for at that moment"
        disk.room = None
        wait_for(lambda: rig.inlet.status().received == 502 and rig.unacknowledged() == 0)


def test_a_cut_connection_is_made_anew_and_nothing_is_missing(tmp_path: Path) -> None:
    disk = SlowDisk()
    with running(Rig(tmp_path, disk)) as rig:
        wait_for(lambda: rig.inlet.status().state == "ready")
        disk.may_sync.clear()
        rig.feed(5)
        wait_for(lambda: rig.inlet.status().unsafe == 5)
        rig.peer.cut()
        disk.may_sync.set()
        rig.feed(5, first=5)
        wait_for(lambda: rig.unacknowledged() == 0 and rig.inlet.status().received >= 10)
        journalled = rig.journalled()
        assert [n for i, n in enumerate(journalled) if n not in journalled[:i]] == list(range(10))
        assert ("down", "MEM-CUT") in rig.recorder.lines


def test_a_peer_that_is_away_is_said_once(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.peer.stop()
    with running(rig):
        time.sleep(0.3)  # dozens of attempts
        assert rig.recorder.lines == [("connecting", None), ("down", "MEM-DOWN")]
        assert rig.inlet.status().error is not None
        rig.peer.start()
        rig.feed(3)
        wait_for(lambda: rig.inlet.status().journal.last == 3)


def test_a_stop_waits_until_what_was_taken_is_safe_and_acknowledged(tmp_path: Path) -> None:
    disk = SlowDisk()
    rig = Rig(tmp_path, disk)
    with running(rig):
        wait_for(lambda: rig.inlet.status().state == "ready")
        disk.may_sync.clear()
        rig.feed(5)
        wait_for(lambda: rig.inlet.status().unsafe == 5)
        rig.inlet.stop()
        assert not rig.inlet.join(0.1)
        disk.may_sync.set()
        assert rig.inlet.join(PATIENCE_SECS)
        assert rig.peer.contents("in") == []


def test_what_is_not_safe_at_the_end_stays_with_the_source(tmp_path: Path) -> None:
    disk = BadDisk()
    rig = Rig(tmp_path, disk)
    rig.inlet._drain_secs = 0.1
    with running(rig):
        wait_for(lambda: rig.inlet.status().state == "ready")
        disk.room = 0
        rig.feed(5)
        wait_for(lambda: rig.inlet.status().unsafe == 5)
    assert [number(payload) for payload in rig.peer.contents("in")] == list(range(5))


def test_a_source_that_only_a_person_can_mend_stops_the_inlet_and_is_seen(tmp_path: Path) -> None:
    rig = Rig(tmp_path)

    def connect() -> None:
        raise StopError("COR-TEST", "a wrong setting")

    rig.source.connect = connect  # type: ignore[method-assign]
    with running(rig):
        assert rig.inlet.join(PATIENCE_SECS)
        status = rig.inlet.status()
        assert status.state == "stopped"
        assert status.error is not None
        assert status.error.code == "COR-TEST"
        assert rig.recorder.lines[-1] == ("stopped", "COR-TEST")
