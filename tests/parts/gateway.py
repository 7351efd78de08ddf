"""A whole gateway as users run it: `isthmus run CONFIG` in a process of its own, asked over its admin interface."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

ISTHMUS = Path(sys.executable).with_name("isthmus")
START_SECS = 30.0
END_SECS = 40.0
WAIT_SECS = 45.0
POLL_SECS = 0.05

Status = dict[str, Any]  # one element of /links


class Gateway:
    """A context manager: entering starts it and waits until it is ready, leaving ends it with SIGTERM and minds its exit status.

    `config` is the configuration as plain data; `admin` and `run_dir` are added to it. Relative paths lead into `folder`.
    """

    def __init__(self, folder: Path, config: dict[str, Any], environment: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self._environment = environment
        self.config_file = folder / "isthmus.yaml"
        self.log_file = folder / "gateway.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._lines_of_earlier_runs = 0
        self.configure(config)

    def configure(self, config: dict[str, Any]) -> None:
        """Write the configuration; reload() takes it over."""
        whole = {"name": "tests", "admin": {"listen": "127.0.0.1:0"}, "run_dir": str(self.folder / "run"), **config}
        unshared = json.loads(json.dumps(whole))  # else YAML would write what appears twice as an alias
        self.config_file.write_text(yaml.safe_dump(unshared, sort_keys=False, allow_unicode=True), encoding="utf-8")

    # Life

    def start(self, state: str = "ready") -> None:
        """Also after kill() or stop(): the same configuration, the same folders. Waits until it says that it is in that state."""
        self._lines_of_earlier_runs = len(self.log()) if self.log_file.exists() else 0
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                [ISTHMUS, "run", str(self.config_file), "--log-format", "json"],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environment,
                start_new_session=True,
            )
        self.wait_for_log(START_SECS, event="gateway changed", state=state)

    def reload(self) -> None:
        """SIGHUP."""
        seen = len(self.log())
        self._running().send_signal(signal.SIGHUP)
        _until(lambda: any(line.get("state") == "reloaded" for line in self.log()[seen:]), WAIT_SECS, self.tail)

    def signal(self, number: int) -> None:
        self._running().send_signal(number)

    def wait(self) -> int:
        """Its exit status, when it ends by itself."""
        return self._running().wait(END_SECS)

    def kill(self) -> None:
        """kill -9."""
        process = self._running()
        process.kill()
        process.wait(END_SECS)

    def stop(self) -> int:
        """SIGTERM; the exit status, 0 when everything was drained."""
        process = self._running()
        process.send_signal(signal.SIGTERM)
        try:
            return process.wait(END_SECS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(END_SECS)
            raise AssertionError(f"the gateway ignores SIGTERM{self.tail()}") from None

    @property
    def pid(self) -> int:
        return self._running().pid

    def __enter__(self) -> Gateway:
        try:
            self.start()
        except BaseException:
            if self._process is not None and self._process.poll() is None:
                self.kill()
            raise
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._running().poll() is None:
            if kind is not None:
                self.kill()
            else:
                status = self.stop()
                assert status == 0, f"the gateway ended with {status}{self.tail()}"

    # What it says

    def log(self) -> list[dict[str, Any]]:
        """Its log lines so far, of all its runs."""
        lines = self.log_file.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        return [_parsed(line) for line in lines if line.endswith("\n")]

    def wait_for_log(self, timeout_secs: float = WAIT_SECS, **facts: object) -> dict[str, Any]:
        """The first log line of this run with these facts."""
        found: list[dict[str, Any]] = []

        def seen() -> bool:
            assert self._running().poll() is None, f"the gateway has ended{self.tail()}"
            found[:] = [line for line in self.log()[self._lines_of_earlier_runs :] if facts.items() <= line.items()]
            return bool(found)

        _until(seen, timeout_secs, self.tail)
        return found[0]

    def links(self) -> dict[str, Status]:
        """/links of the admin interface, by link."""
        address = self.wait_for_log(event="service changed", service="admin", state="ready")["address"]
        connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=10.0)
        try:
            connection.request("GET", "/links")
            answer = connection.getresponse()
            assert answer.status == http.HTTPStatus.OK
            return {status["link"]: status for status in json.loads(answer.read())}
        finally:
            connection.close()

    def wait_for_link(self, link: str, wanted: Callable[[Status], bool], timeout_secs: float = WAIT_SECS) -> Status:
        """Its status as soon as it is as wanted; the accounts must hold each time that we look."""
        seen: list[Status] = []

        def as_wanted() -> bool:
            status = self.links()[link]
            assert status["accounts"]["holds"], status
            seen[:] = [status]
            return wanted(status)

        _until(as_wanted, timeout_secs, lambda: f"; last seen: {seen}{self.tail()}")
        return seen[0]

    def tail(self) -> str:
        try:
            text = self.log_file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            text = ""
        return f"; the end of its log:\n{text[-4000:]}"

    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "not started"
        return self._process


def _parsed(line: str) -> dict[str, Any]:
    try:
        parsed = json.loads(line)
    except ValueError:
        return {"text": line}
    return parsed if isinstance(parsed, dict) else {"text": line}


def _until(condition: Callable[[], bool], timeout_secs: float, excuse: Callable[[], str]) -> None:
    deadline = time.monotonic() + timeout_secs
    while not condition():
        assert time.monotonic() < deadline, f"not within {timeout_secs:.0f} s{excuse()}"
        time.sleep(POLL_SECS)
