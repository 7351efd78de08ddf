"""The folder that a gateway writes to. One gateway at a time owns it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from adapters.base import StopError

LOCK_NAME = "isthmus.lock"


class RunDir:
    """Made if it is missing, and locked while the gateway runs; the kernel frees the lock when the process ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    def acquire(self) -> None:
        """Raises StopError where the folder cannot be used."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
        except OSError as trouble:
            raise StopError(
                "LNK-RUN-DIR",
                f"the folder {self.path} cannot be written: {trouble.strerror or trouble}",
                path="run_dir",
                hint="give the gateway a folder of its own that its user may write to",
            ) from trouble
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as taken:
            owner = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            raise StopError(
                "LNK-RUN-DIR-TAKEN",
                f"another gateway (process {owner or 'unknown'}) uses the folder {self.path}",
                path="run_dir",
                hint="stop that one first, or give this one a run_dir of its own",
            ) from taken
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        self._lock = descriptor

    def release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def write_whole(path: Path, text: str) -> None:
    """Readers see the whole text or none of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    with part.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
