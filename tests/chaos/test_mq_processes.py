"""A gateway process on the unmodified wheel of ibmmq, and a stand-in queue manager in another process.

Both are killed with -9, again and again, while thousands of messages pass from one queue to another.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
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

ROOT = Path(__file__).parents[2]
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
        "client_folder": str(available(client_folder)),
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


IN_A_UNIT_OF_WORK = """
import json, sys, time
from adapters.mq import mqi
from adapters.mq.codec import Encoder
from adapters.mq.session import INPUT, Session
from adapters.mq.settings import MqEndpoint
from adapters.mq.shim import load
from mappings.model import Body, Message
endpoint = MqEndpoint.model_validate(json.loads(sys.argv[1]))
session = Session(load(endpoint), endpoint)
incoming, outgoing = session.open_queue("IN", "", INPUT), session.open_queue("OUT", "", mqi.MQOO_OUTPUT)
for _ in range(3):
    assert incoming.get(1000) is not None
    outgoing.put(*Encoder().encode(Message(body=Body("TextMessage", "never committed")), "queue://OUT", 0), 0)
print("in a unit of work", flush=True)
time.sleep(600)
"""


def test_a_client_that_is_killed_inside_a_unit_of_work_has_neither_got_nor_put(tmp_path: Path) -> None:
    path = tmp_path / "messages.db"
    fill(path, ["a", "b", "c", "d"], set())
    server = ServerProcess(tmp_path, ["IN", "OUT"])
    server.start()
    try:
        endpoint = json.dumps(config(server)["endpoints"]["qm"])
        command = [sys.executable, "-c", IN_A_UNIT_OF_WORK, endpoint]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as client:
            assert client.stdout is not None
            assert client.stdout.readline() == "in a unit of work\n"
            assert counts(path) == {"a": 0, "b": 0, "c": 0, "d": 0}
            client.kill()
        deadline = time.monotonic() + PATIENCE_SECS
        while sum(counts(path).values()) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        server.kill()
    assert counts(path) == {"a": 1, "b": 1, "c": 1, "d": 0}
    assert messages_in(path)["OUT"] == []


def counts(path: Path) -> dict[str, int]:
    """BackoutCount of what is on IN."""
    store = Store(str(path))
    found = {m.data.rpartition(b" ")[2].decode(): m.backout_count for queue, m in store.load() if queue == "IN"}
    store.close()
    return found


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
