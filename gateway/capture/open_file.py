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
from typing import BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from gateway.capture.rows import COUNTABLE, REPEATING
from mappings.captures.arrow import SCHEMA, check_schema, completed
from mappings.captures.errors import CaptureError
from mappings.captures.layout import OPEN_FOLDER, OPEN_SUFFIX, SUFFIX, folder_of

ROW_GROUP: Final = 20_000
DAMAGED_SUFFIX: Final = ".damaged"
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
    """Make Parquet of a closed file, and move it to where it is seen; None where it holds no row.

    Raises OSError; and CaptureError (CAP-STREAM), when all is done, for a stream that is damaged: it is kept beside the others.
    """
    target = sealed_path(root, path)
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
            stream = _Whole(source)
            for batch in stream:
                group.append(batch)
                rows += batch.num_rows
                if sum(held.num_rows for held in group) >= ROW_GROUP:
                    writer.write_table(pa.Table.from_batches(group))
                    group = []
            if group:
                writer.write_table(pa.Table.from_batches(group))
        if rows == 0:
            part.unlink()
        else:
            if sync:
                _sync(part)
            target.parent.mkdir(parents=True, exist_ok=True)
            part.replace(target)
            if sync:
                _sync(target.parent)
        if stream.damage is not None:
            kept = path.rename(path.with_name(path.name + DAMAGED_SUFFIX))
            raise _damaged(kept, rows, stream.damage)
        path.unlink()
    return target if rows else None


def _damaged(kept: Path, rows: int, why: str) -> CaptureError:
    return CaptureError(
        "CAP-STREAM",
        f"what was written before the last stop is damaged: {rows} rows of it could be read, the others are missing ({why})",
        path=str(kept),
        hint="an audit names what is missing; look after the disk or the memory of this machine, then remove the file",
    )


class _Whole:
    """The whole batches of a stream. What a crash left of the last one ends them and is nothing to speak of; `damage` is anything
    else, and what can be read behind it is read."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._size = os.fstat(source.fileno()).st_size
        self.damage: str | None = None

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        try:
            reader = pa.ipc.open_stream(self._source)
            check_schema(reader.schema, "")
        except (pa.ArrowException, OSError, ValueError, MemoryError, CaptureError) as trouble:
            self._note(trouble)
            return
        failed_at = -1
        while True:
            try:
                batch = reader.read_next_batch()
                batch.validate(full=True)  # what was damaged may name places far outside of it: nobody else looks
            except StopIteration:
                return
            except (pa.ArrowException, OSError, ValueError, MemoryError) as trouble:
                self._note(trouble)
                if self._source.tell() <= failed_at or self._at_end:
                    return
                failed_at = self._source.tell()
                continue
            yield pa.RecordBatch.from_arrays(completed(batch, SCHEMA.names).columns, schema=SCHEMA)

    @property
    def _at_end(self) -> bool:
        return self._source.tell() >= self._size

    def _note(self, trouble: Exception) -> None:
        if not self._at_end and self.damage is None:
            self.damage = " ".join(str(trouble).split())[:200] or type(trouble).__name__


def sealed_path(root: Path, path: Path) -> Path:
    """Where it goes: by the time in its name, that of its first row."""
    stamp = path.name.partition("-")[0]
    folder = f"date={stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}/hour={stamp[9:11]}"
    return root / folder / (path.name.removesuffix(OPEN_SUFFIX) + SUFFIX)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
