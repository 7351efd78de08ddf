"""What validation costs.

    spark-validate-…           events for a second of CPU of the JVM and its Python workers, against the same work in plain Python
                               on the same events: read the cell, decode, translate, write canonically. 1 is no overhead at all.

Also printed: events per second by the clock on one and two cores, and the memory of the largest Python worker.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from adapters.base import Delivery, Outgoing
from gateway.capture.open_file import COUNTABLE, REPEATING
from gateway.capture.recorder import LinkRecorder
from gateway.capture.rows import Chunk, Rows
from gateway.capture.told import Told
from mappings.captures.arrow import SCHEMA
from mappings.captures.payloads import PayloadWriter, read_payload
from mappings.captures.specification import End, Specification, specification_from_json
from mappings.idl_types import LONG
from mappings.model import Property, StructuredEvent
from mappings.passage import Translate, Translation, compile_translate
from spark.job import Job
from spark.running import once
from spark.session import session
from spark.units import Inventory, take_inventory
from tests.bench.bench_translate import ALARM
from tests.bench.harness import Bench, Measure

NOW = 1_795_000_000.0
POOL = 2_000  # different events; each comes again with an id of its own
SPECIFICATION = Specification("bench", "alarms", End("a", "a"), End("b", "b"), Translation("event", "message"), "0")
TICKS = os.sysconf("SC_CLK_TCK")


def events() -> list[StructuredEvent]:
    first, *rest = ALARM.filterable_data
    return [replace(ALARM, filterable_data=(Property(first.name, LONG, n), *rest)) for n in range(POOL)]


def told(count: int, first: int, recorder: LinkRecorder, pool: list[StructuredEvent], translate: Translate) -> Told:
    """What a link tells of its next batch."""
    numbers = range(first, first + count)
    deliveries = [Delivery(pool[n % POOL], f"bench-{n}", NOW) for n in numbers]
    outgoing = [
        Outgoing(translate(pool[n % POOL], f"bench-{n}", int(NOW * 1000), 0), f"bench-{n}", None, NOW) for n in numbers
    ]
    return Told(recorder, "delivered", NOW + 0.01, [n + 1 for n in numbers], deliveries, outgoing)


def write_capture(root: Path, count: int) -> None:
    """As a gateway would have: the rows by the capture's own code."""
    translate = compile_translate(SPECIFICATION.translation)
    pool = events()
    recorder = LinkRecorder(SPECIFICATION, "r", 1, lambda _: None)
    rows = Rows()
    folder = root / "date=2026-11-18" / "hour=16"
    folder.mkdir(parents=True)
    (root / "_mappings").mkdir()
    import json

    (root / "_mappings" / f"{SPECIFICATION.version}.json").write_text(json.dumps(SPECIFICATION.to_json()))
    with pq.ParquetWriter(
        folder / "a.parquet", SCHEMA, compression="zstd", compression_level=1, use_dictionary=REPEATING,
        write_statistics=COUNTABLE, write_page_checksum=True,
    ) as writer:  # fmt: skip
        for start in range(0, count, 20_000):
            chunk = Chunk()
            for at in range(start, min(count, start + 20_000), 2_000):
                rows.add(told(2_000, at, recorder, pool, translate), 0, 2_000, chunk)
            writer.write_table(pa.Table.from_batches([chunk.to_batch()]))


def cpu_of_tree(root: int) -> tuple[float, int]:
    """CPU seconds of a process and all below it, ended children too; and the largest memory of a Python worker, in bytes."""
    parents: dict[int, list[int]] = {}
    stats: dict[int, tuple[str, float]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                text = (entry / "stat").read_text()
            except OSError:
                continue
            name = text[text.index("(") + 1 : text.rindex(")")]
            fields = text[text.rindex(")") + 2 :].split()
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
            stats[int(entry.name)] = name, sum(map(int, fields[11:15])) / TICKS
    total, largest, waiting = 0.0, 0, [root]
    while waiting:
        pid = waiting.pop()
        if pid in stats:
            total += stats[pid][1]
            if pid != root and stats[pid][0].startswith("python"):
                largest = max(largest, peak_memory(pid))
        waiting += parents.get(pid, [])
    return total, largest


def peak_memory(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)


@contextmanager
def validation(cores: int, count: int) -> Iterator[tuple[Measure, Measure]]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "capture"
        write_capture(root, count)
        job = Job("validate", (str(root),), folder)
        inventory = take_inventory(job.captures, job.selection)
        conf = {"spark.driver.memory": "2g"}
        with session("bench", f"local[{cores}]", conf, Path(folder)) as spark:
            warm = Inventory(inventory.units[:5], [], 1, inventory.mappings)

            def in_spark() -> float:
                once(spark, job, warm, Path(folder))
                before, _ = cpu_of_tree(os.getpid())
                began = time.perf_counter()
                result = once(spark, job, inventory, Path(folder))
                elapsed = time.perf_counter() - began
                after, memory = cpu_of_tree(os.getpid())
                assert result["verdicts"]["agrees"] == count, result
                print(
                    f"  {count:,} events, local[{cores}]: {(after - before) / count * 1e6:.1f} us CPU/event, "
                    f"{count / elapsed:,.0f} events/s by the clock, largest worker {memory / 2**20:.0f} MiB",
                    flush=True,
                )
                return count / (after - before)

            yield in_spark, partial(bare, root, min(count, 20_000))


def bare(root: Path, count: int) -> float:
    """Decode and translate in plain Python, nothing else: events per second of CPU."""
    table = pq.read_table(next(root.rglob("*.parquet")), columns=["source", "source_id"]).slice(0, count)
    cells, ids = table.column("source").to_pylist(), table.column("source_id").to_pylist()
    translate = compile_translate(specification_from_json(SPECIFICATION.to_json()).translation)
    write = PayloadWriter().write
    now_ms = int(NOW * 1000)
    for cell, id_ in zip(cells[:500], ids[:500], strict=True):
        write(translate(read_payload("event", cell), id_, now_ms, 0))
    began = time.process_time()
    for cell, id_ in zip(cells, ids, strict=True):
        write(translate(read_payload("event", cell), id_, now_ms, 0))
    return count / (time.process_time() - began)


BARE = "decode + translate + write in plain Python"
BENCHES = [
    Bench("spark-validate-1e5-local1", "events/CPU-s", BARE, partial(validation, 1, 100_000)),
    Bench("spark-validate-1e5-local2", "events/CPU-s", BARE, partial(validation, 2, 100_000)),
    Bench("spark-validate-1e6-local1", "events/CPU-s", BARE, partial(validation, 1, 1_000_000)),
    Bench("spark-validate-1e6-local2", "events/CPU-s", BARE, partial(validation, 2, 1_000_000)),
]
