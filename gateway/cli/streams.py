"""The standard streams of the process, whatever state they were given to us in."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO, cast


def prepare() -> None:
    """For the start of the process."""
    _open_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal of another code set is no reason to fail
    sys.stderr = cast(TextIO, Forgiving(sys.stderr))


def _open_closed() -> None:
    """Some supervisors start a program with standard streams closed (`>&-`): Python then has None for them, and the next file or
    socket that is opened gets their number, so that a stray line would go to a peer or into a journal."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free, which is this stream's
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8", closefd=descriptor != number))


class Forgiving:
    """Standard error that never raises: a log on a full disk, or a log collector that has gone, must not take the gateway along.

    What cannot be written is counted, and said as soon as something can be written again.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._missed = 0

    def write(self, text: str) -> int:
        try:
            if self._missed:
                self._stream.write(f"isthmus: up to {self._missed} lines could not be written here\n")
                self._stream.flush()
                self._missed = 0
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # ValueError: it was closed
            self._missed += text.count("\n")
        return len(text)

    def flush(self) -> None:
        """`write` has done it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
