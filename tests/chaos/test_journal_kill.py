"""A writing process is killed with -9 at random moments, again and again, on one journal.

After each kill: everything that was called safe and not settled is delivered to each link, whole, once and in order; nothing counts
as settled that was not; the accounts hold. The seed is printed, and a failing one reproduces the choices (not the moment of the
kill).
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gateway.journal.codec import RawCodec
from gateway.journal.inspection import Inspection, Totals
from gateway.journal.journal import Journal
from tests.chaos.journal_child import LINKS, OPTIONS, payload
from tests.unit.journal.rig import Recorder

ROUNDS = 6
PATIENCE_SECS = 60.0


def run_and_kill(directory: Path, seed: int, alive_secs: float) -> list[list[str]]:
    """What it said before it died. It lives `alive_secs` after it was ready."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.chaos.journal_child", str(directory), str(seed)], stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    try:
        said = b""
        descriptor = child.stdout.fileno()
        deadline = time.monotonic() + PATIENCE_SECS
        while b"ready\n" not in said and time.monotonic() < deadline and (data := os.read(descriptor, 65536)):
            said += data
        assert b"ready\n" in said, "it did not start"
        kill_at = time.monotonic() + alive_secs
        while time.monotonic() < kill_at:
            said += os.read(descriptor, 65536)
    finally:
        child.send_signal(signal.SIGKILL)
        rest, _ = child.communicate(timeout=PATIENCE_SECS)
    assert child.returncode == -signal.SIGKILL, "it ended by itself"
    lines = (said + rest).decode("ascii").splitlines(keepends=True)
    return [line.split() for line in lines if line.endswith("\n")]


@pytest.mark.timeout(300)
def test_kill_9_loses_nothing_that_was_called_safe(tmp_path: Path) -> None:
    seed = int(os.environ.get("ISTHMUS_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
    print(f"ISTHMUS_SEED={seed}")
    chance = random.Random(seed)
    safe = 0
    settled: dict[str, set[int]] = {link: set() for link in LINKS}
    for _ in range(ROUNDS):
        said = run_and_kill(tmp_path, chance.randrange(2**31), chance.uniform(0.05, 0.6))
        assert not [line for line in said if line[0] == "found" and line[1] != "JNL-TORN"]
        safe = max([safe, *(int(line[2]) for line in said if line[0] == "safe")])
        for line in said:
            if line[0] == "settled":
                settled[line[1]].add(int(line[2]))
        check(tmp_path, safe, settled)
    assert safe > 100, "it has hardly written anything"
    for view in Inspection(tmp_path).cursors:
        assert view.state is not None
        assert view.state.position > 0, "it has hardly settled anything"


def check(directory: Path, safe: int, settled: dict[str, set[int]]) -> None:
    totals = Totals()
    findings = [finding.code for finding in Inspection(directory).verify(totals)]
    assert set(findings) <= {"JNL-TORN"}
    assert totals.last >= safe
    recorder = Recorder()
    journal = Journal.open(directory, RawCodec(), OPTIONS, recorder)
    try:
        assert set(recorder.codes) <= {"JNL-TORN"}
        status = journal.status()
        for place in status.links:
            assert status.last - place.base == sum(place.settled.values()) + place.pending
            assert place.settled["lost"] == place.settled["dropped"] == 0
        for link in LINKS:
            cursor = journal.cursor(link)
            state = cursor.state()
            early = [n for n in range(1, safe + 1) if state.is_settled(n) and n not in settled[link]]
            assert early == [], "counted as settled though the link never said so"
            got: list[int] = []
            while entries := cursor.read(1000, 0.0):
                assert all(entry.item == payload(entry.sequence) for entry in entries)
                got += [entry.sequence for entry in entries]
            assert got == sorted(set(got))
            assert set(range(1, safe + 1)) - settled[link] - set(got) == set(), "safe, not settled, and gone"
            assert not [n for n in got if state.is_settled(n)]
    finally:
        journal.close()
