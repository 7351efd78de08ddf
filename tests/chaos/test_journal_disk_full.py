"""The disk fills up under a journal: nothing is lost, and it goes on by itself when there is room again."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from gateway.journal.codec import RawCodec
from gateway.journal.errors import JournalHeld
from gateway.journal.journal import Journal
from gateway.journal.options import Options
from tests.chaos.journal_child import payload
from tests.chaos.test_journal_kill import check
from tests.unit.journal.rig import PATIENCE_SECS, Recorder, read_all, wait_for


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "isthmus-test", str(folder)], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here ({mounted.stderr.strip()}); a limit on file sizes is tested")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_file_system_holds_and_recovers(small_disk: Path) -> None:
    recorder = Recorder()
    options = Options(
        segment_bytes=64 * 1024, max_bytes=None, hold_first_secs=0.01, hold_longest_secs=0.05, queue_bytes=256 * 1024
    )
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(300 * 1024))
    journal = Journal.open(small_disk / "journal", RawCodec(), options, recorder)
    cursor = journal.cursor("a")
    safe: list[int] = []
    appended = 0
    while journal.held is None:
        try:
            sequences = journal.append([payload(appended + 1)], on_safe=partial(safe.append, appended + 1))
            appended = sequences[-1]
        except JournalHeld:  # we are faster than the disk: it has not noticed yet that it is full
            journal.await_room(0.05)
    assert journal.held.code == "JNL-HELD"
    assert "No space left" in journal.held.message
    before = len(safe)
    assert 0 < before < appended
    ballast.unlink()
    wait_for(lambda: len(safe) > before)
    while len(safe) < appended:  # if it is full again: now a link makes room
        for entry in cursor.read(100, 0.05):
            assert entry.item == payload(entry.sequence)
            cursor.settle([entry.sequence])
    wait_for(lambda: journal.held is None)
    assert safe == list(range(1, appended + 1)), "each once, in order"
    assert recorder.codes == []
    journal.close()
    journal = Journal.open(small_disk / "journal", RawCodec(), options, recorder)
    position = journal.cursor("a").state().position
    assert read_all(journal.cursor("a")) == [(n, payload(n)) for n in range(position + 1, appended + 1)]
    journal.close()
    assert recorder.codes == []


def test_a_journal_opens_and_delivers_on_a_full_file_system(small_disk: Path) -> None:
    journal = Journal.open(small_disk / "journal", RawCodec(), Options())
    journal.cursor("a")
    safe = threading.Event()
    journal.append([payload(n) for n in range(1, 101)], on_safe=safe.set)
    assert safe.wait(PATIENCE_SECS)
    journal.close()
    with (small_disk / "ballast").open("wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(bytes(4096))
        except OSError:
            pass
    journal = Journal.open(small_disk / "journal", RawCodec(), Options())
    cursor = journal.cursor("a")
    assert read_all(cursor) == [(n, payload(n)) for n in range(1, 101)]
    cursor.settle(range(1, 51))
    journal.close()
    journal = Journal.open(small_disk / "journal", RawCodec(), Options())
    assert journal.cursor("a").state().position == 50
    journal.close()


def test_files_that_may_not_grow_hold_and_recover_and_survive_a_kill(tmp_path: Path) -> None:
    """The same in a process of its own that may write only so much to a file: works on every machine."""
    seed = random.SystemRandom().randrange(1, 2**31)
    print(f"seed {seed}")
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.chaos.journal_child", str(tmp_path), str(seed), "30000"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stdin is not None
    said: list[list[str]] = []

    def listen_until(*words: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECS
        while time.monotonic() < deadline and (line := child.stdout.readline()):  # type: ignore[union-attr]
            said.append(line.decode("ascii").split())
            if said[-1][0] in words:
                return
        raise AssertionError(f"it never said {words}: {said[-5:]}")

    try:
        listen_until("held")
        assert said[-1] == ["held", "JNL-HELD"]
        child.stdin.write(b"lift\n")
        child.stdin.flush()
        listen_until("released")
        for _ in range(20):
            listen_until("safe")
    finally:
        child.send_signal(signal.SIGKILL)
        rest, _ = child.communicate(timeout=PATIENCE_SECS)
    said += [line.split() for line in rest.decode("ascii").splitlines(keepends=True) if line.endswith("\n")]
    assert not [line for line in said if line[0] == "found"]
    safe = max(int(line[2]) for line in said if line[0] == "safe")
    settled = {link: {int(line[2]) for line in said if line[:2] == ["settled", link]} for link in ("fast", "slow")}
    check(tmp_path, safe, settled)
