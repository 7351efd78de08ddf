"""Where events go that can never pass: a file of JSON lines, one event a line, on disk before the source is acknowledged.

A line holds what is needed to see why and to send it again: the event in its JSON form (FORMS.md), the original bytes where the
wire has them, the error with its code and place, the rule of the mapping that could not be followed, and the times.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from adapters.base import Delivery
from gateway.links.payload_form import payload_to_json
from mappings.errors import IsthmusError


class DeadLetterFile:
    """Appends to one file, which is made at the first dead letter."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def put(self, link: str, delivery: Delivery, error: IsthmusError, attempts: int = 0) -> None:
        line = json.dumps(dead_letter_to_json(link, delivery, error, attempts), ensure_ascii=False) + "\n"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self._path, create=True) as descriptor:
            whole = os.fstat(descriptor).st_size
            # What a crash left of a line must not take the next one along.
            begin = b"\n" if whole and os.pread(descriptor, 1, whole - 1) != b"\n" else b""
            try:
                _write_all(descriptor, begin + line.encode("utf-8", "surrogatepass"))
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, whole)  # a full disk must not leave half a line before the next try
                raise


@contextmanager
def locked(path: Path, *, create: bool = False) -> Iterator[int]:
    """The file, open for appending and ours alone. Whoever puts another file in its place holds this lock too, so what is open
    here is what stands at the path, also while `isthmus dlq` takes letters out of it. Raises OSError."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | (os.O_CREAT if create else 0)
    while True:
        descriptor = os.open(path, flags, 0o640)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _stands_at(path, descriptor):
                yield descriptor
                return
        finally:
            os.close(descriptor)


def _stands_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def dead_letter_to_json(link: str, delivery: Delivery, error: IsthmusError, attempts: int = 0) -> dict[str, Any]:
    return {
        "link": link,
        "id": delivery.id,
        "received_at": delivery.received_at,
        "dead_lettered_at": time.time(),
        "error": error.to_json(),
        "rule": error.rule or None,
        "attempts": attempts,
        "payload": payload_to_json(delivery.payload),
        "original": base64.b64encode(delivery.original).decode("ascii") if delivery.original is not None else None,
    }


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
