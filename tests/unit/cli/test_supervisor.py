"""What a service manager hears: from the class alone, and from `isthmus run` as a process."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.cli.supervisor import Supervisor
from tests.parts.gateway import Gateway

PATIENCE_SECS = 30.0


class Manager:
    """systemd's end of the socket."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.socket.settimeout(PATIENCE_SECS)

    def heard(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.socket.recv(4096).decode().splitlines())

    def waits_for(self, name: str) -> list[dict[str, str]]:
        """All that comes up to the first that says this."""
        heard = [self.heard()]
        while name not in heard[-1]:
            heard.append(self.heard())
        return heard


@pytest.fixture
def address(tmp_path: Path) -> str:
    return str(tmp_path / "notify")


@pytest.fixture
def manager(address: str) -> Iterator[Manager]:
    manager = Manager(address)
    yield manager
    manager.socket.close()


def test_without_a_manager_nothing_is_said() -> None:
    supervisor = Supervisor({})
    assert not supervisor.is_there
    assert supervisor.pause_secs is None
    supervisor.ready("x")
    supervisor.alive(lambda: pytest.fail("nobody asks for a proof"))


def test_a_manager_that_has_gone_disturbs_nobody(address: str) -> None:
    Supervisor({"NOTIFY_SOCKET": address}).ready("x")


def test_abstract_addresses(tmp_path: Path) -> None:
    name = f"isthmus-test-{os.getpid()}-{tmp_path.name}"
    manager = Manager("\0" + name)
    try:
        Supervisor({"NOTIFY_SOCKET": "@" + name}).ready("two\nlines")
        assert manager.heard() == {"READY": "1", "STATUS": "two lines"}
    finally:
        manager.socket.close()


@pytest.mark.parametrize(
    ("said", "secs"),
    [
        ({"WATCHDOG_USEC": "3000000"}, 3.0),
        ({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "7"}, 3.0),
        ({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "8"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({}, None),
    ],
)
def test_the_watchdog_is_ours_or_not(said: dict[str, str], secs: float | None) -> None:
    assert Supervisor(said, process=7).watchdog_secs == secs


def test_who_cannot_prove_that_he_lives_does_not_say_so(manager: Manager, address: str) -> None:
    supervisor = Supervisor({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "1000000"})

    def hangs() -> None:
        raise RuntimeError("a deadlock, for a test that has no time for one")

    with pytest.raises(RuntimeError):
        supervisor.alive(hangs)
    supervisor.alive(lambda: None)
    assert manager.heard() == {"WATCHDOG": "1"}


def test_a_gateway_tells_its_life(
    manager: Manager, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    monkeypatch.setenv("WATCHDOG_USEC", "400000")
    config = {
        "endpoints": {"here": {"type": "memory"}},
        "channels": {"a": {"endpoint": "here", "name": "a"}, "b": {"endpoint": "here", "name": "b", "form": "message"}},
        "links": {"ab": {"from": "a", "to": "b"}},
    }
    with Gateway(tmp_path, config) as gateway:
        (ready,) = manager.waits_for("READY")
        assert "1 links" in ready["STATUS"]
        assert len(manager.waits_for("WATCHDOG")) <= 2
        manager.waits_for("WATCHDOG")
        gateway.signal(signal.SIGHUP)
        assert int(manager.waits_for("RELOADING")[-1]["MONOTONIC_USEC"]) > 0
        manager.waits_for("READY")
        gateway.stop()
        assert manager.waits_for("STOPPING")[-1]["STATUS"] == "draining"
