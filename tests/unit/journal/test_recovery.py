"""What a journal does about what it finds when it is opened."""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path
from zlib import crc32

import pytest

from gateway.journal.errors import JournalError
from gateway.journal.format import HEAD_BYTES, HEADER_BYTES, MAGIC
from tests.unit.journal.rig import (
    LOST,
    Recorder,
    append_safely,
    open_raw,
    payload,
    read_all,
    segment_files,
    settle_all,
    wait_for,
)

RECORD_BYTES = HEAD_BYTES + 100


def fill(directory: Path, count: int, **options: object) -> list[Path]:
    journal = open_raw(directory, **options)
    journal.cursor("a")
    for number in range(1, count + 1):
        append_safely(journal, [payload(number)])
    journal.close()
    return segment_files(directory)


def everything(directory: Path, link: str = "a") -> tuple[list[int], Recorder, list[int]]:
    """Sequences that are delivered (each checked against what was written), what was told, the counts by outcome."""
    recorder = Recorder()
    journal = open_raw(directory, recorder)
    cursor = journal.cursor(link)
    got = read_all(cursor)
    for sequence, item in got:
        assert item == payload(sequence)
    counts = cursor.state().settled
    journal.close()
    return [sequence for sequence, _ in got], recorder, counts


@pytest.mark.parametrize("cut", [1, 25, 26, 27, RECORD_BYTES - 1])
def test_a_torn_tail_is_cut_reported_once_and_kept_beside(tmp_path: Path, cut: int) -> None:
    (path,) = fill(tmp_path, 10, segment_bytes=10**6)
    whole = path.read_bytes()
    os.truncate(path, len(whole) - RECORD_BYTES + cut)
    sequences, recorder, _ = everything(tmp_path)
    assert sequences == list(range(1, 10))
    assert recorder.codes == ["JNL-TORN"]
    assert path.read_bytes() == whole[:-RECORD_BYTES]
    (kept,) = tmp_path.glob("*.cut")
    assert kept.read_bytes() == whole[-RECORD_BYTES:][:cut]
    assert everything(tmp_path)[1].codes == [], "once is enough"


@pytest.mark.parametrize("tail", [bytes(5000), b"garbage" * 100, MAGIC * 3])
def test_zeros_or_garbage_behind_the_last_record_are_a_torn_tail(tmp_path: Path, tail: bytes) -> None:
    (path,) = fill(tmp_path, 10, segment_bytes=10**6)
    with path.open("ab") as file:
        file.write(tail)
    sequences, recorder, _ = everything(tmp_path)
    assert sequences == list(range(1, 11))
    assert recorder.codes == ["JNL-TORN"]


@pytest.mark.parametrize("size", [0, 1, HEADER_BYTES - 1, HEADER_BYTES])
def test_a_newest_segment_without_a_record(tmp_path: Path, size: int) -> None:
    paths = fill(tmp_path, 40)
    os.truncate(paths[-1], size)
    last = int(paths[-1].stem) - 1
    sequences, recorder, _ = everything(tmp_path)
    assert sequences == list(range(1, last + 1))
    assert recorder.codes == ([] if size == HEADER_BYTES else ["JNL-HEADER", "JNL-TORN"])
    journal = open_raw(tmp_path)
    assert append_safely(journal, [b"next"])[0] == last + 1
    assert read_all(journal.cursor("a"))[-1] == (last + 1, b"next")
    journal.close()


def test_a_damaged_middle_costs_what_it_touches(tmp_path: Path) -> None:
    paths = fill(tmp_path, 40)
    middle = paths[1]
    first = int(middle.stem)
    data = bytearray(middle.read_bytes())
    data[HEADER_BYTES + 2 * RECORD_BYTES + 50] ^= 0x10
    middle.write_bytes(data)
    sequences, recorder, counts = everything(tmp_path)
    assert sequences == [n for n in range(1, 41) if n != first + 2]
    assert sorted(recorder.codes) == ["JNL-DAMAGED", "JNL-MISSING"]
    assert counts[LOST] == 1


def test_a_damaged_header_costs_nothing(tmp_path: Path) -> None:
    paths = fill(tmp_path, 40)
    data = bytearray(paths[1].read_bytes())
    data[:HEADER_BYTES] = os.urandom(HEADER_BYTES)
    paths[1].write_bytes(data)
    sequences, recorder, _ = everything(tmp_path)
    assert sequences == list(range(1, 41))
    assert recorder.codes == ["JNL-HEADER"]


def test_a_segment_that_is_gone_is_a_loss_that_is_counted(tmp_path: Path) -> None:
    paths = fill(tmp_path, 60)
    first, following = int(paths[1].stem), int(paths[2].stem)
    paths[1].unlink()
    sequences, recorder, counts = everything(tmp_path)
    assert sequences == [n for n in range(1, 61) if not first <= n < following]
    assert counts[LOST] == following - first
    assert recorder.codes == ["JNL-MISSING"]


def test_the_oldest_segment_gone_by_hand_is_a_loss_that_is_counted(tmp_path: Path) -> None:
    paths = fill(tmp_path, 60)
    paths[0].unlink()
    sequences, recorder, counts = everything(tmp_path)
    assert sequences == list(range(int(paths[1].stem), 61))
    assert counts[LOST] == int(paths[1].stem) - 1
    assert recorder.codes == ["JNL-MISSING"]


def test_sequences_that_a_link_has_settled_are_never_used_again(tmp_path: Path) -> None:
    """Else an event that comes later would be taken for settled, and be lost."""
    fill(tmp_path, 10, segment_bytes=10**6)
    journal = open_raw(tmp_path)
    journal.cursor("b", start="oldest")
    settle_all(journal.cursor("a"))
    journal.close()
    (path,) = segment_files(tmp_path)
    os.truncate(path, HEADER_BYTES + 7 * RECORD_BYTES)  # a power cut took records that were not synced
    recorder = Recorder()
    journal = open_raw(tmp_path, recorder)
    assert append_safely(journal, [payload(11)]) == range(11, 12)
    assert read_all(journal.cursor("a")) == [(11, payload(11))]
    other = journal.cursor("b")
    assert [sequence for sequence, _ in read_all(other)] == [1, 2, 3, 4, 5, 6, 7, 11]
    assert other.state().settled[LOST] == 3
    assert recorder.codes == ["JNL-MISSING"]
    journal.close()


def test_a_damaged_cursor_begins_with_the_oldest_record(tmp_path: Path) -> None:
    fill(tmp_path, 10)
    journal = open_raw(tmp_path)
    journal.cursor("a").settle(range(1, 9))
    journal.close()
    path = tmp_path / "a.cursor"
    path.write_bytes(os.urandom(len(path.read_bytes())))
    sequences, recorder, _ = everything(tmp_path)
    assert sequences[-1] == 10
    assert sequences == list(range(sequences[0], 11))
    assert recorder.codes == ["JNL-CURSOR"]


@pytest.mark.parametrize("slot", [1, 2])
def test_one_damaged_copy_of_a_cursor_costs_at_most_the_last_write(tmp_path: Path, slot: int) -> None:
    fill(tmp_path, 10, segment_bytes=10**6)
    journal = open_raw(tmp_path)
    journal.cursor("a").settle(range(1, 6))
    journal.close()
    path = tmp_path / "a.cursor"
    data = bytearray(path.read_bytes())
    data[slot * 4096 + 10] ^= 1
    path.write_bytes(data)
    sequences, recorder, _ = everything(tmp_path)
    assert sequences in (list(range(1, 11)), list(range(6, 11)))
    assert recorder.codes == []


def test_a_cursor_of_another_journal_is_not_believed(tmp_path: Path) -> None:
    fill(tmp_path / "one", 10)
    fill(tmp_path / "two", 10)
    journal = open_raw(tmp_path / "one")
    settle_all(journal.cursor("a"))
    journal.close()
    (tmp_path / "two" / "a.cursor").write_bytes((tmp_path / "one" / "a.cursor").read_bytes())
    sequences, recorder, _ = everything(tmp_path / "two")
    assert sequences == list(range(1, 11))
    assert recorder.codes == ["JNL-CURSOR-FOREIGN"]


def test_a_segment_of_another_journal_is_left_alone(tmp_path: Path) -> None:
    fill(tmp_path / "one", 10)
    other = fill(tmp_path / "two", 60)[-1]
    stranger = tmp_path / "one" / other.name
    stranger.write_bytes(other.read_bytes())
    sequences, recorder, _ = everything(tmp_path / "one")
    assert sequences == list(range(1, 11))
    assert recorder.codes == ["JNL-FOREIGN"]
    assert stranger.exists()


@pytest.mark.parametrize("content", [None, b"", b"{", b'{"format": 1, "id": "no uuid"}', b"[1]", b"[" * 100_000])
def test_the_identity_is_found_in_headers_and_cursors(tmp_path: Path, content: bytes | None) -> None:
    fill(tmp_path, 10)
    identity = tmp_path / "journal.json"
    before = json.loads(identity.read_bytes())["id"]
    identity.unlink()
    if content is not None:
        identity.write_bytes(content)
    assert everything(tmp_path)[0] == list(range(1, 11))
    assert json.loads(identity.read_bytes())["id"] == before


def test_without_any_identity_nothing_is_touched(tmp_path: Path) -> None:
    (path,) = fill(tmp_path, 10, segment_bytes=10**6)
    (tmp_path / "journal.json").unlink()
    (tmp_path / "a.cursor").unlink()
    data = bytes(HEADER_BYTES) + path.read_bytes()[HEADER_BYTES:]
    path.write_bytes(data)
    with pytest.raises(JournalError) as refused:
        open_raw(tmp_path)
    assert refused.value.code == "JNL-IDENTITY-LOST"
    assert path.read_bytes() == data


def test_a_later_format_is_refused_and_not_touched(tmp_path: Path) -> None:
    (path,) = fill(tmp_path, 10, segment_bytes=10**6)
    identity = tmp_path / "journal.json"
    form = json.loads(identity.read_bytes())
    check = f"{crc32(b'2' + uuid.UUID(form['id']).bytes):08x}"
    identity.write_text(json.dumps({**form, "format": 2, "check": check}))
    before = path.read_bytes()
    with pytest.raises(JournalError) as refused:
        open_raw(tmp_path)
    assert refused.value.code == "JNL-VERSION"
    assert path.read_bytes() == before
    identity.write_text(json.dumps(form))
    assert everything(tmp_path)[0] == list(range(1, 11)), "the lock was given back"


def test_a_later_format_of_one_segment_is_refused_too(tmp_path: Path) -> None:
    (path,) = fill(tmp_path, 10, segment_bytes=10**6)
    data = bytearray(path.read_bytes())
    data[8:10] = (2).to_bytes(2, "big")
    data[60:64] = crc32(data[:60]).to_bytes(4, "big")
    path.write_bytes(data)
    with pytest.raises(JournalError) as refused:
        open_raw(tmp_path)
    assert refused.value.code == "JNL-VERSION"


def test_a_segment_that_somebody_removes_from_a_running_journal_is_a_loss_that_is_counted(tmp_path: Path) -> None:
    paths = fill(tmp_path, 60)
    recorder = Recorder()
    journal = open_raw(tmp_path, recorder)
    cursor = journal.cursor("a")
    paths[1].unlink()
    first, following = int(paths[1].stem), int(paths[2].stem)
    assert [sequence for sequence, _ in read_all(cursor)] == [n for n in range(1, 61) if not first <= n < following]
    assert cursor.state().settled[LOST] == following - first
    assert recorder.codes == ["JNL-MISSING"]
    journal.close()


def test_what_was_settled_before_a_crash_is_deleted_after_it(tmp_path: Path) -> None:
    fill(tmp_path, 60)
    journal = open_raw(tmp_path, keep_secs=1e9)
    settle_all(journal.cursor("a"))
    journal.close()
    (tmp_path / "00000000000000000099.part").write_bytes(b"left behind")
    assert len(segment_files(tmp_path)) > 2
    journal = open_raw(tmp_path)
    wait_for(lambda: len(segment_files(tmp_path)) == 1)
    journal.close()
    assert not list(tmp_path.glob("*.part"))


def test_a_record_of_another_journal_inside_a_damaged_one_is_not_taken_for_ours(tmp_path: Path) -> None:
    """As when somebody sends a journal's file through the gateway, and that very record is damaged."""
    donor = fill(tmp_path / "donor", 60, segment_bytes=10**6)[0].read_bytes()
    stranger = donor[-RECORD_BYTES:]  # sequence 60: higher than any of ours
    journal = open_raw(tmp_path / "ours", segment_bytes=10**6)
    journal.cursor("a")
    for number in range(1, 11):
        append_safely(journal, [stranger * 3 if number == 5 else payload(number)])
    journal.close()
    (path,) = segment_files(tmp_path / "ours")
    data = bytearray(path.read_bytes())
    data[HEADER_BYTES + 4 * RECORD_BYTES + 5] ^= 1  # the length in the head of record 5
    path.write_bytes(data)
    assert everything(tmp_path / "ours")[0] == [1, 2, 3, 4, 6, 7, 8, 9, 10]
