"""What the jobs cost on Spark, over its JVM and the Python workers.

    spark-validate-…      events for a second of CPU, against the same work in plain Python on the same events: decode the cell,
                          translate, write canonically. 1 is no overhead at all
    spark-JOB-1e6         the same for the other jobs, against the same plain Python
    spark-two-cores       events per second by the clock on local[2], against local[1]
    spark-worker-memory   MiB of the largest Python worker at 1e5 events, against 1e6: 1 is flat

Also printed: CPU microseconds for each event, told apart by the JVM and the workers.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from adapters.base import Delivery, Outgoing
from gateway.capture.open_file import COUNTABLE, REPEATING, ROW_GROUP
from gateway.capture.recorder import LinkRecorder
from gateway.capture.rows import Chunk, Rows
from gateway.capture.told import Told
from mappings.captures.arrow import SCHEMA
from mappings.captures.payloads import PayloadReader, PayloadWriter
from mappings.model import Property, StructuredEvent
from mappings.passage import Translate, compile_translate
from spark.job import Command, Job
from spark.running import once
from spark.session import session
from spark.units import Inventory, take_inventory
from tests.bench.bench_capture import SPECIFICATION
from tests.bench.bench_translate import ALARM
from tests.bench.harness import Bench, Measure

NOW = 1_795_000_000.0
POOL = 2_000  # different events; each comes again with an id of its own
FILE = 100_000  # events in a file; the next one has the same, of another run and with ids of their own
BARE_EVENTS = 20_000
TICKS = os.sysconf("SC_CLK_TCK")


def events() -> list[StructuredEvent]:
    fields = ALARM.filterable_data

    def numbered(field: Property, n: int) -> Property:
        value = n if field.name == "a" else f"{field.value}-{n}" if type(field.value) is str else field.value
        return Property(field.name, field.type, value)

    return [replace(ALARM, filterable_data=tuple(numbered(field, n) for field in fields)) for n in range(POOL)]


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
    (root / "_mappings" / f"{SPECIFICATION.version}.json").write_text(json.dumps(SPECIFICATION.to_json()))
    in_file = min(count, FILE)
    options: dict[str, Any] = {
        "compression": "zstd", "compression_level": 1, "use_dictionary": REPEATING, "write_statistics": COUNTABLE,
        "write_page_checksum": True,
    }  # fmt: skip
    with pq.ParquetWriter(folder / "0.parquet", SCHEMA, **options) as writer:
        for start in range(0, in_file, ROW_GROUP):
            chunk = Chunk()
            for at in range(start, min(in_file, start + ROW_GROUP), 2_000):
                rows.add(told(2_000, at, recorder, pool, translate), 0, 2_000, chunk)
            writer.write_table(pa.Table.from_batches([chunk.to_batch()]))
    table = pq.read_table(folder / "0.parquet")
    ids = table["event_id"]
    for number in range(1, count // in_file):
        own = {"run": pa.repeat(f"r{number}", in_file), "event_id": pc.binary_join_element_wise(ids, str(number), "-")}
        for name, values in own.items():
            table = table.set_column(table.schema.get_field_index(name), table.schema.field(name), values)
        pq.write_table(table, folder / f"{number}.parquet", row_group_size=ROW_GROUP, **options)


class Usage(NamedTuple):
    """Of a process and all below it, ended children too."""

    cpu: float  # seconds
    cpu_of_python: float
    largest_python: int  # bytes


def usage(root: int) -> Usage:
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
    total, of_python, largest, waiting = 0.0, 0.0, 0, [root]
    while waiting:
        pid = waiting.pop()
        if pid in stats:
            name, seconds = stats[pid]
            total += seconds
            if name.startswith("python"):
                of_python += seconds
                largest = max(largest, 0 if pid == root else peak_memory(pid))
        waiting += parents.get(pid, [])
    return Usage(total, of_python, largest)


def peak_memory(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)


@dataclass(frozen=True)
class Figures:
    """Medians."""

    per_cpu: float  # events
    bare_per_cpu: float
    per_clock: float
    worker_mib: float


@cache
def capture(count: int) -> tuple[Path, Any]:
    """The folder goes with what is returned beside it."""
    folder = tempfile.TemporaryDirectory()
    write_capture(Path(folder.name) / "capture", count)
    return Path(folder.name) / "capture", folder


def is_right(result: dict[str, Any], count: int) -> bool:
    match result["job"]:
        case "validate":
            return bool(result["verdicts"]["agrees"] == count)
        case "compare":
            return bool(result["compared"] == count and result["changed"] == 0)
        case "audit":
            return bool(result["clean"] and result["events"] == count)
    return bool(result["events"] == count)


@cache
def done(command: Command, cores: int, count: int) -> Figures:
    """Spark and plain Python take turns; where it takes a minute, once."""
    root, _ = capture(count)
    with tempfile.TemporaryDirectory() as folder:
        mapping = {SPECIFICATION.link: SPECIFICATION.to_json()} if command == "compare" else {}
        job = Job(command, (str(root),), folder, old=mapping, new=mapping)
        inventory = take_inventory(job.captures, job.selection)
        warm = Inventory(inventory.units[:5], [], 1, inventory.mappings)
        found = []
        conf, by_python = {"spark.driver.memory": "2g"}, command != "audit"
        with session("bench", f"local[{cores}]", conf, Path(folder), by_python=by_python) as spark:
            once(spark, job, warm, Path(folder))
            for _ in range(3 if count <= FILE else 1):
                before, began = usage(os.getpid()), time.perf_counter()
                result = once(spark, job, inventory, Path(folder))
                elapsed, after = time.perf_counter() - began, usage(os.getpid())
                assert is_right(result, count), result
                cpu, of_python = after.cpu - before.cpu, after.cpu_of_python - before.cpu_of_python
                bare_rate = bare(root)
                mib = after.largest_python / 2**20
                found.append((count / cpu, bare_rate, count / elapsed, mib))
                micros, python, plain = (1e6 * secs for secs in (cpu / count, of_python / count, 1 / bare_rate))
                print(
                    f"  {command}, {count:,} events, local[{cores}]: {micros:.1f} us CPU/event ({python:.1f} of it Python),"
                    f" bare {plain:.1f}; {count / elapsed:,.0f} events/s by the clock, largest worker {mib:.0f} MiB",
                    flush=True,
                )
    return Figures(*map(statistics.median, zip(*found, strict=True)))


def bare(root: Path) -> float:
    """Decode, translate, write in plain Python, nothing else: events per second of CPU."""
    table = pq.read_table(next(root.rglob("*.parquet")), columns=["source", "source_id"]).slice(0, BARE_EVENTS)
    cells, ids = table.column("source").to_pylist(), table.column("source_id").to_pylist()
    translate = compile_translate(SPECIFICATION.translation)
    read, write = PayloadReader().read, PayloadWriter().write
    now_ms = int(NOW * 1000)
    for cell, id_ in zip(cells[:500], ids[:500], strict=True):
        write(translate(read("event", cell), id_, now_ms, 0))
    began = time.process_time()
    for cell, id_ in zip(cells, ids, strict=True):
        write(translate(read("event", cell), id_, now_ms, 0))
    return len(cells) / (time.process_time() - began)


def compared(value: Callable[[], float], ceiling: Callable[[], float]) -> Any:
    """Figures that are measured together: nothing is left to repeat."""

    @contextmanager
    def setup() -> Iterator[tuple[Measure, Measure]]:
        yield value, ceiling

    return setup


def against_bare(command: Command, cores: int, count: int) -> Any:
    figures = partial(done, command, cores, count)
    return compared(lambda: figures().per_cpu, lambda: figures().bare_per_cpu)


BARE = "decode + translate + write in plain Python"
OTHERS: tuple[Command, ...] = ("compare", "audit", "catalogue")
BENCHES = [
    *(
        Bench(f"spark-validate-{name}-local{cores}", "events/CPU-s", BARE, against_bare("validate", cores, count), 1)
        for name, count in (("1e5", 100_000), ("1e6", 1_000_000))
        for cores in (1, 2)
    ),
    *(
        Bench(f"spark-{command}-1e6", "events/CPU-s", BARE, against_bare(command, 1, 1_000_000), 1)
        for command in OTHERS
    ),
    Bench(
        "spark-two-cores", "events/s", "local[1] by the clock, at 1e6 events",
        compared(lambda: done("validate", 2, 1_000_000).per_clock, lambda: done("validate", 1, 1_000_000).per_clock), 1,
    ),
    Bench(
        "spark-worker-memory", "MiB at 1e5", "the largest worker at 1e6 events",
        compared(lambda: done("validate", 1, 100_000).worker_mib, lambda: done("validate", 1, 1_000_000).worker_mib), 1,
    ),
]  # fmt: skip
