"""The embedded broker with a store: what was confirmed survives."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from adapters.base import StopError
from adapters.embedded_broker import Broker
from tests.contract.wires.stomp import BrokerProcess
from tests.unit.stomp.raw_client import RawClient


@contextmanager
def running(store: Path) -> Iterator[str]:
    with ExitStack() as ends:
        broker = Broker("127.0.0.1", 0, store=store)
        ends.callback(broker.stop)
        yield broker.start()


@contextmanager
def connected(address: str, **headers: str) -> Iterator[RawClient]:
    with RawClient(address) as client:
        assert client.connect(**headers).command == b"CONNECTED"
        yield client


def put(address: str, *bodies: bytes, destination: str = "/queue/q", **headers: str) -> None:
    with connected(address) as client:
        for body in bodies:
            client.send("SEND", body, destination=destination, persistent="true", receipt="r", **headers)
            client.receipt("r")


def taken(address: str, acknowledge: int, total: int) -> list[bytes]:
    """All that there is, of which the first so many are acknowledged."""
    with connected(address) as client:
        client.send("SUBSCRIBE", id="s", destination="/queue/q", ack="client-individual")
        messages = [client.message() for _ in range(total)]
        client.nothing()
        for message in messages[:acknowledge]:
            client.send("ACK", id=message.headers["ack"], receipt="a")
            client.receipt("a")
        return [message.body for message in messages]


def test_persistent_messages_survive_and_others_do_not(tmp_path: Path) -> None:
    store = tmp_path / "broker.db"
    with running(store) as address:
        put(address, b"1", b"2", b"3")
        with connected(address) as client:
            client.send("SEND", b"fleeting", destination="/queue/q", receipt="r")
            client.receipt("r")
        assert taken(address, acknowledge=1, total=4) == [b"1", b"2", b"3", b"fleeting"]
    with running(store) as address:
        put(address, b"4")
        assert taken(address, acknowledge=3, total=3) == [b"2", b"3", b"4"]
    with running(store) as address:
        assert taken(address, acknowledge=0, total=0) == []


def test_what_a_receipt_promised_survives_kill_9(tmp_path: Path) -> None:
    broker = BrokerProcess("--store", str(tmp_path / "broker.db"))
    broker.start()
    try:
        with connected(broker.address) as client:
            client.send("BEGIN", transaction="t")
            for n in range(100):
                client.send("SEND", b"%d" % n, destination="/queue/q", persistent="true", transaction="t")
            client.send("COMMIT", transaction="t", receipt="c")
            client.receipt("c")
            broker.kill()
        broker.start()
        assert taken(broker.address, acknowledge=50, total=100) == [b"%d" % n for n in range(100)]
        broker.kill()
        broker.start()
        assert taken(broker.address, acknowledge=0, total=50) == [b"%d" % n for n in range(50, 100)]
    finally:
        broker.kill()


def test_a_durable_subscription_survives_with_what_it_collected(tmp_path: Path) -> None:
    store = tmp_path / "broker.db"
    name = {"durable_subscription_name": "d", "destination": "/topic/t", "ack": "client-individual"}
    with running(store) as address, connected(address, client_id="c") as client:
        client.send("SUBSCRIBE", id="s", receipt="s", **name)
        client.receipt("s")
    with running(store) as address:
        put(address, b"1", b"2", destination="/topic/t")
    with running(store) as address, connected(address, client_id="c") as client:
        client.send("SUBSCRIBE", id="s", **name)
        assert [client.message().body, client.message().body] == [b"1", b"2"]
        client.send("UNSUBSCRIBE", id="s", durable_subscription_name="d", receipt="u")
        client.receipt("u")
    with running(store) as address:
        put(address, b"3", destination="/topic/t")
        with connected(address, client_id="c") as client:
            client.send("SUBSCRIBE", id="s", **name)
            client.nothing()


@pytest.mark.parametrize("mode", ["auto", "expired"])
def test_nothing_stays_on_disk_that_nobody_needs(tmp_path: Path, mode: str) -> None:
    store = tmp_path / "broker.db"
    with running(store) as address:
        put(address, b"x", **({"expires": "1"} if mode == "expired" else {}))
        with connected(address) as client:
            client.send("SUBSCRIBE", id="s", destination="/queue/q", ack="auto", receipt="s")
            if mode == "auto":
                client.message()
            client.receipt("s")
    with sqlite3.connect(store) as database:
        assert database.execute("SELECT count(*) FROM messages").fetchone() == (0,)
    database.close()


def test_one_broker_at_a_time_uses_a_store(tmp_path: Path) -> None:
    store = tmp_path / "broker.db"
    with running(store) as address:
        put(address, b"x")
        with pytest.raises(StopError) as caught:
            Broker("127.0.0.1", 0, store=store).start()
        assert caught.value.code == "STO-STORE"
    with running(store) as address:
        assert taken(address, acknowledge=1, total=1) == [b"x"]


def _a_folder(path: Path) -> None:
    path.mkdir()


def _no_database(path: Path) -> None:
    path.write_bytes(b"not a database" * 100)


def _another_version(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version=99")
    database.close()


@pytest.mark.parametrize("spoil", [_a_folder, _no_database, _another_version])
def test_a_store_that_cannot_be_used_says_so(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    spoil(tmp_path / "broker.db")
    with pytest.raises(StopError) as caught:
        Broker("127.0.0.1", 0, store=tmp_path / "broker.db").start()
    assert caught.value.code == "STO-STORE"


def test_a_store_that_fails_confirms_nothing_more(tmp_path: Path) -> None:
    store = tmp_path / "broker.db"
    with running(store):
        pass
    database = sqlite3.connect(store)
    database.execute("CREATE TRIGGER full BEFORE INSERT ON messages BEGIN SELECT RAISE(FAIL, 'disk full'); END")
    database.close()
    with running(store) as address, connected(address) as client:
        client.send("SEND", b"x", destination="/queue/q", persistent="true", receipt="r")
        assert "store failed" in client.error()
        with RawClient(address) as late:
            assert "store failed" in late.error()
