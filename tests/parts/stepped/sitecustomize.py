"""Python runs this at its start where this folder is on PYTHONPATH: the clock of the process can then be stepped from outside,
as an operator or a time server steps it. See `tests.parts.clock`."""

from __future__ import annotations

import mmap
import os
import struct
import time
from pathlib import Path


def _step_by(path: str) -> None:
    with Path(path).open("rb") as file:
        seconds = mmap.mmap(file.fileno(), 8, access=mmap.ACCESS_READ)
    real_time, real_time_ns = time.time, time.time_ns

    def stepped() -> float:
        return float(struct.unpack_from("d", seconds)[0])

    time.time = lambda: real_time() + stepped()
    time.time_ns = lambda: real_time_ns() + int(stepped() * 1e9)


if "ISTHMUS_TEST_CLOCK" in os.environ:
    _step_by(os.environ["ISTHMUS_TEST_CLOCK"])
