"""A wall clock for processes of a test, which can be stepped while they run. What is counted by `time.monotonic` goes on."""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_STEPPED: Final = Path(__file__).with_name("stepped")


class SteppedClock:
    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self.step(0.0)

    @property
    def environment(self) -> Mapping[str, str]:
        """For every Python process that is to have this clock; its own Python processes have it too."""
        return {**os.environ, "PYTHONPATH": str(_STEPPED), "ISTHMUS_TEST_CLOCK": str(self._file)}

    def step(self, seconds: float) -> None:
        """So far from the machine's own clock, from now on."""
        data = struct.pack("d", seconds)
        if not self._file.exists():
            self._file.write_bytes(data)
            return
        with self._file.open("r+b") as file:
            os.pwrite(file.fileno(), data, 0)
