"""Which events a sink has had lately: ids on disk, bounded, and still known after kill -9.

    CHANNEL.ids, CHANNEL.older-ids      16 bytes each: first a head, then the digest of one id after the other

New ids are appended to the first file. When it holds `size` of them it takes the place of the second, so between `size` and twice
`size` of the last ids are known. A write goes to the operating system before the source is told, and so survives the process, but
not a power cut in the next seconds: an id that is forgotten costs a duplicate, never a loss. For the same reason damage needs no
repair: a digest that was changed is that of no event.

Links that lead to one channel share its window; each id that is on its way is claimed by one delivery.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Final, Literal
from urllib.parse import quote

DIGEST_BYTES: Final = 16
_HEAD: Final = b"\x89ISD\r\n\x1a\n" + bytes(7) + b"\x01"  # the last byte is the version

Answer = Literal["new", "claimed", "known"]


def digest_of(key: str) -> bytes:
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()


class DuplicateWindow:
    """Any thread may use it."""

    def __init__(self, folder: Path, channel: str, size: int) -> None:
        """Raises OSError."""
        self._path = folder / (quote(channel, safe=" ") + ".ids")
        self._older_path = self._path.with_suffix(".older-ids")
        self._size = size
        self._lock = threading.Lock()
        self._claims: dict[bytes, object] = {}
        self._unwritten: list[bytes] = []  # while the disk takes nothing
        folder.mkdir(parents=True, exist_ok=True)
        self._older = _read(self._older_path)
        self._newer = _read(self._path)
        self._descriptor: int | None = None
        self._open()

    def claim(self, digest: bytes, owner: object) -> Answer:
        """`new`: the owner may send it. `claimed`: another one is on its way. `known`: it has arrived before."""
        with self._lock:
            if digest in self._newer or digest in self._older:
                return "known"
            return "new" if self._claims.setdefault(digest, owner) is owner else "claimed"

    def is_claimed(self, digest: bytes) -> bool:
        return digest in self._claims

    def give_back(self, digests: Collection[bytes]) -> None:
        """Claimed before, and not arrived."""
        with self._lock:
            for digest in digests:
                self._claims.pop(digest, None)

    def remember(self, digests: Sequence[bytes]) -> None:
        """They have arrived. Raises OSError when that could not be written: it is known all the same, and written with the next."""
        with self._lock:
            for digest in digests:
                self._claims.pop(digest, None)
            self._newer.update(digests)
            self._unwritten += digests
            self._write()

    def close(self) -> None:
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None

    def __len__(self) -> int:
        return len(self._newer) + len(self._older)

    def _write(self) -> None:
        """With the lock."""
        del self._unwritten[: -self._size]
        if self._descriptor is None:
            self._open()
        assert self._descriptor is not None
        end = os.lseek(self._descriptor, 0, os.SEEK_END)
        try:
            _write_all(self._descriptor, b"".join(self._unwritten))
        except OSError:
            os.ftruncate(self._descriptor, end)  # else a part of a digest would stand between the others
            raise
        self._unwritten.clear()
        if len(self._newer) >= self._size:
            self._turn_over()

    def _turn_over(self) -> None:
        """Raises OSError: then the files are as they were, or the newer one is missing, and the next write tries again."""
        self._path.replace(self._older_path)
        self._older, self._newer = self._newer, set()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        self._open()

    def _open(self) -> None:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o640)
        try:
            length = os.fstat(descriptor).st_size
            if length < DIGEST_BYTES:
                os.ftruncate(descriptor, 0)
                _write_all(descriptor, _HEAD)
            else:
                os.ftruncate(descriptor, length - length % DIGEST_BYTES)  # a write that a crash cut short
        except OSError:
            os.close(descriptor)
            raise
        self._descriptor = descriptor


def _read(path: Path) -> set[bytes]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return set()
    return {data[at : at + DIGEST_BYTES] for at in range(DIGEST_BYTES, len(data) - DIGEST_BYTES + 1, DIGEST_BYTES)}


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
