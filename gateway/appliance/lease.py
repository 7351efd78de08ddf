"""Who of several gateways on one `run_dir` leads: one file for each term, made by whoever begins it.

    leader.7     {"holder": …, "beat": 812, "released": false}

The leader renews its term by writing a higher beat; the others watch. When the newest term has been released, or its beat has stood
still for `lease_secs` by the watcher's own clock, whoever makes the file of the next term leads: that can succeed once. A leader
that could not renew in time, or finds a later term, leads no more, whatever it was doing: see `fencing.py` for what it can then no
longer write. No two clocks are compared, and nothing but files of the shared folder is needed.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

_NAME: Final = "leader."
_MARGIN: Final = 0.8  # a leader believes itself a little shorter than the others do
_SIZE: Final = 512  # written in place: renewing needs no room on the disk
_CLOCK: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # goes on while a machine sleeps


def _now() -> float:
    return time.clock_gettime(_CLOCK)


class Lease:
    def __init__(self, folder: Path, lease_secs: float, clock: Callable[[], float] = _now) -> None:
        self._folder = folder
        self._lease_secs = lease_secs
        self._clock = clock
        self._holder = f"{socket.gethostname()}:{os.getpid()}"
        self._seen: tuple[int, object] = (0, None)
        self._seen_at = clock()
        self._descriptor: int | None = None
        self._beat = 0
        self._valid_until = 0.0
        self.term = 0
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def is_valid(self) -> bool:
        """Whether we lead; asked before and after whatever only a leader may do."""
        return self._clock() < self._valid_until

    def leads(self) -> bool:
        """`is_valid`, for those who want a function."""
        return self.is_valid

    def leader(self) -> str:
        """Who leads, for people."""
        term = self._newest()
        return str((self._read(term) or {}).get("holder", "nobody"))

    def try_to_lead(self) -> bool:
        """Look at the newest term, and begin the next one if that is over. Raises OSError where the folder cannot be used."""
        self._folder.mkdir(parents=True, exist_ok=True)
        newest = self._newest()
        content = self._read(newest)
        seen = (newest, None if content is None else (content.get("holder"), content.get("beat")))
        if seen != self._seen:
            self._seen, self._seen_at = seen, self._clock()
        over = newest == 0 or bool(content and content.get("released"))
        if not over and self._clock() - self._seen_at < self._lease_secs:
            return False
        began = self._clock()
        try:
            descriptor = os.open(self._path(newest + 1), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o640)
        except FileExistsError:
            return False  # somebody was quicker
        self._descriptor, self.term, self._beat = descriptor, newest + 1, 0
        self._write(released=False)
        self._valid_until = began + self._lease_secs * _MARGIN
        for term in self._terms():
            if term < newest:  # the one before stays: its holder may still look for it
                self._path(term).unlink(missing_ok=True)
        return True

    def keep(self, on_lost: Callable[[], None]) -> None:
        """Renew from a thread of its own, until `release`, or until the lease is lost."""
        self._thread = threading.Thread(target=self._renew_all_the_time, args=(on_lost,), name="lease", daemon=True)
        self._thread.start()

    def renew(self) -> bool:
        """False when it is lost for good. Raises OSError where it cannot be written now."""
        began = self._clock()
        if began >= self._valid_until or self._newest() > self.term:
            self._valid_until = 0.0
            return False
        self._write(released=False)
        if self._newest() > self.term:
            self._valid_until = 0.0
            return False
        self._valid_until = began + self._lease_secs * _MARGIN
        return True

    def release(self) -> None:
        """Lead no more; whoever waits may at once."""
        self._stopping.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(self._lease_secs)
        if self._descriptor is not None:
            with suppress(OSError):
                if self.is_valid:
                    self._write(released=True)
            os.close(self._descriptor)
            self._descriptor = None
        self._valid_until = 0.0

    def _renew_all_the_time(self, on_lost: Callable[[], None]) -> None:
        while not self._stopping.wait(self._lease_secs / 6):
            try:
                held = self.renew()
            except OSError:
                held = self.is_valid  # tried again until it is over
            if not held:
                if not self._stopping.is_set():
                    on_lost()
                return

    def _write(self, *, released: bool) -> None:
        assert self._descriptor is not None
        self._beat += 1
        text = json.dumps({"holder": self._holder, "beat": self._beat, "released": released})
        os.pwrite(self._descriptor, text.encode().ljust(_SIZE), 0)
        os.fsync(self._descriptor)

    def _read(self, term: int) -> dict[str, Any] | None:
        """None where it cannot be read, or is being written: then it counts as unchanged until it can."""
        try:
            form = json.loads(self._path(term).read_bytes())
        except (OSError, ValueError):
            return None
        return form if isinstance(form, dict) else None

    def _newest(self) -> int:
        return max(self._terms(), default=0)

    def _terms(self) -> list[int]:
        endings = [path.name.removeprefix(_NAME) for path in self._folder.iterdir() if path.name.startswith(_NAME)]
        return [int(ending) for ending in endings if ending.isascii() and ending.isdigit()]

    def _path(self, term: int) -> Path:
        return self._folder / f"{_NAME}{term}"
