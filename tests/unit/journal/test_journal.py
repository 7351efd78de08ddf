"""The promises of Journal and Cursor, on a healthy disk."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from gateway.journal.cursor_state import LARGEST_WINDOW
from gateway.journal.errors import JournalClosed, JournalHeld, JournalLocked, LinkBehind
from tests.unit.journal.rig import (
    PATIENCE_SECS,
    BadDisk,
    Recorder,
    append_safely,
    open_raw,
    payload,
    read_all,
    segment_files,
    settle_all,
    wait_for,
)


def test_every_link_reads_every_record_in_order(tmp_path: Path) -> None:
    journal = open_raw(tmp_path)
    cursors = [journal.cursor(name) for name in ("a", "b", "c")]
    expected = []
    for number in range(200):
        sequences = journal.append([payload(number)])
        expected.append((sequences[0], payload(number)))
    assert [sequence for sequence, _ in expected] == list(range(1, 201))
    for cursor in cursors:
        wait_for(lambda cursor=cursor: cursor.pending == 200)  # type: ignore[misc]
        assert read_all(cursor) == expected
    assert journal.close() == 0


def test_on_safe_is_called_once_per_append_in_order_after_the_sync(tmp_path: Path) -> None:
    disk = BadDisk()
    journal = open_raw(tmp_path, disk=disk, segment_bytes=10**6)
    calls: list[tuple[int, int]] = []
    done = threading.Event()

    def safe(number: int) -> None:
        calls.append((number, max(disk.synced_to.values())))
        if number == 49:
            done.set()

    for number in range(50):
        journal.append([payload(number)], on_safe=lambda number=number: safe(number))  # type: ignore[misc]
    assert done.wait(PATIENCE_SECS)
    journal.close()
    assert [number for number, _ in calls] == list(range(50))
    for number, synced in calls:
        assert synced >= 64 + (number + 1) * (26 + 100), "told safe before it was synced"


def test_what_must_be_synced_is_where_it_is_written_together_with_what_need_not(tmp_path: Path) -> None:
    disk = BadDisk()
    journal = open_raw(tmp_path, disk=disk, segment_bytes=10**6, relaxed_sync_secs=3600.0)
    first_is_safe, all_appended, done = threading.Event(), threading.Event(), threading.Event()
    synced: list[int] = []

    def hold_up() -> None:
        first_is_safe.set()
        all_appended.wait(PATIENCE_SECS)

    def safe() -> None:
        synced.append(max(disk.synced_to.values()))
        done.set()

    journal.append([payload(0)], on_safe=hold_up)
    assert first_is_safe.wait(PATIENCE_SECS)
    journal.append([payload(1)], durable=False)
    journal.append([payload(2)], on_safe=safe)
    all_appended.set()  # the two behind it are one write
    assert done.wait(PATIENCE_SECS)
    journal.close()
    assert synced == [64 + 3 * (26 + 100)]


def test_a_callback_that_fails_stops_nobody(tmp_path: Path) -> None:
    recorder = Recorder()
    journal = open_raw(tmp_path, recorder)

    def fail() -> None:
        raise RuntimeError("a producer's fault")

    journal.append([b"one"], on_safe=fail)
    append_safely(journal, [b"two"])
    journal.close()
    assert recorder.codes == ["JNL-BUG"]


def test_an_append_of_nothing_is_safe_at_once(tmp_path: Path) -> None:
    journal = open_raw(tmp_path)
    called: list[bool] = []
    assert len(journal.append([], on_safe=lambda: called.append(True))) == 0
    assert called == [True]
    journal.close()


def test_relaxed_records_are_readable_when_written_and_synced_soon_after(tmp_path: Path) -> None:
    disk = BadDisk()
    journal = open_raw(tmp_path, disk=disk, relaxed_sync_secs=0.05)
    cursor = journal.cursor("a")
    append_safely(journal, [payload(1)], durable=False)
    assert [item for _, item in read_all(cursor)] == [payload(1)]
    wait_for(lambda: str(segment_files(tmp_path)[0]) in disk.synced_to)
    journal.close()


def test_what_is_settled_stays_settled_over_a_restart_and_the_rest_comes_again(tmp_path: Path) -> None:
    journal = open_raw(tmp_path)
    cursor = journal.cursor("a")
    append_safely(journal, [payload(number) for number in range(1, 31)])
    assert len(read_all(cursor)) == 30
    assert cursor.settle(range(1, 11)) == 10
    assert cursor.settle([15, 17, 16, 30], "filtered") == 4
    assert cursor.settle([3, 15]) == 0, "settling twice changes nothing"
    journal.close()

    journal = open_raw(tmp_path)
    cursor = journal.cursor("a")
    expected = [number for number in range(11, 31) if number not in (15, 16, 17, 30)]
    entries = cursor.read(100, 0.0)
    assert [entry.sequence for entry in entries] == expected
    assert [entry.item for entry in entries] == [payload(number) for number in expected]
    assert all(entry.again for entry in entries)
    state = cursor.state()
    assert state.settled == [10, 4, 0, 0, 0, 0, 0, 0]
    append_safely(journal, [b"new"])
    (entry,) = cursor.read(100, 0.0)
    assert (entry.sequence, entry.item, entry.again) == (31, b"new", False)
    journal.close()


def test_a_link_that_lags_reads_from_disk_and_catches_up_to_memory(tmp_path: Path) -> None:
    journal = open_raw(tmp_path, tail_records=5)
    cursor = journal.cursor("slow")
    for number in range(300):
        append_safely(journal, [payload(number)], durable=number % 50 == 0)
    assert len(segment_files(tmp_path)) > 5
    assert [item for _, item in read_all(cursor)] == [payload(number) for number in range(300)]
    journal.close()


def test_a_new_link_begins_at_the_end_or_with_the_oldest_record(tmp_path: Path) -> None:
    journal = open_raw(tmp_path)
    journal.cursor("first")
    append_safely(journal, [b"one"])
    assert read_all(journal.cursor("end")) == []
    assert read_all(journal.cursor("oldest", start="oldest")) == [(1, b"one")]
    append_safely(journal, [b"two"])
    assert read_all(journal.cursor("end")) == [(2, b"two")]
    assert journal.cursor("end").state().base == 1
    journal.close()


def test_released_records_are_handed_out_again_in_their_place(tmp_path: Path) -> None:
    journal = open_raw(tmp_path)
    cursor = journal.cursor("a")
    append_safely(journal, [payload(number) for number in range(1, 11)])
    assert [entry.sequence for entry in cursor.read(6, 0.0)] == [1, 2, 3, 4, 5, 6]
    cursor.settle([1, 4])
    cursor.release([3, 5])
    assert [entry.sequence for entry in cursor.read(3, 0.0)] == [3, 5]
    assert [entry.sequence for entry in cursor.read(1, 0.0)] == [7]
    cursor.rewind()
    assert [sequence for sequence, _ in read_all(cursor)] == [2, 3, 5, 6, 7, 8, 9, 10]
    journal.close()


def test_nothing_is_handed_out_beyond_the_window(tmp_path: Path) -> None:
    journal = open_raw(tmp_path, window=10)
    cursor = journal.cursor("a")
    append_safely(journal, [payload(number) for number in range(1, 31)])
    entries = [sequence for sequence, _ in read_all(cursor)]
    assert entries == list(range(1, 11))
    cursor.settle(entries[1:])
    assert read_all(cursor) == [], "the oldest is not settled yet"
    cursor.settle([1])
    assert [sequence for sequence, _ in read_all(cursor)] == list(range(11, 21))
    journal.close()


def test_wake_ends_a_blocked_read_and_is_not_lost(tmp_path: Path) -> None:
    journal = open_raw(tmp_path)
    cursor = journal.cursor("a")
    cursor.wake()
    assert cursor.read(1, PATIENCE_SECS) == []
    timer = threading.Timer(0.1, cursor.wake)
    timer.start()
    assert cursor.read(1, PATIENCE_SECS) == []
    timer.join()
    journal.close()


def test_a_blocked_read_gets_what_is_appended(tmp_path: Path) -> None:
    journal = open_raw(tmp_path)
    cursor = journal.cursor("a")
    timer = threading.Timer(0.1, lambda: journal.append([b"late"]))
    timer.start()
    assert [entry.item for entry in cursor.read(1, PATIENCE_SECS)] == [b"late"]
    timer.join()
    journal.close()


def test_segments_go_when_every_link_has_settled_them_and_sequences_go_on(tmp_path: Path) -> None:
    journal = open_raw(tmp_path)
    fast, slow = journal.cursor("fast"), journal.cursor("slow")
    for number in range(100):
        append_safely(journal, [payload(number)])
    before = len(segment_files(tmp_path))
    assert before > 3
    settle_all(fast)
    append_safely(journal, [payload(100)])
    assert len(segment_files(tmp_path)) >= before, "the slow link still needs them"
    settle_all(slow)
    wait_for(lambda: len(segment_files(tmp_path)) == 1)
    journal.close()
    journal = open_raw(tmp_path)
    settle_all(journal.cursor("fast"))
    journal.close()
    journal = open_raw(tmp_path)
    assert append_safely(journal, [b"next"]) == range(102, 103)
    journal.close()


def test_a_forgotten_link_holds_nothing_back(tmp_path: Path) -> None:
    journal = open_raw(tmp_path)
    settled = journal.cursor("a")
    journal.cursor("gone")
    for number in range(100):
        append_safely(journal, [payload(number)])
    settle_all(settled)
    journal.forget("gone")
    wait_for(lambda: len(segment_files(tmp_path)) == 1)
    assert [place.link for place in journal.status().links] == ["a"]
    journal.close()
    assert [path.name for path in tmp_path.glob("*.cursor")] == ["a.cursor"]


def test_one_process_at_a_time(tmp_path: Path) -> None:
    journal = open_raw(tmp_path)
    with pytest.raises(JournalLocked) as locked:
        open_raw(tmp_path)
    assert locked.value.code == "JNL-LOCKED"
    journal.close()
    open_raw(tmp_path).close()


def test_a_closed_journal_takes_and_gives_nothing(tmp_path: Path) -> None:
    journal = open_raw(tmp_path)
    cursor = journal.cursor("a")
    journal.append([b"in time"])
    assert journal.close() == 0
    assert journal.close() == 0
    with pytest.raises(JournalClosed):
        journal.append([b"too late"])
    with pytest.raises(JournalClosed):
        cursor.read(1, 0.0)
    journal = open_raw(tmp_path)
    assert [item for _, item in read_all(journal.cursor("a"))] == [b"in time"]
    journal.close()


def test_close_ends_a_blocked_read(tmp_path: Path) -> None:
    journal = open_raw(tmp_path)
    cursor = journal.cursor("a")
    timer = threading.Timer(0.1, journal.close)
    timer.start()
    with pytest.raises(JournalClosed):
        cursor.read(1, PATIENCE_SECS)
    timer.join()


def test_the_queue_is_bounded_and_says_so(tmp_path: Path) -> None:
    disk = BadDisk()
    journal = open_raw(tmp_path, disk=disk, queue_bytes=1000)
    disk.room = 0
    taken = 1000 // 126
    for number in range(taken):
        journal.append([payload(number)])
    with pytest.raises(JournalHeld) as refused:
        journal.append([payload(taken)])
    assert refused.value.code == "JNL-BACKLOG"
    assert not journal.await_room(0.05)
    disk.room = None
    assert journal.await_room(PATIENCE_SECS)
    append_safely(journal, [payload(taken)])
    journal.close()
    journal = open_raw(tmp_path)
    cursor = journal.cursor("all", start="oldest")
    assert [item for _, item in read_all(cursor)] == [payload(number) for number in range(taken + 1)]
    journal.close()


def test_names_of_links_may_be_anything(tmp_path: Path) -> None:
    names = ["a/b", "..", "Zürich → Bern", "a b", "%2F", "A", "a"]
    journal = open_raw(tmp_path)
    for name in names:
        journal.cursor(name)
    journal.close()
    journal = open_raw(tmp_path)
    assert sorted(place.link for place in journal.status().links) == sorted(names)
    journal.close()


def test_the_status_adds_up(tmp_path: Path) -> None:
    journal = open_raw(tmp_path)
    cursor = journal.cursor("a")
    append_safely(journal, [payload(number) for number in range(10)])
    cursor.settle([1, 2], "delivered")
    cursor.settle([3], "expired")
    status = journal.status()
    (place,) = status.links
    assert (status.first, status.last, status.held, status.queued_bytes) == (1, 10, None, 0)
    assert place.pending == 7
    assert {outcome: count for outcome, count in place.settled.items() if count} == {"delivered": 2, "expired": 1}
    assert status.last - place.base == sum(place.settled.values()) + place.pending
    journal.close()


def test_what_is_for_one_link_is_handed_to_no_other(tmp_path: Path) -> None:
    """While the others read as fast as they can; each counts it as a duplicate."""
    journal = open_raw(tmp_path)
    names = ("mine", "other", "third")
    cursors = {name: journal.cursor(name) for name in names}
    read: dict[str, list[bytes]] = {name: [] for name in names}
    enough = threading.Event()

    def reader(name: str) -> None:
        while not enough.is_set():
            for entry in cursors[name].read(10, 0.02):
                read[name].append(entry.item)  # type: ignore[arg-type]
                cursors[name].settle([entry.sequence])

    threads = [threading.Thread(target=reader, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for number in range(0, 400, 4):
        journal.append([payload(number), payload(number + 1)])
        journal.append([payload(number + 2), payload(number + 3)], only="mine")
    wait_for(lambda: len(read["mine"]) == 400)
    wait_for(lambda: len(read["other"]) == len(read["third"]) == 200)
    enough.set()
    for thread in threads:
        thread.join()
    assert read["mine"] == [payload(number) for number in range(400)]
    for name in ("other", "third"):
        assert read[name] == [payload(number) for number in range(400) if number % 4 < 2]
    places = {place.link: place for place in journal.status().links}
    assert (places["mine"].settled["duplicate"], places["other"].settled["duplicate"]) == (0, 200)
    assert all(place.pending == 0 for place in places.values())
    assert journal.close() == 0
    journal = open_raw(tmp_path)
    assert all(read_all(journal.cursor(name)) == [] for name in names)  # also after a restart
    journal.close()


def test_a_link_that_is_too_far_behind_cannot_pass_over_records(tmp_path: Path) -> None:
    journal = open_raw(tmp_path)
    journal.cursor("slow")
    mine = journal.cursor("mine")
    journal.append([payload(number) for number in range(LARGEST_WINDOW)])
    with pytest.raises(LinkBehind) as told:
        journal.append([payload(0)], only="mine")
    assert told.value.link == "slow"
    with pytest.raises(LinkBehind):
        journal.append([payload(1)], only="slow")  # mine has not read either
    wait_for(lambda: mine.pending == LARGEST_WINDOW)
    mine.settle(range(1, LARGEST_WINDOW + 1))
    [sequence] = journal.append([payload(1)], only="slow")
    wait_for(lambda: journal.status().last == sequence)
    assert mine.pending == 0
    assert journal.close() == 0
