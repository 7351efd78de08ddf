"""What a service manager is told: systemd's notification protocol, a datagram to the socket that NOTIFY_SOCKET names.

Nothing here may stop the gateway: a manager that does not listen is not told. Without the variable there is no manager.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

LONGEST_STATUS: Final = 200


class Supervisor:
    def __init__(self, environment: Mapping[str, str] | None = None, process: int | None = None) -> None:
        """`environment` is that of this process unless a test says otherwise."""
        environment = os.environ if environment is None else environment
        self._address = _address(environment.get("NOTIFY_SOCKET", ""))
        self.watchdog_secs = _watchdog_secs(environment, os.getpid() if process is None else process)

    @property
    def is_there(self) -> bool:
        return self._address is not None

    @property
    def pause_secs(self) -> float | None:
        """How often it wants to hear that we live; None: never."""
        return None if self.watchdog_secs is None else self.watchdog_secs / 2

    def ready(self, status: str) -> None:
        self._tell("READY=1", _status(status))

    def reloading(self) -> None:
        self._tell(
            "RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}", _status("reading the configuration again")
        )

    def stopping(self) -> None:
        self._tell("STOPPING=1", _status("draining"))

    def status(self, status: str) -> None:
        self._tell(_status(status))

    def alive(self, proof: Callable[[], object]) -> None:
        """`proof` is asked first: where it hangs, nothing is said, and the manager does what it is there for."""
        if self.watchdog_secs is not None:
            proof()
            self._tell("WATCHDOG=1")

    def _tell(self, *lines: str) -> None:
        if self._address is None:
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.settimeout(1.0)
            sender.sendto("\n".join(lines).encode("utf-8", "replace"), self._address)


def _address(said: str) -> str | None:
    """`@` stands for the NUL that abstract addresses begin with."""
    if said.startswith("@"):
        return "\0" + said[1:]
    return said if said.startswith("/") else None


def _watchdog_secs(environment: Mapping[str, str], process: int) -> float | None:
    """Meant for this process, not for one that started it."""
    meant_for = environment.get("WATCHDOG_PID", str(process))
    said = environment.get("WATCHDOG_USEC", "")
    if meant_for != str(process) or not said.isascii() or not said.isdigit() or int(said) == 0:
        return None
    return int(said) / 1e6


def _status(text: str) -> str:
    return "STATUS=" + " ".join(text.split())[:LONGEST_STATUS]
