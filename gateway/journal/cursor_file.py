"""A link's cursor on disk: one small file of fixed size, overwritten in place.

    header, 4096 bytes      magic, version, zeros, journal id, length of the link's name, name, CRC
    slot A, 4096 bytes      generation, base, position, outcomes, length of the map, map of what is settled beyond, CRC
    slot B, 4096 bytes      the same; the valid slot of the higher generation counts

The slots are written in turn, so a crash in the middle of a write leaves the other one whole. Being overwritten in place, a
cursor needs no new room: a full disk does not stop links from settling, which is what makes room again. A cursor that comes back a
little too old costs duplicates, never a loss.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote
from zlib import crc32

from gateway.journal.cursor_state import LARGEST_WINDOW, OUTCOMES, CursorState
from gateway.journal.disk import Disk, read_what_can_be_read, write_all
from gateway.journal.errors import JournalError

SUFFIX: Final = ".cursor"
PAGE_BYTES: Final = 4096

_MAGIC: Final = b"\x89ISC\r\n\x1a\n"
_VERSION: Final = 1
_HEADER: Final = struct.Struct(">8sHH16sI")
_SPARE_OUTCOMES: Final = 16 - len(OUTCOMES)  # room for outcomes that are not thought of yet
_SLOT: Final = struct.Struct(">QQQ16QI")
_CRC: Final = struct.Struct(">I")
_MAP_BYTES: Final = LARGEST_WINDOW // 8


def cursor_path(directory: Path, link: str) -> Path:
    return directory / (quote(link, safe=" ") + SUFFIX)


def link_of(path: Path) -> str:
    return unquote(path.name.removesuffix(SUFFIX))


def pack_slot(state: CursorState, generation: int) -> bytes:
    bits = bytearray(_MAP_BYTES if state.beyond else 0)
    for sequence in state.beyond:
        index = sequence - state.position - 1
        if index < LARGEST_WINDOW:
            bits[index >> 3] |= 1 << (index & 7)
    packed = _SLOT.pack(
        generation, state.base, state.position, *state.settled, *[0] * _SPARE_OUTCOMES, len(bits)
    ) + bytes(bits)
    packed += bytes(PAGE_BYTES - _CRC.size - len(packed))
    return packed + _CRC.pack(crc32(packed))


def unpack_slot(data: bytes) -> tuple[int, CursorState] | None:
    if len(data) != PAGE_BYTES or crc32(data[: -_CRC.size]) != _CRC.unpack(data[-_CRC.size :])[0]:
        return None
    generation, base, position, *outcomes, length = _SLOT.unpack_from(data)
    bits = data[_SLOT.size : _SLOT.size + length]
    beyond = [
        position + 1 + index * 8 + bit
        for index, octet in enumerate(bits)
        if octet
        for bit in range(8)
        if octet >> bit & 1
    ]
    return generation, CursorState(base, position, beyond, outcomes[: len(OUTCOMES)])


class CursorFile:
    """Reads once, when it is opened; writes when told. Only the commit thread writes."""

    def __init__(self, directory: Path, link: str, journal_id: bytes, disk: Disk) -> None:
        self.path = cursor_path(directory, link)
        self.finding: JournalError | None = None
        """Why `state` is None although there was a file."""
        self._disk = disk
        self._generation = 0
        self._descriptor: int | None = disk.open(self.path)
        try:
            data = read_what_can_be_read(disk, self._descriptor, 3 * PAGE_BYTES, 0)
            is_new = not data[PAGE_BYTES:].strip(b"\0")  # also where we died before the first slot was written
            self.state = None if is_new else self._read(data, journal_id)
            write_all(disk, self._descriptor, _pack_header(journal_id, link), 0)
            if is_new:
                write_all(disk, self._descriptor, bytes(2 * PAGE_BYTES), PAGE_BYTES)
                disk.sync_directory(directory)
        except OSError:
            self.close()
            raise

    def write(self, state: CursorState, *, sync: bool) -> None:
        """Raises OSError; the slot that counted before still does then."""
        assert self._descriptor is not None
        generation = self._generation + 1
        write_all(self._disk, self._descriptor, pack_slot(state, generation), PAGE_BYTES * (1 + generation % 2))
        self._generation = generation
        if sync:
            self._disk.sync(self._descriptor)

    def sync(self) -> None:
        assert self._descriptor is not None
        self._disk.sync(self._descriptor)

    def close(self) -> None:
        if self._descriptor is not None:
            self._disk.close(self._descriptor)
            self._descriptor = None

    def _read(self, data: bytes, journal_id: bytes) -> CursorState | None:
        found = unpack_cursor(data)
        if found is None:
            self.finding = cursor_damaged(self.path)
            return None
        written_for, self._generation, state = found
        if written_for not in (None, journal_id):
            self.finding = JournalError(
                "JNL-CURSOR-FOREIGN",
                "this cursor belongs to another journal; its link begins with the oldest record",
                path=str(self.path),
                hint="records may be delivered again: receivers drop what they know by its id",
            )
            return None
        return state


def open_cursor_files(directory: Path, journal_id: bytes, disk: Disk) -> dict[str, CursorFile]:
    """Every cursor of a journal, by link. Raises OSError: then none is left open."""
    files: dict[str, CursorFile] = {}
    try:
        for link in map(link_of, cursor_paths(directory)):
            files[link] = CursorFile(directory, link, journal_id, disk)
    except OSError:
        close_all(files.values())
        raise
    return files


def close_all(files: Iterable[CursorFile]) -> None:
    for file in files:
        file.close()


def unpack_cursor(data: bytes) -> tuple[bytes | None, int, CursorState] | None:
    """Journal id (None where the header is damaged), generation and state; None where neither slot is whole."""
    slots = [unpack_slot(data[start : start + PAGE_BYTES]) for start in (PAGE_BYTES, 2 * PAGE_BYTES)]
    whole = [slot for slot in slots if slot is not None and slot[0] > 0]
    if not whole:
        return None
    generation, state = max(whole, key=lambda slot: slot[0])
    return _unpack_header(data[:PAGE_BYTES]), generation, state


def read_cursor_id(path: Path) -> bytes | None:
    """The id of the journal that this cursor belongs to; None where its header is damaged."""
    try:
        return _unpack_header(path.read_bytes()[:PAGE_BYTES])
    except OSError:
        return None


def cursor_damaged(path: Path) -> JournalError:
    return JournalError(
        "JNL-CURSOR",
        "neither copy of this cursor is whole; its link begins with the oldest record",
        path=str(path),
        hint="records may be delivered again: receivers drop what they know by its id",
    )


def cursor_paths(directory: Path) -> list[Path]:
    return sorted(directory.glob("*" + SUFFIX))


def remove_cursor(directory: Path, link: str) -> None:
    cursor_path(directory, link).unlink(missing_ok=True)
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _pack_header(journal_id: bytes, link: str) -> bytes:
    name = link.encode("utf-8", "surrogatepass")
    packed = _HEADER.pack(_MAGIC, _VERSION, 0, journal_id, len(name)) + name
    packed += bytes(PAGE_BYTES - _CRC.size - len(packed))
    return packed + _CRC.pack(crc32(packed))


def _unpack_header(data: bytes) -> bytes | None:
    if len(data) != PAGE_BYTES or not data.startswith(_MAGIC) or crc32(data[:-4]) != _CRC.unpack(data[-4:])[0]:
        return None
    journal_id: bytes = _HEADER.unpack_from(data)[3]
    return journal_id
