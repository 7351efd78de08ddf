"""A full disk, a disk that does not sync, a disk that cannot be read: nothing is lost, and it goes on by itself."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

import pytest

from gateway.journal.cursor_file import unpack_cursor
from gateway.journal.inspection import Inspection, Stored
from tests.unit.journal.rig import (
    LOST,
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


def test_a_full_disk_holds_everything_and_goes_on_by_itself(tmp_path: Path) -> None:
    disk, recorder = BadDisk(), Recorder()
    journal = open_raw(tmp_path, recorder, disk)
    cursor = journal.cursor("a")
    append_safely(journal, [payload(number) for number in range(10)])
    disk.room = 150  # the next write gets in half: it must leave nothing behind
    safe = threading.Event()
    journal.append([payload(number) for number in range(10, 15)], on_safe=safe.set)
    wait_for(lambda: journal.held is not None)
    assert journal.held is not None
    assert journal.held.code == "JNL-HELD"
    assert not safe.wait(0.1)
    assert not journal.await_room(0.0)
    assert len(read_all(cursor)) == 10, "what is not safe is not handed out"
    disk.room = None
    assert safe.wait(PATIENCE_SECS)
    assert journal.await_room(PATIENCE_SECS)
    assert [reason.code for reason in recorder.holds] == ["JNL-HELD"]
    wait_for(lambda: recorder.releases == 1)
    assert journal.held is None
    journal.close()
    check_all_there(tmp_path, 15)


def test_settling_goes_on_while_the_disk_is_full_and_makes_room(tmp_path: Path) -> None:
    disk = BadDisk()
    journal = open_raw(tmp_path, disk=disk)
    cursor = journal.cursor("a")
    for number in range(100):
        append_safely(journal, [payload(number)])
    before = len(segment_files(tmp_path))
    disk.room = 0
    journal.append([payload(100)])
    wait_for(lambda: journal.held is not None)
    settle_all(cursor)
    wait_for(lambda: len(segment_files(tmp_path)) < before)
    disk.room = None
    wait_for(lambda: journal.held is None)
    assert read_all(cursor) == [(101, payload(100))]
    journal.close()


def test_what_cannot_be_written_before_the_end_is_counted_and_was_never_called_safe(tmp_path: Path) -> None:
    disk = BadDisk()
    journal = open_raw(tmp_path, disk=disk)
    append_safely(journal, [payload(0)])
    disk.room = 150  # one and a bit
    called: list[int] = []
    for number in range(1, 6):
        journal.append([payload(number)], on_safe=lambda number=number: called.append(number))  # type: ignore[misc]
    wait_for(lambda: journal.held is not None)
    assert journal.close() == 5
    assert called == []
    recorder = Recorder()
    journal = open_raw(tmp_path, recorder)
    assert recorder.codes == [], "half a write is taken back, not left for recovery"
    assert [item for _, item in read_all(journal.cursor("a", start="oldest"))] == [payload(0)]
    assert append_safely(journal, [b"the source sends it again"]) == range(2, 3)
    journal.close()


@pytest.mark.parametrize("records_before", [0, 1, 40])
@pytest.mark.parametrize("failures", [1, 3])
@pytest.mark.parametrize("truncate_fails", [False, True])
@pytest.mark.parametrize("keeps_pages", [False, True])
def test_a_failed_sync_is_never_repeated_on_the_same_file(
    tmp_path: Path, records_before: int, failures: int, truncate_fails: bool, keeps_pages: bool
) -> None:
    """The disk loses what it did not sync, or keeps it, to be found a second time: in either case all of it must be in another
    segment before anybody is told, and is there once."""
    disk, recorder = BadDisk(), Recorder()
    disk.keeps_pages = keeps_pages
    journal = open_raw(tmp_path, recorder, disk)
    cursor = journal.cursor("a")
    for number in range(records_before):
        append_safely(journal, [payload(number)])
    disk.truncate_fails = truncate_fails
    disk.sync_fails = failures
    append_safely(journal, [payload(records_before), payload(records_before + 1)])
    append_safely(journal, [payload(records_before + 2)])
    disk.truncate_fails = False
    assert disk.sync_fails == 0
    assert "JNL-SYNC" in recorder.codes
    assert [item for _, item in read_all(cursor)] == [payload(number) for number in range(records_before + 3)]
    journal.close()
    stored = [found for found in Inspection(tmp_path).records() if isinstance(found, Stored)]
    assert [record.sequence for record in stored] == list(range(1, records_before + 4))
    check_all_there(tmp_path, records_before + 3)


def test_relaxed_records_survive_a_failed_sync_too(tmp_path: Path) -> None:
    disk, recorder = BadDisk(), Recorder()
    journal = open_raw(tmp_path, recorder, disk, relaxed_sync_secs=60.0)
    for number in range(5):
        append_safely(journal, [payload(number)])
    for number in range(5, 20):
        append_safely(journal, [payload(number)], durable=False)
    disk.sync_fails = 2
    append_safely(journal, [payload(20)])
    journal.close()
    assert recorder.codes == ["JNL-SYNC"]
    check_all_there(tmp_path, 21)


def test_a_relaxed_sync_that_fails_is_made_good_without_another_append(tmp_path: Path) -> None:
    disk, recorder = BadDisk(), Recorder()
    journal = open_raw(tmp_path, recorder, disk, relaxed_sync_secs=0.02)
    disk.sync_fails = 2
    append_safely(journal, [payload(0)], durable=False)
    wait_for(lambda: disk.sync_fails == 0 and journal.held is None and recorder.releases == 1)
    journal.close()
    check_all_there(tmp_path, 1)


def test_a_full_disk_at_the_start_of_a_new_segment(tmp_path: Path) -> None:
    disk = BadDisk()
    journal = open_raw(tmp_path, disk=disk, segment_bytes=100)
    for number in range(20):
        safe = threading.Event()
        disk.room = (0, 30, 64, 65, 189)[number % 5]  # in the header, behind it, and in the record
        journal.append([payload(number)], on_safe=safe.set)
        wait_for(lambda: journal.held is not None)
        disk.room = None
        assert safe.wait(PATIENCE_SECS)
        wait_for(lambda: journal.held is None)
    journal.close()
    check_all_there(tmp_path, 20)


def test_a_cursor_that_cannot_be_written_is_written_later(tmp_path: Path) -> None:
    disk, recorder = BadDisk(), Recorder()
    journal = open_raw(tmp_path, recorder, disk, cursor_sync_secs=0.02)
    cursor = journal.cursor("a")
    append_safely(journal, [payload(number) for number in range(5)])
    disk.cursor_writes_fail = True
    cursor.settle([1, 2, 3])
    wait_for(lambda: "JNL-CURSOR-WRITE" in recorder.codes)
    disk.cursor_writes_fail = False
    before = (tmp_path / "a.cursor").read_bytes()
    wait_for(lambda: (tmp_path / "a.cursor").read_bytes() != before)
    journal.close()
    journal = open_raw(tmp_path)
    assert journal.cursor("a").state().position == 3
    journal.close()


def test_a_journal_that_cannot_be_opened_leaves_nothing_open(tmp_path: Path) -> None:
    journal = open_raw(tmp_path)
    for link in "abc":
        journal.cursor(link)
    journal.close()
    disk = BadDisk()
    disk.cursor_writes_fail = True
    with pytest.raises(OSError, match="Input/output error"):
        open_raw(tmp_path, disk=disk)
    assert open_files_in(tmp_path) == []
    journal = open_raw(tmp_path)
    assert open_files_in(tmp_path) != [], "else this test sees nothing"
    journal.close()
    assert open_files_in(tmp_path) == []


def open_files_in(directory: Path) -> list[str]:
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the descriptor of this very listing is gone by now
            found.append(str(entry.readlink()))
    return [path for path in found if path.startswith(str(directory))]


def test_blocks_that_cannot_be_read_cost_their_records_and_no_others(tmp_path: Path) -> None:
    journal = open_raw(tmp_path, segment_bytes=10**6)
    journal.cursor("a")
    append_safely(journal, [payload(number) for number in range(1, 201)])
    journal.close()
    disk, recorder = BadDisk(), Recorder()
    disk.unreadable = {2}
    journal = open_raw(tmp_path, recorder, disk)
    cursor = journal.cursor("a")
    got = read_all(cursor)
    size = 26 + 100
    untouched = [n for n in range(1, 201) if not (64 + (n - 1) * size < 3 * 4096 and 64 + n * size > 2 * 4096)]
    assert got == [(number, payload(number)) for number in untouched]
    assert cursor.state().settled[LOST] == 200 - len(untouched), "counted as lost"
    assert {"JNL-DAMAGED", "JNL-MISSING"} <= set(recorder.codes)
    journal.close()


def test_records_that_are_not_synced_are_read_from_memory_only(tmp_path: Path) -> None:
    """On disk they may still have to move; a reader that missed them there would count them as lost."""
    disk = BadDisk()
    journal = open_raw(tmp_path, disk=disk, relaxed_sync_secs=60.0, tail_records=1, segment_bytes=10**6)
    cursor = journal.cursor("a")
    for number in range(10):
        append_safely(journal, [payload(number)])
    for number in range(10, 20):
        append_safely(journal, [payload(number)], durable=False)
    got = [entry.item for entry in cursor.read(100, 0.0)]
    assert 0 < len(got) <= 10, "from disk, and no further than the last sync"
    disk.unreadable = set(range(100))
    got += [entry.item for entry in cursor.read(100, 0.0)]
    assert got == [payload(number) for number in range(20)]
    assert cursor.state().settled[LOST] == 0
    journal.close()


class WatchfulDisk(BadDisk):
    """Remembers what of a cursor is surely on disk, and looks at it when a segment is deleted."""

    def __init__(self) -> None:
        super().__init__()
        self.cursor = b""
        self.deleted: list[tuple[int, int]] = []  # first sequence of the segment, position of the cursor

    def sync(self, descriptor: int) -> None:
        super().sync(descriptor)
        if self._is_cursor(descriptor):
            self.cursor = self.names[descriptor].read_bytes()

    def remove(self, path: Path) -> None:
        if path.suffix == ".segment":
            found = unpack_cursor(self.cursor)
            assert found is not None
            self.deleted.append((int(path.stem), found[2].position))
        super().remove(path)


def test_a_segment_is_deleted_only_when_the_cursors_are_synced(tmp_path: Path) -> None:
    """Else a power cut would leave a cursor that points to what is gone, and it would be counted as lost."""
    disk = WatchfulDisk()
    journal = open_raw(tmp_path, disk=disk, cursor_sync_secs=3600.0)
    cursor = journal.cursor("a")
    for number in range(100):
        append_safely(journal, [payload(number)])
        if number % 10 == 9:
            settle_all(cursor)
    wait_for(lambda: len(segment_files(tmp_path)) == 1)
    firsts = [first for first, _ in disk.deleted] + [int(segment_files(tmp_path)[0].stem)]
    assert len(firsts) > 3
    for (_, position), following in zip(disk.deleted, firsts[1:], strict=True):
        assert position >= following - 1
    journal.close()


@pytest.mark.parametrize("max_bytes", [None, 8000])
def test_nothing_is_deleted_while_cursors_cannot_be_written(tmp_path: Path, max_bytes: int | None) -> None:
    """Whoever finds the old cursors after a crash would count what was delivered as lost."""
    disk, recorder = BadDisk(), Recorder()
    journal = open_raw(tmp_path, recorder, disk, max_bytes=max_bytes)
    cursor = journal.cursor("a")
    append_safely(journal, [payload(0)])
    disk.cursor_writes_fail = True
    number = 0
    while len(segment_files(tmp_path)) < 4 and journal.held is None:
        number += 1
        journal.append([payload(number)])
        cursor.settle([entry.sequence for entry in cursor.read(100, 0.01)])
    wait_for(lambda: "JNL-CURSOR-WRITE" in recorder.codes and not journal._board.settled_news)
    assert segment_files(tmp_path)[0].stem.endswith("00001"), "the first is there still"
    disk.cursor_writes_fail = False
    wait_for(lambda: not segment_files(tmp_path)[0].stem.endswith("00001"))
    wait_for(lambda: journal.held is None and not journal.status().queued_bytes)
    journal.close()
    again_recorder = Recorder()
    again = open_raw(tmp_path, again_recorder)
    assert again.cursor("a").state().settled[LOST] == 0
    assert again_recorder.findings == []
    again.close()


def check_all_there(directory: Path, count: int) -> None:
    """A new process finds every record, once, in order, and nothing to complain of."""
    recorder = Recorder()
    journal = open_raw(directory, recorder)
    cursor = journal.cursor("check", start="oldest")
    got = read_all(cursor)
    assert [item for _, item in got] == [payload(number) for number in range(got[0][0] - 1, count)]
    assert cursor.state().settled[LOST] == 0
    journal.close()
