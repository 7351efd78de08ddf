"""Takes letters out of a file: a crash leaves the old file or the new one, and no letter that comes meanwhile is lost.

The lines that stay are copied beside the file without disturbing the link; then, under the lock that a link takes for each letter,
what has come meanwhile is added, and the copy takes the place of the file.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Collection
from pathlib import Path

from gateway.dead_letters.letters import DeadLettersError, letter_of
from gateway.links.dead_letter_file import locked


def remove(path: Path, keys: Collection[str]) -> int:
    """Take the letters with these keys out; how many that were. Raises OSError, and DeadLettersError where another is at it."""
    if not keys or not path.exists():
        return 0
    part = path.with_name(path.name + ".part")
    copy = os.open(part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
    try:
        _take(copy, part)
        os.ftruncate(copy, 0)
        with path.open("rb") as file, os.fdopen(os.dup(copy), "wb") as target:
            count = read = 0
            for line in file:
                if not line.endswith(b"\n"):
                    break  # it is being written; or a crash cut it short, and the next letter will end it
                read += len(line)
                if letter_of(line, "").key in keys:
                    count += 1
                else:
                    target.write(line)
            target.flush()
            if count:
                with locked(path) as descriptor:
                    if not os.path.samestat(os.fstat(descriptor), os.fstat(file.fileno())):
                        raise _busy(part)
                    file.seek(read)
                    while block := file.read(1 << 20):
                        target.write(block)
                    target.flush()
                    os.fsync(copy)
                    part.replace(path)
                    _sync_folder(path.parent)
            else:
                part.unlink()
        return count
    finally:
        os.close(copy)


def _take(copy: int, part: Path) -> None:
    """One command at a time; what a crashed one has left is written over."""
    try:
        fcntl.flock(copy, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(copy), part.stat()):
            raise _busy(part)
    except (BlockingIOError, FileNotFoundError):
        raise _busy(part) from None


def _busy(part: Path) -> DeadLettersError:
    return DeadLettersError(
        "DLQ-BUSY", "another command is taking letters out of this file", path=str(part), hint="try again in a moment"
    )


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
