"""Journals with bits flipped, bytes cut out, put in, zeroed, and segments cut short, anywhere:

never a traceback, never a wrong record delivered as right, and every record whose bytes are still there is delivered.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.journal.codec import RawCodec
from gateway.journal.disk import Disk
from gateway.journal.envelope import Compression
from gateway.journal.inspection import Inspection, Totals
from gateway.journal.journal import Journal
from gateway.journal.options import Options
from gateway.journal.repair import repair
from tests.unit.journal.rig import Recorder, append_safely, read_all, segment_files

KEYS = (bytes(32),)


class QuickDisk(Disk):
    """Syncs nothing: no power is cut in these tests."""

    def sync(self, descriptor: int) -> None:
        pass

    def sync_directory(self, path: Path) -> None:
        pass


@dataclass(frozen=True)
class Sample:
    """A journal as files, and each record with its bytes and its payload."""

    files: dict[str, bytes]
    records: list[tuple[int, bytes, bytes]]
    options: Options


@cache
def made(compression: Compression, keys: tuple[bytes, ...], embedded: bool) -> Sample:
    """About forty records of many sizes in three segments. `embedded`: some hold bytes of other records, as when somebody sends a
    journal as an event."""
    options = Options(segment_bytes=1500, max_bytes=None, compression=compression, keys=keys, group_records=1)
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        journal = Journal.open(directory, RawCodec(), options, disk=QuickDisk())
        journal.cursor("a")
        payloads = []
        for number in range(40):
            payload = b"%d:" % number + b"ab\0\xff"[number % 4 :] * (number * 37 % 30)
            if embedded and number % 5 == 4:
                payload += b"".join(path.read_bytes()[-300:] for path in segment_files(directory))
            payloads.append(payload)
            append_safely(journal, [payload])
        journal.close()
        look = Inspection(directory, keys)
        stored = []
        for index, segment in enumerate(look.segments):
            data = segment.path.read_bytes()
            stored += [(r.sequence, data[r.offset : r.end]) for r in look.scan(index)]  # type: ignore[union-attr]
        assert [sequence for sequence, _ in stored] == list(range(1, 41))
        records = [(sequence, data, payloads[sequence - 1]) for sequence, data in stored]
        return Sample({path.name: path.read_bytes() for path in directory.iterdir()}, records, options)


@dataclass(frozen=True)
class Damage:
    kind: str
    place: float  # of the whole length
    other: float
    length: int
    garbage: bytes

    def __call__(self, data: bytes) -> bytes:
        at = int(self.place * len(data))
        before, touched, after = data[:at], data[at : at + self.length], data[at + self.length :]
        match self.kind:
            case "flip":
                bit = 1 << self.length % 8
                return before + bytes([data[at] ^ bit]) + data[at + 1 :] if data else data
            case "cut":
                return before
            case "remove":
                return before + after
            case "zero":
                return before + bytes(len(touched)) + after
            case "insert":
                return before + self.garbage + data[at:]
            case "repeat":  # a piece of it once more, somewhere else
                start = int(self.other * len(data))
                return before + data[start : start + self.length] + data[at:]
        assert self.kind == "append"
        return data + self.garbage


places = st.floats(0, 1, exclude_max=True)
damages = st.builds(
    Damage,
    st.sampled_from(["flip", "flip", "cut", "remove", "zero", "insert", "repeat", "append"]),
    places,
    places,
    st.sampled_from([1, 2, 7, 26, 64, 120, 400]),
    st.binary(min_size=1, max_size=80),
)
plans = st.lists(st.tuples(st.integers(0, 10), damages), min_size=1, max_size=4)
kinds = st.tuples(st.sampled_from(["none", "none", "zlib"]), st.sampled_from([(), (), KEYS]), st.booleans())
Kind = tuple[Compression, tuple[bytes, ...], bool]


def hurt(sample: Sample, plan: list[tuple[int, Damage]], directory: Path) -> None:
    files = dict(sample.files)
    segments = sorted(name for name in files if name.endswith(".segment"))
    for number, damage in plan:
        name = segments[number % len(segments)]
        files[name] = damage(files[name])
    for name, data in files.items():
        (directory / name).write_bytes(data)


def deliver(sample: Sample, directory: Path) -> list[tuple[int, bytes]]:
    """What a gateway that starts on this journal hands to its link."""
    journal = Journal.open(directory, RawCodec(), sample.options, Recorder(), disk=QuickDisk())
    cursor = journal.cursor("a")
    got = read_all(cursor)
    status = journal.status()
    (place,) = status.links
    assert status.last - place.base == sum(place.settled.values()) + place.pending
    assert place.pending == len(got)
    sequences = append_safely(journal, [b"after the damage"])
    assert read_all(cursor) == [(sequences[0], b"after the damage")]
    assert sequences[0] > max((sequence for sequence, _ in got), default=0)
    journal.close()
    return got


def check(sample: Sample, got: list[tuple[int, bytes]], there: dict[int, bool]) -> None:
    assert all(earlier < later for (earlier, _), (later, _) in pairwise(got)), "in order, each once"
    written = {sequence: payload for sequence, _, payload in sample.records}
    for sequence, payload in got:
        assert payload == written[sequence], "a wrong record was delivered as right"
    delivered = {sequence for sequence, _ in got}
    assert [sequence for sequence, whole in there.items() if whole and sequence not in delivered] == []


def whole_records(sample: Sample, directory: Path) -> dict[int, bool]:
    """Which records are still in the segment they were written to, byte for byte: found by comparing, not by checksums.

    Records in the body of a whole record are not records of the journal.
    """
    there = {sequence: False for sequence, _, _ in sample.records}
    firsts = sorted((int(path.stem), path.read_bytes()) for path in segment_files(directory))
    for (first, data), (stop, _) in pairwise([*firsts, (10**9, b"")]):
        expected = [(sequence, record) for sequence, record, _ in sample.records if first <= sequence < stop]
        position = 64
        while expected and (position := data.find(b"\xe1Jr\x1c", position)) >= 0:
            for index, (sequence, record) in enumerate(expected):
                if data.startswith(record, position):
                    there[sequence] = True
                    position += len(record)
                    del expected[: index + 1]
                    break
            else:
                position += 1
    return there


@given(kinds, plans)
@settings(deadline=None, max_examples=100)
def test_a_damaged_journal_delivers_what_is_whole_and_nothing_else(kind: Kind, plan: list[tuple[int, Damage]]) -> None:
    sample = made(*kind)
    with tempfile.TemporaryDirectory() as folder:
        hurt(sample, plan, Path(folder))
        there = whole_records(sample, Path(folder))
        check(sample, deliver(sample, Path(folder)), there)


@given(kinds, plans)
@settings(deadline=None, max_examples=50)
def test_repair_keeps_what_is_whole_and_leaves_nothing_to_complain_of(
    kind: Kind, plan: list[tuple[int, Damage]]
) -> None:
    sample = made(*kind)
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "hurt"
        directory.mkdir()
        hurt(sample, plan, directory)
        there = whole_records(sample, directory)
        look = Inspection(directory, KEYS)
        findings = list(look.verify(Totals()))
        shutil.copytree(directory, Path(folder) / "unrepaired")
        mended = list(repair(directory))
        assert {finding.code for finding in mended} <= {finding.code for finding in findings}
        if any(path.read_bytes() != sample.files[path.name] for path in segment_files(Path(folder) / "unrepaired")):
            assert findings
        again = Totals()
        assert list(Inspection(directory, KEYS).verify(again)) == []
        check(sample, deliver(sample, directory), there)
        check(sample, deliver(sample, Path(folder) / "unrepaired"), there)


@given(kinds, st.dictionaries(st.sampled_from(["a.cursor", "journal.json"]), damages, min_size=1))
@settings(deadline=None, max_examples=50)
def test_damaged_cursors_and_identities_lose_nothing(kind: Kind, plan: dict[str, Damage]) -> None:
    sample = made(*kind)
    with tempfile.TemporaryDirectory() as folder:
        for name, data in sample.files.items():
            (Path(folder) / name).write_bytes(plan[name](data) if name in plan else data)
        got = deliver(sample, Path(folder))
        assert got == [(sequence, payload) for sequence, _, payload in sample.records]


@given(kinds, st.integers(0, 100_000))
@settings(deadline=None, max_examples=100)
def test_a_crash_at_any_byte_loses_only_what_was_not_written(kind: Kind, cut: int) -> None:
    """The newest segment ends anywhere: everything before that place is delivered, and is all there is to say."""
    sample = made(*kind)
    newest = max(name for name in sample.files if name.endswith(".segment"))
    whole = sample.files[newest]
    cut %= len(whole) + 1
    with tempfile.TemporaryDirectory() as folder:
        for name, data in sample.files.items():
            (Path(folder) / name).write_bytes(data[:cut] if name == newest else data)
        there = whole_records(sample, Path(folder))
        got = deliver(sample, Path(folder))
        check(sample, got, there)
        assert [sequence for sequence, _ in got] == list(range(1, sum(there.values()) + 1))
