"""A real broker as a process of its own: start, kill -9, restart on the same data and ports."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal, Self

from tests.parts.ports import LOOPBACK, ReservedPort

READY_SECS = 60.0
STOP_SECS = 20.0
LOG_TAIL_CHARS = 3000
CONFIG = Path(__file__).parent / "config"

Kind = Literal["artemis", "activemq", "rabbitmq"]


class BrokerTrouble(Exception):
    """The broker did not do what it was told; the text ends with the tail of its log."""


class BrokerPart(ABC):
    """One broker that listens on loopback only, with its data in a folder of its own that goes away with it.

    Clients need `host`, `stomp_port`, `login` and `password`; `kind` is what the configuration of a STOMP endpoint calls `broker`.
    It is a context manager: entering starts it, leaving ends it with everything it kept.
    """

    kind: ClassVar[Kind]
    host = LOOPBACK
    vhost = LOOPBACK  # what STOMP clients give as `host`

    def __init__(self, *port_names: str) -> None:
        self.login = "gateway"
        self.password = "open-sesame"
        self._process: subprocess.Popen[bytes] | None = None
        self._ports = {name: ReservedPort() for name in ("stomp", *port_names)}
        self.stomp_port = self._ports["stomp"].number
        self.folder = Path(tempfile.mkdtemp(prefix=f"isthmus-{self.kind}-"))
        self.log = self.folder / "broker.log"

    @property
    def pid(self) -> int:
        """Of the broker itself: no shell or wrapper stands before it."""
        return self._running().pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    # Life

    def start(self) -> None:
        """Returns when clients can connect."""
        assert not self.running, "already running"
        self._process = self._spawn(self._command())
        self._wait_until_ready()

    def kill(self) -> None:
        """kill -9. What it had not written is gone, as after a power cut of the process."""
        if self.running:
            os.kill(self.pid, signal.SIGKILL)
        self._reap(STOP_SECS)

    def stop(self) -> None:
        """An orderly end, as an operator would."""
        if self.running:
            os.kill(self.pid, signal.SIGTERM)
            try:
                self._reap(STOP_SECS)
            except subprocess.TimeoutExpired:
                self.kill()
                raise BrokerTrouble(f"{self.kind} ignores SIGTERM{self._tail()}") from None

    def restart(self) -> None:
        """The same ports, the same data; after kill(), or in an orderly way if it runs."""
        self.stop()
        self.start()

    def freeze(self) -> None:
        """It holds its connections and does nothing, until thaw()."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def __enter__(self) -> Self:
        try:
            self._prepare()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        for port in self._ports.values():
            port.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # What differs

    @abstractmethod
    def _command(self) -> Sequence[str]:
        """What to start."""

    def _environment(self) -> dict[str, str] | None:
        """None: that of this process."""
        return None

    def _words(self) -> dict[str, str]:
        """What stands for @name@ in the configuration files."""
        return {
            **{f"{name}_port": str(port.number) for name, port in self._ports.items()},
            "data": str(self.folder / "data"),
            "login": self.login,
            "password": self.password,
        }

    # Inside

    @property
    def _etc(self) -> Path:
        return self.folder / "etc"

    def _prepare(self) -> None:
        shutil.copytree(CONFIG / self.kind, self._etc)
        for file in self._etc.iterdir():
            file.write_text(_filled(file.read_text(encoding="utf-8"), self._words()), encoding="utf-8")

    def _spawn(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.PIPE,  # the leash
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for the test run, which ends its brokers itself
            )

    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "not started"
        return self._process

    def _reap(self, timeout_secs: float) -> None:
        if self._process is not None:
            self._process.wait(timeout_secs)
            if self._process.stdin is not None:
                self._process.stdin.close()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_SECS
        while True:
            try:
                self._prove_ready()
                return
            except OSError as trouble:
                status = self._running().poll()
                if status is not None:
                    raise BrokerTrouble(f"{self.kind} ended with status {status}{self._tail()}") from None
                if time.monotonic() > deadline:
                    self.kill()
                    raise BrokerTrouble(
                        f"{self.kind} is not ready after {READY_SECS:.0f} s: {trouble}{self._tail()}"
                    ) from None
            time.sleep(0.05)

    def _prove_ready(self) -> None:
        """STOMP accepts our login; an OSError otherwise."""
        with socket.create_connection((self.host, self.stomp_port), timeout=5.0) as connection:
            headers = f"accept-version:1.2\nhost:{self.vhost}\nlogin:{self.login}\npasscode:{self.password}\n"
            connection.sendall(f"CONNECT\n{headers}\n\0".encode())
            answer = connection.recv(4096)
            if not answer.startswith(b"CONNECTED"):
                raise ConnectionError(f"it answers CONNECT with {answer[:200]!r}")

    def _tail(self) -> str:
        try:
            text = self.log.read_text(encoding="utf-8", errors="replace")
        except OSError:
            text = ""
        return f"; the end of its log:\n{text[-LOG_TAIL_CHARS:]}"


def _filled(text: str, words: dict[str, str]) -> str:
    for name, value in words.items():
        text = text.replace(f"@{name}@", value)
    return text
