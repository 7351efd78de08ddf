"""The writer under trouble: full disks, killed processes, queues that are full; and cells that are hard to write."""

from __future__ import annotations

import errno
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pytest

from adapters.base import Delivery, Outgoing
from gateway.capture.inspection import rows
from gateway.capture.open_file import OpenFile, left_open, seal
from gateway.capture.recorder import LinkRecorder
from gateway.capture.rows import Chunk, Rows
from gateway.capture.sealer import Sealer
from gateway.capture.sweeper import Sweeper
from gateway.capture.told import Told
from gateway.capture.writer import Writer
from mappings.captures.arrow import SCHEMA
from mappings.captures.errors import CaptureError
from mappings.captures.layout import COLUMNS, Status
from mappings.captures.specification import End, Specification
from mappings.passage import Translation
from tests.unit.capture.rows_of import rows_of
from tests.unit.links.rig import event, wait_for

SPECIFICATION = Specification("gw", "main", End("a", "a"), End("b", "b"), Translation("event", "event"), "0")


class Rig:
    def __init__(
        self,
        root: Path,
        room: int = 20_000,
        roll_rows: int = 500_000,
        keep_bytes: int | None = None,
        leave_free: int = 0,
    ) -> None:
        self.root = root
        self.told: list[tuple[str | None, int]] = []
        sweeper = Sweeper(root, None, keep_bytes)
        self.sealer = Sealer(root, "zstd", 1, sweeper, lambda error: self.hear(error, 0))
        self.writer = Writer(root, "gw", Rows(), self.sealer, 60.0, roll_rows, self.hear, leave_free_bytes=leave_free)
        self.recorder = LinkRecorder(SPECIFICATION, "r1", room, self.writer.hand_over)

    def hear(self, error: Any, uncaptured: int) -> None:
        self.told.append((error.code if error else None, uncaptured))

    def start(self) -> None:
        self.sealer.start()
        self.writer.start()

    def stop(self) -> None:
        assert self.writer.stop(20.0)
        assert self.sealer.stop(20.0)

    def pass_on(self, count: int, first: int = 0) -> None:
        deliveries = [Delivery(event(n), f"e{n}", time.time()) for n in range(first, first + count)]
        self.recorder.received(deliveries)
        sent = [Outgoing(event(n), f"e{n}") for n in range(first, first + count)]
        self.recorder.settled("delivered", deliveries, sent)


def test_files_roll_and_keep_every_row_in_order(tmp_path: Path) -> None:
    rig = Rig(tmp_path, roll_rows=500)
    rig.start()
    for start in range(0, 2000, 100):
        rig.pass_on(100, start)
    rig.stop()
    found = rows_of(tmp_path)
    assert [row["event_id"] for row in found] == [f"e{n}" for n in range(2000)]
    assert [row["seq"] for row in found] == list(range(1, 2001))
    assert len(list(tmp_path.rglob("*.parquet"))) == 4
    assert rig.recorder.captured == 2000
    assert list((tmp_path / ".open").iterdir()) == []


def test_a_full_queue_loses_rows_and_says_which(tmp_path: Path) -> None:
    rig = Rig(tmp_path, room=300)
    rig.pass_on(200)
    rig.pass_on(200, 200)
    rig.pass_on(200, 400)  # nobody takes yet: these have no room
    rig.pass_on(200, 600)
    assert rig.recorder.uncaptured == 400
    rig.start()
    wait_for(lambda: rig.recorder.captured == 400)
    rig.pass_on(10, 800)
    rig.stop()
    found = rows_of(tmp_path)
    assert [(row["seq"], row["seq_to"]) for row in found if row["status"] == "uncaptured"] == [(401, 800)]
    delivered = [row["seq"] for row in found if row["status"] == "delivered"]
    assert delivered == [*range(1, 401), *range(801, 811)]
    assert ("CAP-BEHIND", 400) in rig.told


def test_a_full_disk_loses_rows_says_so_and_recovers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = threading.Event()
    write = OpenFile.write

    def refuse(self: OpenFile, batch: Any) -> None:
        if full.is_set():
            raise OSError(errno.ENOSPC, "No space left on device", str(self.path))
        write(self, batch)

    monkeypatch.setattr(OpenFile, "write", refuse)
    monkeypatch.setattr("gateway.capture.writer.RETRY_SECS", 0.05)
    rig = Rig(tmp_path)
    rig.start()
    rig.pass_on(250)
    wait_for(lambda: rig.recorder.captured == 250)
    full.set()
    rig.pass_on(250, 250)
    wait_for(lambda: rig.recorder.uncaptured == 250)
    full.clear()
    wait_for(lambda: rig.told[-1:] == [(None, 250)])
    rig.pass_on(250, 500)
    rig.stop()
    found = rows_of(tmp_path)
    assert [row["seq"] for row in found if row["status"] == "delivered"] == [*range(1, 251), *range(501, 751)]
    assert [(row["seq"], row["seq_to"]) for row in found if row["status"] == "uncaptured"] == [(251, 500)]
    assert [code for code, _ in rig.told] == ["CAP-WRITE", None]


def test_it_leaves_the_journal_room_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.capture.writer.RETRY_SECS", 0.05)
    free = [2000]
    real = os.statvfs(tmp_path)

    def asked(_: object) -> os.statvfs_result:
        return os.statvfs_result([1, 1, *real[2:4], free[0], *real[5:]])  # block size, fragment size, …, f_bavail

    monkeypatch.setattr("gateway.capture.writer.os.statvfs", asked)
    rig = Rig(tmp_path, leave_free=1000)
    rig.start()
    rig.pass_on(250)
    wait_for(lambda: rig.recorder.captured == 250)
    free[0] = 999
    rig.pass_on(250, 250)
    wait_for(lambda: rig.recorder.uncaptured == 250)
    free[0] = 1000
    wait_for(lambda: rig.told[-1:] == [(None, 250)])
    rig.pass_on(250, 500)
    rig.stop()
    assert [row["seq"] for row in rows_of(tmp_path) if row["status"] == "delivered"] == [
        *range(1, 251),
        *range(501, 751),
    ]
    assert [code for code, _ in rig.told] == ["CAP-WRITE", None]


def test_files_go_oldest_first_where_they_are_too_large_together(tmp_path: Path) -> None:
    rig = Rig(tmp_path, roll_rows=250, keep_bytes=30_000)
    rig.start()
    for start in range(0, 5000, 250):
        rig.pass_on(250, start)
    rig.stop()
    files = list(tmp_path.rglob("*.parquet"))
    assert sum(path.stat().st_size for path in files) <= 30_000
    kept = [row["seq"] for row in rows_of(tmp_path)]
    assert 1 < len(files) < 20
    assert kept == list(range(5001 - len(kept), 5001)), "the newest, and no gap in them"
    assert rig.recorder.captured == 5000
    assert rig.told == []


def test_what_a_killed_gateway_had_written_is_sealed_at_the_next_start(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from tests.unit.capture.test_writer import Rig\n"
        "rig = Rig(Path(sys.argv[1])); rig.start(); rig.pass_on(1000)\n"
        "while rig.recorder.captured < 1000: time.sleep(0.01)\n"
        "print('written', flush=True); time.sleep(60)"
    )
    child = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "written\n"
    assert left_open(tmp_path) == [], "a live gateway's file must be left alone"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    (half,) = left_open(tmp_path)
    half.write_bytes(half.read_bytes() + b"\xff\xff\xff\xff\x10\x00")  # as the kernel may leave the last write
    rig = Rig(tmp_path)
    rig.start()
    rig.stop()
    assert [row["event_id"] for row in rows_of(tmp_path)] == [f"e{n}" for n in range(1000)]
    assert left_open(tmp_path) == []


def test_a_stream_cut_anywhere_gives_its_whole_batches_and_no_error(tmp_path: Path) -> None:
    told: list[Told] = []
    recorder = LinkRecorder(SPECIFICATION, "r1", 100, told.append)
    deliveries = [Delivery(event(n), f"e{n}", 1.0) for n in range(20)]
    recorder.received(deliveries)
    recorder.settled("filtered", deliveries, ())
    open_file = OpenFile(tmp_path, "gw-1", 1.0)
    sizes = [open_file.path.stat().st_size]
    for number in range(20):
        chunk = Chunk()
        Rows().add(told[0], number, number + 1, chunk)
        open_file.write(chunk.to_batch())
        sizes.append(open_file.path.stat().st_size)
    open_file.close()
    data = open_file.path.read_bytes()
    for cut in [0, 1, *sizes, *(size - 1 for size in sizes[4::4]), *range(100, len(data), 4001)]:
        path = tmp_path / ".open" / f"19700101T000001-cut{cut}.arrows"
        path.write_bytes(data[:cut])
        sealed = seal(tmp_path, path, "zstd", 1, sync=False)
        found = [] if sealed is None else [row["event_id"] for row in rows(sealed)]
        assert found == [f"e{n}" for n in range(sum(1 for size in sizes[1:] if size <= cut))]
        assert not path.exists()


def stream(root: Path, name: str, batches: int, schema: pa.Schema = SCHEMA) -> tuple[Path, list[int]]:
    """A closed stream of five rows a batch, and where each batch ends."""
    told: list[Told] = []
    recorder = LinkRecorder(SPECIFICATION, "r1", 10_000, told.append)
    deliveries = [Delivery(event(n), f"e{n}", 1.0) for n in range(batches * 5)]
    recorder.received(deliveries)
    recorder.settled("filtered", deliveries, ())
    path = root / ".open" / f"19700101T000001-{name}.arrows"
    path.parent.mkdir(exist_ok=True)
    ends = []
    with path.open("wb") as file, pa.ipc.new_stream(file, schema) as writer:
        for first in range(0, batches * 5, 5):
            chunk = Chunk()
            Rows().add(told[0], first, first + 5, chunk)
            writer.write_batch(chunk.to_batch().select(schema.names).replace_schema_metadata(schema.metadata))
            file.flush()
            ends.append(file.tell())
    return path, ends


def test_a_stream_of_an_older_gateway_is_sealed_with_all_its_rows(tmp_path: Path) -> None:
    path, _ = stream(tmp_path, "old", 4, SCHEMA.remove(SCHEMA.get_field_index("checksum")))
    sealed = seal(tmp_path, path, "zstd", 1, sync=False)
    assert sealed is not None
    found = list(rows(sealed))
    assert [row["event_id"] for row in found] == [f"e{n}" for n in range(20)]
    assert {row["checksum"] for row in found} == {None}
    assert not path.exists()


def test_of_a_damaged_stream_all_other_batches_are_read_and_the_stream_is_kept(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    path, ends = stream(tmp_path, "damaged", 4)
    data = bytearray(path.read_bytes())
    length = data.index((5).to_bytes(8, "little"), ends[0])  # of the second batch: five rows
    data[length] = 6
    path.write_bytes(bytes(data))
    foreign = tmp_path / ".open" / "19700101T000001-foreign.arrows"
    with pa.ipc.new_stream(foreign, pa.schema([("a", pa.int64())])) as writer:
        writer.write_table(pa.table({"a": [1]}))
    rig.start()
    rig.stop()
    assert [row["seq"] for row in rows_of(tmp_path)] == [*range(1, 6), *range(11, 21)]
    kept = sorted(one.name for one in (tmp_path / ".open").iterdir())
    assert kept == [f"{path.name}.damaged", f"{foreign.name}.damaged"]
    assert rig.told == [("CAP-STREAM", 0), ("CAP-STREAM", 0)]


@pytest.mark.parametrize("seed", range(20))
def test_no_flipped_bit_of_a_stream_ends_the_gateway(seed: int, tmp_path: Path) -> None:
    """Such a stream waits for the next start, and for every one after that."""
    path, _ = stream(tmp_path, "flipped", 3)
    data = bytearray(path.read_bytes())
    bit = random.Random(seed).randrange(len(data) * 8)
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(bytes(data))
    with suppress(CaptureError):
        sealed = seal(tmp_path, path, "zstd", 1, sync=False)
        assert sealed is None or len(list(rows(sealed))) <= 15
    assert not path.exists()


def test_the_page_lists_every_column_and_status() -> None:
    page = (Path(__file__).parents[3] / "docs" / "capture.md").read_text(encoding="utf-8")
    for column in COLUMNS:
        assert f"| `{column.name}` | {column.type} | {column.meaning} |" in page
    assert set(re.findall(r"^\| `([a-z_]+)` \| [^|]+ \|$", page, re.MULTILINE)) == set(get_args(Status))
