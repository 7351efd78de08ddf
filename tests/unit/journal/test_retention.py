"""The journal's size is bounded; what is given up for it is decided per link, counted and reported."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from gateway.journal.cursor_state import OUTCOMES
from gateway.journal.options import Options
from gateway.journal.retention import deletable
from gateway.journal.segments import Segment
from tests.unit.journal.rig import (
    PATIENCE_SECS,
    Recorder,
    append_safely,
    open_raw,
    payload,
    read_all,
    segment_files,
    settle_all,
    wait_for,
)

LIMIT = 8000


def size_of(directory: Path) -> int:
    return sum(path.stat().st_size for path in segment_files(directory))


def test_block_holds_the_source_until_the_link_has_settled(tmp_path: Path) -> None:
    recorder = Recorder()
    journal = open_raw(tmp_path, recorder, max_bytes=LIMIT)
    cursor = journal.cursor("slow", "block")
    appended = 0
    while journal.held is None:
        journal.append([payload(appended)])
        appended += 1
        time.sleep(0.001)
    assert journal.held.code == "JNL-FULL"
    assert "slow" in journal.held.message
    assert size_of(tmp_path) <= LIMIT
    got: list[bytes] = []
    while len(got) < appended:
        entries = cursor.read(10, PATIENCE_SECS)
        got += [entry.item for entry in entries]
        cursor.settle([entry.sequence for entry in entries])
    assert got == [payload(number) for number in range(appended)], "nothing is lost"
    wait_for(lambda: journal.held is None)
    assert recorder.releases >= 1
    journal.close()


def test_drop_oldest_gives_up_the_oldest_and_says_how_many(tmp_path: Path) -> None:
    recorder = Recorder()
    journal = open_raw(tmp_path, recorder, max_bytes=LIMIT)
    cursor = journal.cursor("slow", "drop_oldest")
    for number in range(300):
        append_safely(journal, [payload(number)])
    assert size_of(tmp_path) <= LIMIT
    state = cursor.state()
    dropped = state.settled[OUTCOMES.index("dropped")]
    assert dropped > 200
    assert read_all(cursor) == [(number + 1, payload(number)) for number in range(dropped, 300)]
    told = [finding for finding in recorder.findings if finding.code == "JNL-DROPPED"]
    assert sum(int(finding.message.split()[0]) for finding in told) == dropped
    assert journal.held is None
    journal.close()


def test_nothing_is_dropped_where_it_would_not_help(tmp_path: Path) -> None:
    journal = open_raw(tmp_path, max_bytes=LIMIT)
    lossy, careful = journal.cursor("lossy", "drop_oldest"), journal.cursor("careful", "block")
    number = 0
    while journal.held is None:
        journal.append([payload(number)])
        number += 1
        time.sleep(0.001)
    assert lossy.state().position == 0
    settle_all(careful)
    wait_for(lambda: journal.held is None)
    assert lossy.state().position > 0, "now it helps"
    journal.close()


def test_dead_letter_names_what_the_link_must_get_rid_of(tmp_path: Path) -> None:
    journal = open_raw(tmp_path, max_bytes=LIMIT)
    cursor = journal.cursor("slow", "dead_letter")
    assert cursor.overdue == 0
    number = 0
    while journal.held is None:
        journal.append([payload(number)])
        number += 1
        time.sleep(0.001)
    wait_for(lambda: cursor.overdue > 0)
    letters: list[bytes] = []
    while (
        journal.status().queued_bytes
    ):  # on a slow disk more waits to be written than the first segment makes room for
        overdue = cursor.overdue
        for entry in cursor.read(overdue - len(letters), PATIENCE_SECS) if overdue else ():
            letters.append(entry.item)
            cursor.settle([entry.sequence], "dead_lettered")
        assert cursor.overdue == 0 or cursor.overdue > len(letters)
    wait_for(lambda: journal.held is None)
    assert letters == [payload(n) for n in range(len(letters))]
    assert 0 < len(letters) < number, "no more than must go"
    assert cursor.state().settled[OUTCOMES.index("dead_lettered")] == len(letters)
    journal.close()


def test_one_append_larger_than_the_journal_may_be_is_not_held_for_ever(tmp_path: Path) -> None:
    journal = open_raw(tmp_path, max_bytes=LIMIT)
    cursor = journal.cursor("a")
    for _ in range(3):
        safe = threading.Event()
        journal.append([os.urandom(2 * LIMIT)], on_safe=safe.set)
        while not safe.wait(0.01):
            settle_all(cursor)
        settle_all(cursor)
    journal.close()


def test_settled_segments_are_kept_as_long_as_asked(tmp_path: Path) -> None:
    journal = open_raw(tmp_path, keep_secs=3600.0, keep_bytes=6000)
    cursor = journal.cursor("a")
    for number in range(200):
        append_safely(journal, [payload(number)])
        settle_all(cursor)
    wait_for(lambda: size_of(tmp_path) <= 6000 + 2000 + 126)
    assert len(segment_files(tmp_path)) > 1
    oldest = journal.status().first
    replayed = journal.cursor("replay", start="oldest")
    assert [item for _, item in read_all(replayed)] == [payload(number) for number in range(oldest - 1, 200)]
    journal.close()


def test_which_segments_may_go() -> None:
    def segment(first: int, begun_secs: float) -> Segment:
        return Segment(Path(f"{first}"), first, int(begun_secs * 1000), 1000, b"")

    segments = [segment(1, 100), segment(11, 200), segment(21, 300), segment(31, 400)]

    def going(settled: int, **options: object) -> list[int]:
        chosen = deletable(segments, settled, Options(**options), 4000, now=1000.0)  # type: ignore[arg-type]
        return [segment.first for segment in chosen]

    assert going(9) == []
    assert going(10) == [1]
    assert going(29) == [1, 11]
    assert going(1000) == [1, 11, 21], "never the newest"
    assert going(1000, keep_secs=650.0) == [1, 11], "the third was still written to 600 s ago"
    assert going(1000, keep_secs=1e9) == []
    assert going(1000, keep_secs=1e9, keep_bytes=2000) == [1, 11]
    assert going(10, keep_secs=1e9, keep_bytes=0) == [1]
