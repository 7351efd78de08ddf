"""`isthmus run` with nothing but a Notification Service, with and without a store; killed as a whole, and in part."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
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


def test_a_disk_that_is_full_and_has_room_again_is_told_once_each(orb: LocalOrb, configuration: Path) -> None:
    with running(configuration) as gateway:
        supplier, consumer = _reliable_ends(orb, configuration)
        (worker,) = children(gateway)
        written = configuration.with_name("notify.db-wal").stat().st_size
        resource.prlimit(worker, resource.RLIMIT_FSIZE, (written, resource.RLIM_INFINITY))
        accepted = 0
        with pytest.raises(CORBA.PERSIST_STORE):  # noqa: PT012 - sooner or later
            while accepted < 2000:
                supplier.push_structured_event(event(accepted))
                accepted += 1
        for _ in range(5):
            with pytest.raises(CORBA.PERSIST_STORE):
                supplier.push_structured_event(event(accepted))
        resource.prlimit(worker, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        supplier.push_structured_event(event(accepted))
        until(lambda: consumer.numbers == list(range(accepted + 1)))
        until(lambda: len(told(configuration, "store changed")) == 2)
        down, ready = told(configuration, "store changed")
        assert "state=down" in down
        assert "COR-STORE-WRITE" in down
        assert str(configuration.with_name("notify.db")) in down
        assert "state=ready" in ready


def test_an_orb_that_dies_is_told_though_no_link_uses_it(configuration: Path) -> None:
    with running(configuration) as gateway:
        (worker,) = children(gateway)
        os.kill(worker, signal.SIGKILL)
        until(lambda: len(told(configuration, "service=orb")) == 2)
        down, ready = told(configuration, "service=orb")
        assert "state=down" in down
        assert "SIGKILL" in down
        assert "state=ready" in ready


def test_an_orb_that_cannot_come_back_says_why_once_and_comes_back_when_it_can(
    orb: LocalOrb, configuration: Path, tmp_path: Path
) -> None:
    """Its store is no store any more. It is tried again and again, with growing pauses."""
    store = configuration.with_name("notify.db")
    aside = tmp_path / "aside"
    with running(configuration) as gateway:
        (worker,) = children(gateway)
        store.rename(aside)
        for log in store.parent.glob("notify.db-*"):
            log.rename(tmp_path / f"aside{log.name.removeprefix('notify.db')}")
        store.write_text("no store")
        os.kill(worker, signal.SIGKILL)
        until(lambda: told(configuration, "COR-STORE"))
        tries: set[int] = set()

        def tried_again() -> bool:
            tries.update(children(gateway))
            return len(tries) >= 3

        until(tried_again)
        assert len(told(configuration, "COR-STORE")) == 1
        store.unlink()
        for each in tmp_path.glob("aside*"):
            each.rename(store.with_name(f"notify.db{each.name.removeprefix('aside')}"))
        until(lambda: told(configuration, "service=orb")[-1].count("state=ready"))
        channel = Channel(orb, configuration.with_name("factory.ior").read_text())
        channel.close()


def test_a_client_that_is_given_up_is_told(orb: LocalOrb, configuration: Path) -> None:
    with running(configuration):
        channel = Channel(orb, configuration.with_name("factory.ior").read_text())
        consumer, proxy = channel.consumer()

        def farewell(_: Any) -> None:
            raise CORBA.OBJECT_NOT_EXIST(0, CORBA.COMPLETED_NO)

        consumer.push_structured_event = farewell
        proxy.suspend_connection()
        supplier = channel.supplier()
        for number in range(3):
            supplier.push_structured_event(event(number))
        proxy.resume_connection()
        until(lambda: told(configuration, "COR-CLIENT-LOST"))
        (line,) = told(configuration, "COR-CLIENT-LOST")
        assert "3 events that waited" in line
        assert "ConsumerAdmin/0/proxy/" in line
        assert "127.0.0.1" in line


def test_an_event_of_the_store_that_cannot_be_read_is_told_and_kept(orb: LocalOrb, configuration: Path) -> None:
    with running(configuration) as gateway:
        supplier, consumer = _reliable_ends(orb, configuration)
        consumer.proxy.suspend_connection()
        for number in range(3):
            supplier.push_structured_event(event(number))
        gateway.send_signal(signal.SIGTERM)
        assert gateway.wait(30) == 0
    (whole,) = _exchange_head(configuration, 2, b"no event")
    with running(configuration) as gateway:
        until(lambda: told(configuration, "COR-STORE-EVENTS"))
        consumer.proxy.resume_connection()
        until(lambda: consumer.numbers == [0, 2])
        gateway.send_signal(signal.SIGTERM)
        assert gateway.wait(30) == 0
    _exchange_head(configuration, 2, whole)
    with running(configuration):
        until(lambda: consumer.numbers == [0, 2, 1])


def _reliable_ends(orb: LocalOrb, configuration: Path) -> tuple[Any, Any]:
    """A supplier, and a consumer with its proxy, whose connections and events outlive a crash."""
    channel = Channel(orb, configuration.with_name("factory.ior").read_text(), reliable(*EVENTS))
    consumer, consumer.proxy = channel.consumer()
    return channel.supplier(), consumer


def _exchange_head(configuration: Path, number: int, head: bytes) -> Any:
    """That of the stored event of this number; what it was."""
    database = sqlite3.connect(configuration.with_name("notify.db"))
    with database:
        was = database.execute("SELECT head FROM events WHERE number = ?", (number,)).fetchone()
        database.execute("UPDATE events SET head = ? WHERE number = ?", (head, number))
    database.close()
    return was


def told(configuration: Path, what: str) -> list[str]:
    """Lines of the log."""
    return [line for line in configuration.with_name("log").read_text().splitlines() if what in line]


def push(supplier: Any, number: int) -> None:
    """As soon as the service is there."""

    def pushed() -> bool:
        try:
            supplier.push_structured_event(event(number))
        except (CORBA.TRANSIENT, CORBA.COMM_FAILURE):
            return False
        return True

    until(pushed)
