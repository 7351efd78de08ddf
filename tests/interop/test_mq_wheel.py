"""The unmodified wheel of ibmmq, with its C part, on a client library of ours and a stand-in queue manager in a process of its own.

That is how production is laid out: what differs from it is IBM's client and queue manager. The tests run in processes of their own,
because in this one the C part may be replaced.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parts.availability import available
from tests.standins.mq.library import client_folder
from tests.standins.mq.process import ServerProcess

ROOT = Path(__file__).parents[2]
RUN_SECS = 110.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    made = ServerProcess(tmp_path, ["ISTHMUS.TEST.IN", "ISTHMUS.TEST.OUT"])
    made.start()
    yield made
    made.kill()


def environment_for(server: ServerProcess) -> dict[str, str]:
    control = f"{sys.executable} -m tests.standins.mq.process"
    return {
        **os.environ,
        "ISTHMUS_MQ_QUEUE_MANAGER": "QM1",
        "ISTHMUS_MQ_CHANNEL": "ISTHMUS.SVRCONN",
        "ISTHMUS_MQ_HOSTS": f"127.0.0.1({server.port})",
        "ISTHMUS_MQ_CLIENT_FOLDER": str(available(client_folder)),
        "ISTHMUS_MQ_STAND_IN": "yes",
        "ISTHMUS_MQ_STOP": f"{control} stop {server.folder}",
        "ISTHMUS_MQ_START": f"{control} start {server.folder}",
    }


def test_the_contract_suite(server: ServerProcess) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/contract", "-k", "mq-environment"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment_for(server), capture_output=True, text=True, timeout=RUN_SECS
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= 20
    assert "skipped" not in done.stdout


CONNECTED = """
import json, sys
from adapters.base import AdapterError
from adapters.mq.settings import MqChannel, MqEndpoint
from adapters.mq.sink import MqSink
for form in json.loads(sys.argv[1]):
    sink = MqSink(MqEndpoint.model_validate(form), MqChannel(endpoint="q", queue="OUT"))
    try:
        sink.connect()
        print("connected")
    except AdapterError as error:
        print(error.code)
    sink.close()
"""


def test_tls_token_and_table_of_channels_reach_the_client_library(tmp_path: Path) -> None:
    """The stand-in knows no TLS, but compares what it is told: cipher, key repository, its password, label, and peer name."""
    asked = {"cipher": "TLS_AES_256_GCM_SHA384", "peer_name": "CN=QM1", "key_repository": "/keys.p12"}
    asked |= {"key_repository_password": "sesäme", "certificate_label": "isthmus"}
    options = ["--tls", json.dumps(asked), "--token", "e.y.J", "--user", "gw:pä"]
    server = ServerProcess(tmp_path, ["OUT"], options)
    server.start()
    tls = {"cipher_spec": asked["cipher"]} | {key: value for key, value in asked.items() if key != "cipher"}
    way = {"channel": "C", "hosts": ["127.0.0.1(9)", f"127.0.0.1({server.port})"]}  # nobody listens at the first
    connection = [{"host": "127.0.0.1", "port": server.port}]
    security = {"cipherSpecification": asked["cipher"], "certificatePeerName": "CN=QM1"}
    channel = {"name": "C", "clientConnection": {"connection": connection, "queueManager": "QM1"}}
    table = tmp_path / "ccdt.json"
    table.write_text(json.dumps({"channel": [{**channel, "transmissionSecurity": security}]}), encoding="utf-8")
    token, user = {"token": "e.y.J"}, {"user": "gw", "password": "pä"}
    expected: list[tuple[dict[str, object], str]] = [
        ({**way, **user, "tls": tls}, "connected"),
        ({**way, **token, "tls": tls}, "connected"),
        ({"ccdt": table.as_uri(), **token, "tls": tls}, "connected"),
        ({**way, "token": "forged", "tls": tls}, "MQ-LOGIN"),
        ({**way, **user, "password": "wrong", "tls": tls}, "MQ-LOGIN"),
        ({**way, **user}, "MQ-TLS"),
        ({**way, **user, "tls": {**tls, "peer_name": "CN=EVIL"}}, "MQ-TLS"),
        ({**way, **user, "tls": {**tls, "certificate_label": "other"}}, "MQ-TLS"),
        ({**way, **user, "tls": {**tls, "key_repository_password": "wrong"}}, "MQ-TLS"),
        ({**way, "hosts": ["127.0.0.1(9)"], **user, "tls": tls}, "MQ-UNREACHABLE"),
    ]
    common = {
        "type": "mq",
        "queue_manager": "QM1",
        "library": "ibmmq",
        "client_folder": str(available(client_folder)),
        "stand_in": {"where": "client"},
    }
    try:
        forms = json.dumps([{**common, **form} for form, _ in expected])
        command = [sys.executable, "-c", CONNECTED, forms]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60.0)
    finally:
        server.kill()
    assert done.stdout.split() == [outcome for _, outcome in expected], done.stderr


TOPIC = """
import json, sys
from pathlib import Path
from adapters.base import Outgoing
from adapters.mq.settings import MqChannel, MqEndpoint
from adapters.mq.sink import MqSink
from adapters.mq.source import MqSource
from tests.standins.mq.process import ServerProcess
from mappings.model import Body, Message
endpoint = MqEndpoint.model_validate(json.loads(sys.argv[1]))
source = MqSource(endpoint, MqChannel(endpoint="q", topic="alarms/#", subscription="isthmus"))
sink = MqSink(endpoint, MqChannel(endpoint="q", topic="alarms/north"))
sink.connect()
for text in ("nobody has subscribed yet", "while we are away", "given back", "before a crash"):
    assert sink.send([Outgoing(Message(body=Body("TextMessage", text)), text)]).result(20.0) == ()
    if text == "before a crash":
        server = ServerProcess(Path(sys.argv[2]))
        server.kill()
        server.start()
    source.connect()
    got = source.receive(10, 0.5)
    if text == "given back":
        source.release(got)
        got = source.receive(10, 20.0)
    source.acknowledge(got)
    source.close()
    print([(d.payload.body.value, d.payload.headers.JMSDestination, d.redelivered) for d in got])
"""


def test_a_durable_subscription(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path, ["IN"])
    server.start()
    endpoint = {
        "type": "mq",
        "queue_manager": "QM1",
        "channel": "C",
        "hosts": [f"127.0.0.1({server.port})"],
        "library": "ibmmq",
        "client_folder": str(available(client_folder)),
        "stand_in": {"where": "client"},
    }
    try:
        command = [sys.executable, "-c", TOPIC, json.dumps(endpoint), str(tmp_path)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60.0)
    finally:
        server.kill()
    assert done.stdout.splitlines() == [
        "[]",
        "[('while we are away', 'topic://alarms/north', False)]",
        "[('given back', 'topic://alarms/north', True)]",
        "[('before a crash', 'topic://alarms/north', False)]",
    ], done.stderr


REFUSED = """
from adapters.base import StopError
from adapters.mq.settings import MqEndpoint
from adapters.mq.shim import load
import sys
try:
    load(MqEndpoint.model_validate({"type": "mq", "channel": "C", "hosts": ["h"], "client_folder": sys.argv[1]}))
except StopError as error:
    print(error.code)
"""


def test_a_stand_in_is_refused_where_none_was_asked_for() -> None:
    command = [sys.executable, "-c", REFUSED, str(available(client_folder))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60.0)
    assert done.stdout.strip() == "MQ-STAND-IN", done.stderr


def test_without_a_client_library_the_reason_is_told(tmp_path: Path) -> None:
    """The wheel itself says only that a module of its own is missing."""
    program = REFUSED.replace('"client_folder": sys.argv[1]', "").replace("error.code", "error")
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60.0
    )
    assert "MQ-LIBRARY" in done.stdout, done.stderr
    assert "libmqm_r.so" in done.stdout
