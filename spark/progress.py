"""How far a job is, on standard error: one line that changes on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, TextIO

TERMINAL_SECS: Final = 0.5
FILE_SECS: Final = 15.0


@contextmanager
def progress(spark: Any, what: str, stream: TextIO | None = None) -> Iterator[None]:
    """While it is open, a thread looks at Spark's stages."""
    out = stream or sys.stderr
    ended = threading.Event()
    shower = threading.Thread(target=_show, args=(spark.sparkContext, what, out, ended), name="progress", daemon=True)
    shower.start()
    try:
        yield
    finally:
        ended.set()
        shower.join(5.0)


def _show(context: Any, what: str, out: TextIO, ended: threading.Event) -> None:
    terminal = out.isatty()
    began = time.monotonic()
    shown = False
    while not ended.wait(TERMINAL_SECS if terminal else FILE_SECS):
        try:
            line = _line(context, what, time.monotonic() - began)
        except Exception:  # noqa: BLE001 - the session ends while we look
            break
        if line:
            out.write(f"\r\x1b[K{line}" if terminal else f"{line}\n")
            out.flush()
            shown = True
    if terminal and shown:
        out.write("\r\x1b[K")
        out.flush()


def _line(context: Any, what: str, elapsed_secs: float) -> str:
    tracker = context.statusTracker()
    done = total = 0
    for stage in tracker.getActiveStageIds():
        info = tracker.getStageInfo(stage)
        if info is not None:
            done += info.numCompletedTasks
            total += info.numTasks
    if not total:
        return ""
    width = 30
    bar = "#" * (width * done // total)
    return f"{what}: [{bar:<{width}}] {done} of {total} tasks, {elapsed_secs:.0f} s"
