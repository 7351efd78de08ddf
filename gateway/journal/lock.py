"""One process at a time writes a journal; any number may read it."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from gateway.journal.errors import JournalLocked

LOCK_NAME: Final = "journal.lock"
PATIENCE_SECS: Final = 2.0  # a gateway that is just ending, and a reading tool that is just looking, are waited for


class JournalLock:
    """Held while this object is not released; the kernel frees it when the process ends, however it ends."""

    def __init__(self, directory: Path, patience_secs: float = PATIENCE_SECS) -> None:
        """Raises JournalLocked."""
        self._descriptor: int | None = None
        descriptor = os.open(directory / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
        deadline = time.monotonic() + patience_secs
        while not _try(descriptor, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                owner = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
                os.close(descriptor)
                raise JournalLocked(
                    "JNL-LOCKED",
                    f"the journal is in use by process {owner or 'unknown'}",
                    path=str(directory),
                    hint="stop that gateway first; ls, show, verify and export need no lock",
                )
            time.sleep(0.02)
        with suppress(OSError):  # the number is for people; a full disk must not keep a gateway from starting
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def is_alive(directory: Path) -> bool:
    """True while some process has the journal open for writing."""
    try:
        descriptor = os.open(directory / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _try(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)  # frees the lock if we got it


def _try(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
