"""Keeps a capture within its bounds: throws away days that are too old, and the oldest files where all are too large together."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from mappings.captures.layout import folder_of

DAY_SECS: Final = 86_400
OFTEN_SECS: Final = 600.0  # what other gateways have sealed in the same folder is counted so often


class Sealed(NamedTuple):
    path: Path
    size: int


class Sweeper:
    """Used by the sealer's thread. Several gateways may sweep one folder: what is gone is gone."""

    def __init__(self, root: Path, keep_days: int | None, keep_bytes: int | None) -> None:
        self._root = root
        self._keep_days = keep_days
        self._keep_bytes = keep_bytes
        self._swept_at: float | None = None
        self._bytes = 0  # that are thought to be there

    def look(self, added: int) -> None:
        """After files of so many bytes were sealed. Sweeps where it is time to."""
        if self._keep_days is None and self._keep_bytes is None:
            return
        self._bytes += added
        now = time.monotonic()
        too_much = self._keep_bytes is not None and self._bytes > self._keep_bytes
        if too_much or self._swept_at is None or now - self._swept_at >= OFTEN_SECS:
            self._swept_at = now
            self._bytes = self._sweep(time.time())

    def _sweep(self, now: float) -> int:
        """What is left."""
        files = list(self._files())
        left = sum(file.size for file in files)
        oldest_day = "" if self._keep_days is None else folder_of(now - self._keep_days * DAY_SECS).partition("/")[0]
        for file in files[:-1]:  # the newest stays, however large it is
            too_old = file.path.parent.parent.name < oldest_day
            if not too_old and (self._keep_bytes is None or left <= self._keep_bytes):
                break
            left -= file.size
            with suppress(OSError):
                file.path.unlink(missing_ok=True)
                file.path.parent.rmdir()  # fails while there is another file in the hour, or hour in the day
                file.path.parent.parent.rmdir()
        return left

    def _files(self) -> Iterator[Sealed]:
        """Oldest first: their names begin with their times."""
        for path in sorted(self._root.glob("date=????-??-??/hour=??/*.parquet")):
            with suppress(OSError):
                yield Sealed(path, path.stat().st_size)
