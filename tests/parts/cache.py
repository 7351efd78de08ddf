"""A folder outside the tree, in which every part that the tests need is made once and kept.

A part is a folder under the cache that is either complete or absent: it is made in a temporary folder beside it, stamped, and
renamed. The stamp says what was made (name, version, how), so that a change of version makes the part anew. Any number of test
processes may ask at once: a lock file lets one of them make it while the others wait.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

STAMP = "STAMP"
LOCK_WAIT_SECS = 900.0


class PartUnavailable(Exception):
    """A part cannot be had on this machine now; the text is the reason, for the summary of the test run."""


_missing: dict[Path, PartUnavailable] = {}  # what this process has tried in vain, and does not try again


def cache_root() -> Path:
    """ISTHMUS_PARTS, or a folder in the user's cache."""
    named = os.environ.get("ISTHMUS_PARTS")
    return Path(named) if named else Path.home() / ".cache" / "isthmus" / "parts"


def made(name: str, stamp: str, make: Callable[[Path], None], *, root: Path | None = None) -> Path:
    """The folder `name` of the cache, made by `make(empty folder)` unless it is there with this very stamp.

    What `make` raises goes to the caller, and leaves nothing behind. PartUnavailable holds for the rest of this process: a hundred
    tests do not wait a hundred times for the same dead network.
    """
    root = root or cache_root()
    target = root / name
    if _stamp_of(target) == stamp:
        return target
    if target in _missing:
        raise _missing[target]
    root.mkdir(parents=True, exist_ok=True)
    with _locked(root / f".{name}.lock"):
        if _stamp_of(target) != stamp:  # nobody else has made it while we waited
            for remains in root.glob(f".{name}.making-*"):  # of a process that was killed: we hold its lock
                shutil.rmtree(remains, ignore_errors=True)
            _make(target, stamp, make)
    return target


def _make(target: Path, stamp: str, make: Callable[[Path], None]) -> None:
    making = Path(tempfile.mkdtemp(prefix=f".{target.name}.making-", dir=target.parent))
    try:
        try:
            make(making)
        except PartUnavailable as reason:
            _missing[target] = reason
            raise
        (making / STAMP).write_text(stamp, encoding="utf-8")
        if target.exists():
            shutil.rmtree(target)
        making.rename(target)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise


def _stamp_of(folder: Path) -> str | None:
    try:
        return (folder / STAMP).read_text(encoding="utf-8")
    except OSError:
        return None


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        deadline = time.monotonic() + LOCK_WAIT_SECS
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise PartUnavailable(f"another process has held {path} for {LOCK_WAIT_SECS:.0f} s") from None
                time.sleep(0.1)
        yield  # closing the file lets go of the lock
