"""The cursor files of a journal, written by the commit thread. What cannot be written now is written later."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from gateway.journal.board import Board, Place
from gateway.journal.cursor_file import CursorFile
from gateway.journal.errors import JournalError


class CursorKeeper:
    """A cursor that could not be written stays dirty: the worst that follows is that records are delivered again."""

    def __init__(self, board: Board[object], found: Callable[[JournalError], None]) -> None:
        self._board = board
        self._found = found
        self._io = (
            threading.Lock()
        )  # taken before the board's, never after it: a file is not closed while it is written
        self._files: dict[str, CursorFile] = {}
        self._failing = False
        self.written_at = self.synced_at = 0.0

    def add(self, link: str, file: CursorFile) -> None:
        with self._io:
            self._files[link] = file

    def remove(self, link: str) -> None:
        with self._io:
            file = self._files.pop(link, None)
            if file is not None:
                file.close()

    @property
    def is_written(self) -> bool:
        return not any(place.dirty for place in list(self._board.places.values()))

    @property
    def is_unsynced(self) -> bool:
        return any(place.unsynced for place in list(self._board.places.values()))

    def write(self, *, sync: bool) -> bool:
        """Every changed cursor; never raises OSError. False where one could not be written: it is reported, and stays changed."""
        self.written_at = time.monotonic()
        if sync:
            self.synced_at = self.written_at
        with self._io:
            written = [
                self._write_one(link, file, sync) for link, file in self._files.items()
            ]  # all, also after a failure
        return all(written)

    def close(self) -> None:
        with self._io:
            for file in self._files.values():
                file.close()
            self._files.clear()

    def _write_one(self, link: str, file: CursorFile, sync: bool) -> bool:
        with self._board.lock:
            place: Place | None = self._board.places.get(link)
            if place is None:
                return True
            dirty, unsynced = place.dirty, place.unsynced
            state = place.state.copy() if dirty else None
            place.dirty = False
            if sync:
                place.unsynced = False
        try:
            if state is not None:
                file.write(state, sync=sync)
            elif sync and unsynced:
                file.sync()
        except OSError as trouble:
            with self._board.lock:
                place.dirty = place.unsynced = True
            if not self._failing:
                self._failing = True
                self._found(
                    JournalError(
                        "JNL-CURSOR-WRITE",
                        f"the cursor of link {link} cannot be written: {trouble.strerror or trouble}",
                        path=str(file.path),
                        hint="make room on the disk, or mend it: until then a restart delivers records again",
                    )
                )
            return False
        self._failing = False
        return True
