"""The journal alone, against the same bytes through bare os.write and os.fdatasync with the same batching, in the same run.

Folders are on the disk of the temporary folder (TMPDIR), which should be that of the gateway's `run_dir`.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adapters.base import Delivery
from gateway.demo.alarms import alarm
from gateway.journal.codec import RawCodec
from gateway.journal.delivery_codec import DeliveryCodec
from gateway.journal.journal import Journal
from gateway.journal.options import Options
from mappings.forms.events import event_to_json
from tests.bench.harness import Bench, Measure, per_second, simple

COUNT = 100_000
GROUP = 100
WINDOW = 100  # groups that may wait at once: what a window of 10 000 events is
BODY = os.urandom(1024)


def _alarms(count: int) -> list[Delivery]:
    chance = random.Random(1)
    return [
        Delivery(alarm(n, 1795000000.0, chance), f"ems-1-{n}", 1795000000.0 + n, original=bytes(600))
        for n in range(count)
    ]


def _append_all(journal: Journal[bytes], groups: list[list[bytes]]) -> float:
    """Groups per second until the last one is safe; one producer, one sync per group."""
    room = threading.Semaphore(WINDOW)
    started = time.perf_counter()
    for group in groups:
        room.acquire()
        journal.append(group, on_safe=room.release)
    for _ in range(WINDOW):
        room.acquire()
    return len(groups) / (time.perf_counter() - started)


@contextmanager
def appending() -> Iterator[tuple[Measure, Measure]]:
    groups = [[BODY] * GROUP] * (COUNT // GROUP)
    with tempfile.TemporaryDirectory() as folder:
        number = iter(range(1000))

        def journalled() -> float:
            directory = Path(folder) / f"journal-{next(number)}"
            journal = Journal.open(directory, RawCodec(), Options(group_records=GROUP, max_bytes=None))
            rate = _append_all(journal, groups) * GROUP
            journal.close()
            _remove(directory)
            return rate

        def bare() -> float:
            path = Path(folder) / "bare"
            descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
            started = time.perf_counter()
            for group in groups:
                os.write(descriptor, b"".join(group))
                os.fdatasync(descriptor)
            elapsed = time.perf_counter() - started
            os.close(descriptor)
            path.unlink()
            return COUNT / elapsed

        yield journalled, bare


@contextmanager
def appending_without_disk() -> Iterator[tuple[Measure, Measure]]:
    """The same in memory: what the journal costs when the disk costs nothing."""
    before = tempfile.tempdir
    tempfile.tempdir = "/dev/shm" if Path("/dev/shm").is_dir() else None
    try:
        with appending() as measures:
            yield measures
    finally:
        tempfile.tempdir = before


def encoded() -> float:
    codec, deliveries = DeliveryCodec(), _alarms(200)
    return per_second(lambda n: [codec.encode(deliveries[i % 200]) for i in range(n)])


def decoded() -> float:
    codec = DeliveryCodec()
    payloads = [codec.encode(delivery) for delivery in _alarms(200)]
    return per_second(lambda n: [codec.decode(payloads[i % 200]) for i in range(n)])


def dumped() -> float:
    forms = [event_to_json(delivery.payload) for delivery in _alarms(200) if delivery.payload]  # type: ignore[arg-type]
    return per_second(lambda n: [json.dumps(forms[i % 200]) for i in range(n)])


def loaded() -> float:
    texts = [json.dumps(event_to_json(delivery.payload)) for delivery in _alarms(200) if delivery.payload]  # type: ignore[arg-type]
    return per_second(lambda n: [json.loads(texts[i % 200]) for i in range(n)])


@contextmanager
def reading_back() -> Iterator[tuple[Measure, Measure]]:
    """A link that was away reads alarms from disk, and settles them."""
    deliveries = _alarms(20_000)
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "journal"
        options = Options(max_bytes=None, tail_records=0)
        journal = Journal.open(directory, DeliveryCodec(), options)
        journal.cursor("a")
        journal.append(deliveries)
        journal.close()
        cursors = {path.name: path.read_bytes() for path in directory.glob("*.cursor")}

        def read() -> float:
            for name, data in cursors.items():
                (directory / name).write_bytes(data)
            journal = Journal.open(directory, DeliveryCodec(), options)
            cursor = journal.cursor("a")
            got = 0
            started = time.perf_counter()
            while got < len(deliveries):
                entries = cursor.read(100, 1.0)
                cursor.settle([entry.sequence for entry in entries])
                got += len(entries)
            elapsed = time.perf_counter() - started
            journal.close()
            return got / elapsed

        yield read, decoded


def _remove(directory: Path) -> None:
    for path in directory.iterdir():
        path.unlink()
    directory.rmdir()


BENCHES = [
    Bench("journal-append-1k-sync-100", "events/s", "os.write + fdatasync of the same bytes", appending),
    Bench("journal-append-1k-in-memory", "events/s", "os.write + fdatasync, both on tmpfs", appending_without_disk),
    simple("journal-encode-alarm", "alarms/s", "json.dumps of the alarm's JSON form", encoded, dumped),
    simple("journal-decode-alarm", "alarms/s", "json.loads of the alarm's JSON form", decoded, loaded),
    Bench("journal-read-back-alarms", "alarms/s", "decoding them, already in memory", reading_back),
]
