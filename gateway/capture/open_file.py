"""A file of a capture while it grows: an Arrow stream in `.open`, where Spark does not look.

A Parquet file without its end is unreadable, and a process may die at any moment. A stream is readable up to its last whole batch;
`seal` makes Parquet of it, also in another life of the gateway.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from gateway.capture.rows import COUNTABLE, REPEATING
from mappings.captures.arrow import SCHEMA
from mappings.captures.layout import OPEN_FOLDER, OPEN_SUFFIX, SUFFIX, folder_of

ROW_GROUP: Final = 20_000
_PART: Final = ".part"


class OpenFile:
    """Belongs to the writer's thread. Every call may raise OSError: then close it; it is whole up to its last batch."""

    def __init__(self, root: Path, name: str, now: float) -> None:
        folder = root / OPEN_FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now))
        self.path = folder / f"{stamp}-{name}{OPEN_SUFFIX}"
        self.folder = folder_of(now)
        self.rows = 0
        self.began = time.monotonic()
        self._lock = self.path.open("xb")
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # says that somebody is at it
        self._file = pa.OSFile(str(self.path), "wb")  # nothing of it waits in this process
        self._stream: pa.RecordBatchStreamWriter | None = pa.ipc.new_stream(self._file, SCHEMA)

    def write(self, batch: pa.RecordBatch) -> None:
        assert self._stream is not None
        self._stream.write_batch(batch)
        self.rows += batch.num_rows

    def close(self) -> None:
        """Twice is fine."""
        stream, self._stream = self._stream, None
        try:
            if stream is not None:
                stream.close()
        finally:
            self._file.close()
            self._lock.close()


def left_open(root: Path) -> list[Path]:
    """Files of gateways that are no more, and of this one that it has closed; those that somebody writes to are left out."""
    found = []
    for path in sorted((root / OPEN_FOLDER).glob(f"*{OPEN_SUFFIX}")):
        try:
            with path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            continue
        found.append(path)
    return found


def seal(root: Path, path: Path, compression: str, level: int | None, *, sync: bool = True) -> Path | None:
    """Make Parquet of a closed file, and move it to where it is seen; None where it holds no row. Raises OSError."""
    target = root / _folder_of(path) / (path.name.removesuffix(OPEN_SUFFIX) + SUFFIX)
    part = path.with_name(target.name + _PART)
    rows = 0
    with path.open("rb") as source:
        fcntl.flock(source, fcntl.LOCK_EX)  # nobody else seals it at the same time
        if not path.exists():
            return None
        with pq.ParquetWriter(
            part,
            SCHEMA,
            compression=compression,
            compression_level=level,
            use_dictionary=REPEATING,
            write_page_checksum=True,
            write_statistics=COUNTABLE,
        ) as writer:
            group: list[pa.RecordBatch] = []
            for batch in _batches(source):
                group.append(batch)
                rows += batch.num_rows
                if sum(held.num_rows for held in group) >= ROW_GROUP:
                    writer.write_table(pa.Table.from_batches(group))
                    group = []
            if group:
                writer.write_table(pa.Table.from_batches(group))
        if rows == 0:
            part.unlink()
            path.unlink()
            return None
        if sync:
            _sync(part)
        target.parent.mkdir(parents=True, exist_ok=True)
        part.replace(target)
        if sync:
            _sync(target.parent)
        path.unlink()
    return target


def _batches(source: object) -> Iterator[pa.RecordBatch]:
    """The whole ones; what a crash left of the last one ends them."""
    try:
        reader = pa.ipc.open_stream(source)
    except (pa.ArrowInvalid, OSError):
        return
    while True:
        try:
            batch = reader.read_next_batch()
        except (StopIteration, pa.ArrowInvalid, OSError):
            return
        if batch.schema.names != SCHEMA.names:
            return
        yield batch


def _folder_of(path: Path) -> str:
    """By the time in its name: that of its first row."""
    stamp = path.name.partition("-")[0]
    return f"date={stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}/hour={stamp[9:11]}"


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
