"""`isthmus run` as a process: signals, log lines, exit statuses. Its peer is a broker in a process of its own."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE_SECS = 30.0

CONFIGURATION = """\
name: run-test
run_dir: {folder}/run
admin: {{listen: "127.0.0.1:0"}}
services: {{broker: {{listen: "127.0.0.1:0"}}}}
endpoints:
  here: {{type: memory}}
channels:
  a: {{endpoint: here, name: a}}
  b: {{endpoint: here, name: b, form: message}}
  c: {{endpoint: here, name: c, form: message}}
links:
  ab: {{from: a, to: b}}
"""


class Gateway:
    """A running `isthmus run`, and its log lines as they come."""

    def __init__(self, config: Path) -> None:
        command = [sys.executable, "-m", "gateway.cli", "run", "--log-format", "json", str(config)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def line(self, **wanted: object) -> dict[str, Any]:
        """The next log line that has all of these; lines before it are dropped."""
        deadline = time.monotonic() + PATIENCE_SECS
        seen = []
        while (text := self._lines.get(timeout=deadline - time.monotonic())) is not None:
            seen.append(text)
            try:
                facts = json.loads(text)
            except ValueError:
                continue
            if wanted.items() <= facts.items():
                return dict(facts)
        raise AssertionError(f"no line with {wanted} in:\n{''.join(seen)}")

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_SECS)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()
        assert self.process.stderr is not None
        self.process.stderr.close()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._lines.put(line)
        self._lines.put(None)


@contextmanager
def gateway(config: Path) -> Iterator[Gateway]:
    running = Gateway(config)
    try:
        yield running
    finally:
        running.close()


def configuration(tmp_path: Path, text: str = CONFIGURATION) -> Path:
    path = tmp_path / "isthmus.yaml"
    path.write_text(text.format(folder=tmp_path))
    return path


def test_sigterm_drains_and_ends_with_success(tmp_path: Path) -> None:
    with gateway(configuration(tmp_path)) as running:
        ready = running.line(event="gateway changed", state="ready")
        assert ready["links"] == 1
        assert running.end() == 0
        running.line(event="gateway changed", state="stopped", drained=True)


def test_ctrl_c_ends_it_likewise(tmp_path: Path) -> None:
    with gateway(configuration(tmp_path)) as running:
        running.line(event="gateway changed", state="ready")
        assert running.end(signal.SIGINT) == 0


def test_each_change_of_state_is_one_line(tmp_path: Path) -> None:
    with gateway(configuration(tmp_path)) as running:
        running.line(event="service changed", service="broker", state="ready")
        running.line(event="link side changed", link="ab", side="source", state="ready")
        running.line(event="link side changed", link="ab", side="sink", state="ready")
        running.line(event="link changed", link="ab", state="ready")


def test_a_log_that_cannot_be_written_ends_nothing(tmp_path: Path) -> None:
    """The disk of the log is full: the gateway goes on, through a reload too."""
    config = configuration(tmp_path)
    active = tmp_path / "run" / "active.json"

    def wait_for(text: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECS
        while not (active.exists() and text in active.read_text()):
            assert process.poll() is None, "it ended"
            assert time.monotonic() < deadline
            time.sleep(0.05)

    with open("/dev/full", "w") as full:  # noqa: PTH123
        process = subprocess.Popen([sys.executable, "-m", "gateway.cli", "run", str(config)], stderr=full)
    try:
        wait_for("ab:")
        configuration(tmp_path, CONFIGURATION + "  ac: {{from: a, to: c}}\n")
        process.send_signal(signal.SIGHUP)
        wait_for("ac:")
        process.terminate()
        assert process.wait(PATIENCE_SECS) == 0
    finally:
        process.kill()
        process.wait()


def test_a_log_collector_that_goes_away_ends_nothing(tmp_path: Path) -> None:
    reader = subprocess.Popen(["sleep", "60"], stdin=subprocess.PIPE)
    assert reader.stdin is not None
    process = subprocess.Popen(
        [sys.executable, "-m", "gateway.cli", "run", str(configuration(tmp_path))], stderr=reader.stdin
    )
    try:
        reader.stdin.close()
        reader.kill()
        reader.wait()
        deadline = time.monotonic() + PATIENCE_SECS
        while not (tmp_path / "run" / "active.json").exists():
            assert process.poll() is None, "it ended"
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.terminate()
        assert process.wait(PATIENCE_SECS) == 0
    finally:
        process.kill()
        process.wait()


def test_sighup_takes_over_the_links_of_the_changed_file(tmp_path: Path) -> None:
    config = configuration(tmp_path)
    with gateway(config) as running:
        running.line(event="gateway changed", state="ready")
        configuration(tmp_path, CONFIGURATION + "  ac: {{from: a, to: c}}\n")
        running.process.send_signal(signal.SIGHUP)
        running.line(event="link side changed", link="ac", side="sink", state="ready")
        running.end()


def test_sighup_with_a_broken_file_changes_nothing_and_says_why(tmp_path: Path) -> None:
    config = configuration(tmp_path)
    with gateway(config) as running:
        running.line(event="gateway changed", state="ready")
        config.write_text(config.read_text() + "  ad: {from: a, to: nowhere}\n")
        running.process.send_signal(signal.SIGHUP)
        finding = running.line(event="finding")
        assert finding["place"] == f"{config}:13:21"
        running.line(event="configuration refused: the gateway goes on as it was")
        assert running.end() == 0


def test_a_configuration_with_errors_does_not_start(tmp_path: Path) -> None:
    config = configuration(tmp_path, CONFIGURATION.replace("to: b}}", "to: nowhere}}"))
    with gateway(config) as running:
        assert running.process.wait(PATIENCE_SECS) == 78


def test_a_file_that_is_not_there_is_a_configuration_error(tmp_path: Path) -> None:
    with gateway(tmp_path / "nothing.yaml") as running:
        assert running.process.wait(PATIENCE_SECS) == 78


def test_a_folder_in_use_ends_it_with_unavailable(tmp_path: Path) -> None:
    config = configuration(tmp_path)
    with gateway(config) as first:
        first.line(event="gateway changed", state="ready")
        with gateway(config) as second:
            assert second.process.wait(PATIENCE_SECS) == 69
        assert first.end() == 0


def test_links_of_a_running_gateway_and_of_none(tmp_path: Path) -> None:
    with gateway(configuration(tmp_path)) as running:
        address = str(running.line(event="service changed", service="admin")["address"]).removeprefix("http://")
        shown = _links("--json", "--admin", address)
        assert shown.returncode == 0
        assert [json.loads(line)["link"] for line in shown.stdout.splitlines()] == ["ab"]
        table = _links(ISTHMUS_ADMIN=address)
        assert table.returncode == 0
        assert "ab" in table.stdout
        running.end()
    gone = _links("--admin", address)
    assert gone.returncode == 69
    assert address in gone.stderr


def _links(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gateway.cli", "links", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE_SECS, env={**os.environ, **environment}, check=False
    )
