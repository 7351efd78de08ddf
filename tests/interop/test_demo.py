"""`isthmus demo`, which is `make run`: alarms over real IIOP to a STOMP subscriber, and nothing stays behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PATIENCE_SECS = 90.0
ANY_PORTS = ["--orb-port", "0", "--stomp-port", "0", "--admin-port", "0"]


def command(folder: Path, *arguments: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "gateway.cli",
        "demo",
        "--folder",
        str(folder),
        "--rate",
        "20",
        *ANY_PORTS,
        *arguments,
    ]


def processes_of(folder: Path) -> list[str]:
    """Command lines of processes that name the folder: the gateway's, and its supplier's."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if str(folder) in line:
                found.append(line)
    return found


def test_a_count_of_alarms_is_shown_and_adds_up(tmp_path: Path) -> None:
    shown = subprocess.run(
        command(tmp_path, "--count", "5"), capture_output=True, text=True, timeout=PATIENCE_SECS, check=False
    )
    assert shown.returncode == 0, shown.stderr
    assert len(re.findall(r"^[0-9:]{8} (?:critical|major|minor|warning|cleared)", shown.stdout, re.MULTILINE)) == 5
    assert '"JMSType": "Structured Event"' in shown.stdout
    total = re.search(r"link alarms: received ([0-9]+) = ([0-9]+) delivered .* 0 pending: adds up", shown.stdout)
    assert total is not None, shown.stdout
    assert total[1] == total[2]
    assert processes_of(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_everything(tmp_path: Path, number: signal.Signals) -> None:
    with subprocess.Popen(command(tmp_path), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            while not re.match(r"[0-9:]{8} ", process.stdout.readline()):
                assert process.poll() is None
            process.send_signal(number)
            assert "adds up" in process.stdout.read()
            assert process.wait(PATIENCE_SECS) == 0
        finally:
            process.kill()
    assert processes_of(tmp_path) == []


def test_ctrl_c_ends_it_also_where_a_shell_started_it_with_sigint_ignored(tmp_path: Path) -> None:
    """As `sh -c 'isthmus demo &'` does; Python then installs no handler of its own."""
    ignoring = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *command(tmp_path)]
    with subprocess.Popen(ignoring, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            while not re.match(r"[0-9:]{8} ", process.stdout.readline()):
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            assert process.wait(10.0) == 0
        finally:
            process.kill()


def test_the_supplier_does_not_outlive_a_gateway_that_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(command(tmp_path), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            while not re.match(r"[0-9:]{8} ", process.stdout.readline()):
                assert process.poll() is None
        finally:
            process.kill()
        process.wait(PATIENCE_SECS)
        assert _gone(tmp_path)


def _gone(folder: Path) -> bool:
    deadline = time.monotonic() + PATIENCE_SECS
    while processes_of(folder):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True
