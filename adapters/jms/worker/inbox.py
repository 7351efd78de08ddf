"""What the parent says, read by a thread of its own, so that its end is seen whatever the worker is doing."""

from __future__ import annotations

import os
import queue
import socket
import stat
import threading
import time
from typing import Final

from adapters.jms.frames import Frame, FrameSocket

ALIVE_SECS: Final = 1.0
MOST_PRINTED_BYTES: Final = 1 << 20


class Inbox:
    """Frames of the parent, in order; and the way to answer, for the main thread alone."""

    def __init__(self, socket_: socket.socket) -> None:
        self._frames = FrameSocket(socket_)
        self._waiting: queue.SimpleQueue[Frame] = queue.SimpleQueue()
        self._told_at = time.monotonic()
        threading.Thread(target=self._read, name="inbox", daemon=True).start()

    def get(self, timeout_secs: float) -> Frame | None:
        """The next frame; None after the time-out."""
        try:
            return self._waiting.get(timeout=timeout_secs) if timeout_secs > 0 else self._waiting.get_nowait()
        except queue.Empty:
            return None

    def put(self, frame: Frame) -> None:
        """A frame of our own, from any thread: it comes behind those that wait."""
        self._waiting.put(frame)

    def tell(self, frame: Frame) -> None:
        self._frames.send(frame)
        self._told_at = time.monotonic()

    def alive(self) -> None:
        """To be called between steps: a parent that hears nothing for long takes us for hung."""
        if time.monotonic() - self._told_at >= ALIVE_SECS:
            if self._frames.can_send():  # else it has enough to read
                self.tell(("alive",))
            self._told_at = time.monotonic()
            _shorten_output()

    def _read(self) -> None:
        try:
            while True:
                frame = self._frames.read(None)
                if frame is not None:
                    self._waiting.put(frame)
        except BaseException:  # noqa: BLE001 - the parent is gone, or talks nonsense: there is nothing left to do
            os._exit(0)


def _shorten_output() -> None:
    """What the JVM and the provider's client print goes to a file that has no name: it must not grow for ever."""
    status = os.fstat(2)
    if stat.S_ISREG(status.st_mode) and status.st_size > MOST_PRINTED_BYTES:
        os.ftruncate(2, 0)
