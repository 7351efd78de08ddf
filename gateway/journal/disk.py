"""Everything that the journal does to a disk, in one place: tests put a disk here that is full or broken."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from errno import EIO
from pathlib import Path
from typing import Final

BLOCK_BYTES: Final = 4096

_sync_data: Final[Callable[[int], None]] = getattr(os, "fdatasync", os.fsync)  # not every system has the cheaper one


class Disk:
    """The real one. Every method may raise OSError, and the caller knows what is then on the disk and what is not."""

    def create(self, path: Path) -> int:
        """A new file, for writing; it must not exist."""
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o640)

    def open(self, path: Path) -> int:
        """For writing in place; made if it is missing."""
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        """Like os.pwrite: may write less than all."""
        return os.pwrite(descriptor, data, offset)

    def sync(self, descriptor: int) -> None:
        _sync_data(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        os.ftruncate(descriptor, size)

    def read(self, descriptor: int, size: int, offset: int) -> bytes:
        return os.pread(descriptor, size, offset)

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def rename(self, path: Path, target: Path) -> None:
        path.rename(target)

    def sync_directory(self, path: Path) -> None:
        """New names, and names that are gone, survive a power cut from here on."""
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def close(self, descriptor: int) -> None:
        with suppress(OSError):  # what must be on disk was synced before; a late complaint changes nothing
            os.close(descriptor)


def make_directory(disk: Disk, path: Path) -> None:
    """With its parents, all of them there after a power cut too."""
    if not path.is_dir():
        make_directory(disk, path.parent)
        path.mkdir(mode=0o750, exist_ok=True)  # what passes through a gateway is nobody else's business
        disk.sync_directory(path.parent)


def write_all(disk: Disk, descriptor: int, data: bytes, offset: int) -> None:
    """All of it or an OSError; after an error any part may be in the file."""
    view = memoryview(data)
    while view:
        written = disk.write(descriptor, view, offset)
        offset += written
        view = view[written:]


def write_whole(disk: Disk, path: Path, data: bytes) -> None:
    """Readers, also after a power cut, see the whole new content or the whole old one."""
    part = path.with_name(path.name + ".part")
    disk.remove(part)
    descriptor = disk.create(part)
    try:
        write_all(disk, descriptor, data, 0)
        disk.sync(descriptor)
    finally:
        disk.close(descriptor)
    disk.rename(part, path)
    disk.sync_directory(path.parent)


def read_what_can_be_read(disk: Disk, descriptor: int, size: int, offset: int) -> bytes:
    """A block that the disk cannot read any more is given as zeros: damage like any other, which does not take the rest along."""
    try:
        return _read_all(disk, descriptor, size, offset)
    except OSError as trouble:
        if trouble.errno != EIO:
            raise
    parts = []
    while size > 0:
        step = min(size, BLOCK_BYTES - offset % BLOCK_BYTES)
        try:
            part = _read_all(disk, descriptor, step, offset)
        except OSError as trouble:
            if trouble.errno != EIO:
                raise
            part = bytes(step)
        parts.append(part)
        if len(part) < step:
            break
        size -= step
        offset += step
    return b"".join(parts)


def _read_all(disk: Disk, descriptor: int, size: int, offset: int) -> bytes:
    """Fewer bytes only where the file ends."""
    data = disk.read(descriptor, size, offset)
    if len(data) in (0, size):
        return data
    parts = [data]
    got = len(data)
    while got < size and (data := disk.read(descriptor, size - got, offset + got)):
        parts.append(data)
        got += len(data)
    return b"".join(parts)
