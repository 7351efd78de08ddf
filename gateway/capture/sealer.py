"""The thread that turns closed files into Parquet, so that the writer goes on with the next one meanwhile."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from gateway.capture.open_file import left_open, seal, sealed_path
from gateway.capture.sweeper import Sweeper
from mappings.captures.errors import CaptureError

_END: Final = None


class Sealer:
    """`tell` hears a CaptureError when files cannot be sealed, and None when it works again."""

    def __init__(
        self,
        root: Path,
        compression: str,
        level: int | None,
        sweeper: Sweeper,
        tell: Callable[[CaptureError | None], None],
    ) -> None:
        self._root = root
        self._compression = compression
        self._level = level
        self._sweeper = sweeper
        self._tell = tell
        self._closed: queue.SimpleQueue[Path | None] = queue.SimpleQueue()
        self.sealed = 0
        self._thread = threading.Thread(target=self._run, name="capture-sealer", daemon=True)

    def start(self) -> None:
        """What an earlier life left open is sealed first."""
        for path in left_open(self._root):
            self._closed.put(path)
        self._thread.start()

    def add(self, path: Path) -> None:
        self._closed.put(path)

    def stop(self, timeout_secs: float) -> bool:
        """True when all is sealed, or will be at the next start."""
        self._closed.put(_END)
        self._thread.join(timeout_secs)
        return not self._thread.is_alive()

    def _run(self) -> None:
        failed: list[Path] = []
        while (path := self._closed.get()) is not _END:
            waiting, failed = [*failed, path], []
            added = 0
            for one in waiting:
                try:
                    target = seal(self._root, one, self._compression, self._level)
                    if target is not None:
                        self.sealed += 1
                        with suppress(FileNotFoundError):  # somebody has thrown it away already
                            added += target.stat().st_size
                except CaptureError as damage:
                    self._tell(damage)  # what could be read of it is sealed
                except FileNotFoundError as trouble:
                    if not sealed_path(self._root, one).exists():  # else another gateway of the same folder was faster
                        self._tell(_gone(trouble))
                except Exception as trouble:  # noqa: BLE001 - the disk's, or what nobody foresaw: the others are sealed
                    failed.append(one)  # it is tried again with the next one, and at the next start
                    self._tell(_cannot_seal(trouble))
            if not failed and len(waiting) > 1:
                self._tell(None)
            self._sweeper.look(added)


def _gone(trouble: OSError) -> CaptureError:
    return CaptureError(
        "CAP-GONE",
        "a file of the capture was removed before it was sealed: what it held is lost",
        path=str(trouble.filename or ""),
        hint="leave the folder of a capture to its gateway while that runs; keep_days and keep_bytes throw old files away",
    )


def _cannot_seal(trouble: Exception) -> CaptureError:
    return CaptureError(
        "CAP-SEALING",
        f"a file of the capture cannot be sealed: {getattr(trouble, 'strerror', None) or trouble}",
        path=str(getattr(trouble, "filename", None) or ""),
        hint="make room, or see to the rights of the folder: it is tried again",
    )
