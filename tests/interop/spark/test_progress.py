"""How far a job is, while it runs: told on a terminal, by a line that is gone when the job is."""

from __future__ import annotations

import io
import re
import time
from typing import Any

from spark.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_how_many_tasks_are_done_while_the_job_runs(session: Any) -> None:
    terminal = Terminal()
    with progress(session, "validate", terminal):
        session.sparkContext.parallelize([1.0] * 6, 6).foreach(time.sleep)
    shown = re.findall(r"\r\x1b\[Kvalidate: \[(#*) *\] (\d+) of 6 tasks, \d+ s", terminal.getvalue())
    assert shown
    assert all(len(bar) == 30 * int(done) // 6 for bar, done in shown)
    assert [int(done) for _, done in shown] == sorted(int(done) for _, done in shown)
    assert terminal.getvalue().endswith("\r\x1b[K")
