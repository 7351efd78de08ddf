"""A gateway process on the unmodified wheel of ibmmq, and a stand-in queue manager in another process.

Both are killed with -9, again and again, while thousands of messages pass from one queue to another.
"""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from adapters.mq.codec import Encoder
from adapters.mq.standin.queues import Queue, StoredMessage
from adapters.mq.standin.store import Store
from adapters.mq.standin.structures import MD
from mappings.model import Body, Message
from tests.parts.availability import available
from tests.parts.gateway import Gateway
from tests.standins.mq.library import client_folder
from tests.standins.mq.process import ServerProcess

MESSAGES = 3000
POISON = 60  # 2 %: their MQRFH2 is broken
KILLS = 4
PATIENCE_SECS = 90.0
LINK = "move"


def fill(path: Path, numbers: list[str], broken: set[str]) -> None:
    """Persistent messages onto IN, before the queue manager starts."""
    store = Store(str(path))
    queue = Queue("IN")
    encoder = Encoder()
    blank = dict.fromkeys(MD.names, 0) | {"StrucId": b"MD  ", "Version": 2, "MsgSeqNumber": 1, "OriginalLength": -1}
    blank |= dict.fromkeys(("ReplyToQ", "ReplyToQMgr", "UserIdentifier", "ApplIdentityData", "PutApplName"), b"")
    blank |= {"PutDate": b"20261118", "PutTime": b"12000000", "ApplOriginData": b"", "AccountingToken": bytes(32)}
    stored = []
    for number, text in enumerate(numbers, 1):
        descriptor, data = encoder.encode(Message(body=Body("TextMessage", f" {text}")), "queue://IN", 0)
        fields = descriptor._asdict() | {"Format": b"MQHRF2  ", "MsgId": b"%-24d" % number}
        md = blank | {name: value for name, value in fields.items() if not isinstance(value, str)}
        data = b"RFH " + bytes(40) + f" {text}".encode() if text in broken else data
        stored.append((queue, StoredMessage(md, data, None, number)))
    store.change(stored, [])
    store.close()


def messages_in(path: Path) -> dict[str, list[tuple[str, bytes]]]:
    """By queue: content and MsgId."""
    store = Store(str(path))
    found = defaultdict(list)
    for queue, message in store.load():
        found[queue].append((message.data.rpartition(b" ")[2].decode(), message.md["MsgId"]))
    store.close()
    return found


def config(server: ServerProcess) -> dict[str, Any]:
    quick = {"first_ms": 20, "longest_ms": 200}
    endpoint = {
        "type": "mq",
        "queue_manager": "QM1",
        "channel": "ISTHMUS.SVRCONN",
        "hosts": [f"127.0.0.1({server.port})"],
        "client_folder": str(client_folder()),
        "stand_in": {"where": "client"},
        "back_off": quick,
    }
    return {
        "endpoints": {"qm": endpoint},
        "channels": {"in": {"endpoint": "qm", "queue": "IN"}, "out": {"endpoint": "qm", "queue": "OUT"}},
        "links": {LINK: {"from": "in", "to": "out"}},
    }


def passed(folder: Path) -> int:
    return len(messages_in(folder / "messages.db")["OUT"])


@pytest.mark.slow
def test_nothing_is_lost_when_both_are_killed(tmp_path: Path) -> None:
    available(client_folder)
    numbers = [f"{n:05}" for n in range(MESSAGES)]
    broken = set(numbers[:: MESSAGES // POISON])
    fill(tmp_path / "messages.db", numbers, broken)
    server = ServerProcess(tmp_path, ["IN", "OUT"])
    server.start()
    gateway = Gateway(tmp_path, config(server))
    gateway.start()
    try:
        victims = itertools.cycle((gateway, server))
        for kill in range(1, KILLS + 1):
            deadline = time.monotonic() + PATIENCE_SECS
            while passed(tmp_path) < MESSAGES * kill // (KILLS + 2) and time.monotonic() < deadline:
                time.sleep(0.05)
            victim = next(victims)
            victim.kill()
            victim.start()
        deadline = time.monotonic() + PATIENCE_SECS
        while messages_in(tmp_path / "messages.db")["IN"] and time.monotonic() < deadline:
            time.sleep(0.2)
        assert gateway.stop() == 0
    finally:
        server.kill()
    left = messages_in(tmp_path / "messages.db")
    assert left["IN"] == []
    arrived = [number for number, _ in left["OUT"]]
    assert set(arrived) == set(numbers) - broken, "lost"
    ids = {number: {id_ for other, id_ in left["OUT"] if other == number} for number in broken}
    assert all(not same for same in ids.values())
    assert len(set(left["OUT"])) == len(set(arrived)), "what comes twice has one MsgId"
    letters = (tmp_path / "run" / "dead-letters" / f"{LINK}.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(letters) >= POISON
    assert all("MQ-DECODE" in letter for letter in letters)
    print(f"{len(arrived) - len(set(arrived))} duplicates, {len(letters) - POISON} dead letters twice")
