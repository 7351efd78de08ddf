"""`isthmus run` with nothing but a Notification Service, with and without a store; killed as a whole, and in part."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.stubs import CORBA
from tests.interop.notification_service.clients import Channel, event, until
from tests.interop.notification_service.test_persistence import EVENTS, orb, reliable
from tests.parts.gateway import ISTHMUS
from tests.parts.ports import ReservedPort

__all__ = ["orb"]


@pytest.fixture
def configuration(tmp_path: Path) -> Iterator[Path]:
    with ReservedPort() as port:
        path = tmp_path / "isthmus.yaml"
        path.write_text(
            f"""
name: channels
orb: {{listen: "127.0.0.1:{port.number}"}}
services:
  notification: {{factory_ior: factory.ior, store: notify.db}}
"""
        )
        yield path


@contextmanager
def running(configuration: Path, factory_ior: str = "factory.ior") -> Iterator[subprocess.Popen[bytes]]:
    """A gateway, from when its factory can be called; it is killed in the end unless somebody ends it before."""
    reference = configuration.with_name(factory_ior)
    reference.unlink(missing_ok=True)
    with (configuration.with_name("log")).open("ab") as log:
        process = subprocess.Popen([ISTHMUS, "run", configuration], cwd=configuration.parent, stdout=log, stderr=log)
    try:
        until(reference.exists)
        yield process
    finally:
        process.kill()
        process.wait()


def children(process: subprocess.Popen[bytes]) -> list[int]:
    found = []
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                if int((each / "stat").read_text().rpartition(")")[2].split()[1]) == process.pid:
                    found.append(int(each.name))
            except OSError:
                pass
    return found


def test_a_service_alone_is_a_whole_configuration(orb: LocalOrb, configuration: Path) -> None:
    checked = subprocess.run([ISTHMUS, "lint", configuration], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    with running(configuration) as gateway:
        ior = configuration.with_name("factory.ior").read_text()
        channel = Channel(orb, ior)
        consumer, _ = channel.consumer()
        channel.supplier().push_structured_event(event(1))
        until(lambda: consumer.numbers == [1])
        channel.close()
        gateway.send_signal(signal.SIGTERM)
        assert gateway.wait(30) == 0
    assert not configuration.with_name("factory.ior").exists()


def test_the_gateway_or_its_orb_is_killed(orb: LocalOrb, configuration: Path) -> None:
    with running(configuration) as gateway:
        ior = configuration.with_name("factory.ior").read_text()
        channel = Channel(orb, ior, reliable(*EVENTS))
        consumer, proxy = channel.consumer()
        proxy.suspend_connection()
        supplier = channel.supplier()
        supplier.push_structured_event(event(1))
        (worker,) = children(gateway)
        os.kill(worker, signal.SIGKILL)
        push(supplier, 2)
        gateway.kill()
        gateway.wait()
        until(lambda: not Path(f"/proc/{worker}").exists())
    with running(configuration):
        assert configuration.with_name("factory.ior").read_text() == ior
        push(supplier, 3)
        proxy.resume_connection()
        until(lambda: sorted(set(consumer.numbers)) == [1, 2, 3])
        assert consumer.numbers == sorted(consumer.numbers)


def push(supplier: Any, number: int) -> None:
    """As soon as the service is there."""

    def pushed() -> bool:
        try:
            supplier.push_structured_event(event(number))
        except (CORBA.TRANSIENT, CORBA.COMM_FAILURE):
            return False
        return True

    until(pushed)
