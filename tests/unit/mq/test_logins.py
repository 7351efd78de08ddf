"""What reaches the queue manager with MQCONNX, at the boundary of the MQI: channel, hosts, login, token, TLS, and a CCDT."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.base import ReconnectError
from adapters.mq.sink import MqSink
from adapters.mq.standin import door
from adapters.mq.standin.connections import Login, Tls
from adapters.mq.standin.manager import StandInQueueManager
from tests.contract.wires.mq import channel_of, endpoint_of, find_pymqi

ASKED = Tls("ANY_TLS12_OR_HIGHER", "CN=QM1", "/keys.p12", "sesäme", "isthmus")
TLS = {
    "key_repository": "/keys.p12", "key_repository_password": "sesäme", "certificate_label": "isthmus", "peer_name": "CN=QM1",
}  # fmt: skip
WAY = {"channel": "GW.SVRCONN", "hosts": ["mq1(1415)", "mq2"]}


@pytest.fixture
def secure() -> Iterator[StandInQueueManager]:
    """Takes one user, one token, and nobody without TLS."""
    made = StandInQueueManager("QM.SECURE", users={"gw": "pä"}, tokens=["e.y.J"], tls=ASKED)
    made.define("OUT")
    door.register(made)
    yield made
    made.stop()
    door.unregister(made)


def told(manager: StandInQueueManager, **settings: Any) -> Login:
    """Connects, and gives what the queue manager has heard."""
    sink = MqSink(endpoint_of(manager, **settings), channel_of("OUT"))
    sink.connect()
    try:
        [connection] = manager._connections.values()
        return connection.login
    finally:
        sink.close()


def test_user_password_tls_hosts(secure: StandInQueueManager) -> None:
    login = told(secure, **WAY, tls=TLS, user="gw", password="pä")
    assert login == Login("GW.SVRCONN", "mq1(1415),mq2(1414)", "gw", "pä", None, "isthmus", ASKED)


def test_token(secure: StandInQueueManager) -> None:
    login = told(secure, **WAY, tls=TLS, token="e.y.J", application_name="gateway 7")
    assert (login.user, login.password, login.token, login.application) == (None, None, "e.y.J", "gateway 7")


def test_pymqi_tells_what_it_can() -> None:
    find_pymqi()
    manager = StandInQueueManager(
        "QM.PYMQI", users={"gw": "p"}, tls=Tls("TLS_AES_128_GCM_SHA256", "", "/keys", "", "me")
    )
    manager.define("OUT")
    door.register(manager)
    tls = {"cipher_spec": "TLS_AES_128_GCM_SHA256", "key_repository": "/keys", "certificate_label": "me"}
    try:
        login = told(manager, **WAY, tls=tls, user="gw", password="p", library="pymqi")
        assert login.connection_name == "mq1(1415),mq2(1414)"
    finally:
        manager.stop()
        door.unregister(manager)


def table(folder: Path, manager: StandInQueueManager) -> str:
    """A client channel definition table, as IBM documents it."""

    def channel(name: str, queue_manager: str, *hosts: dict[str, Any]) -> dict[str, Any]:
        return {
            "name": name,
            "type": "clientConnection",
            "clientConnection": {"connection": hosts, "queueManager": queue_manager},
            "transmissionSecurity": {"cipherSpecification": ASKED.cipher, "certificatePeerName": ASKED.peer_name},
        }

    whole = {
        "channel": [
            channel("OTHER", "QM9", {"host": "elsewhere", "port": 1}),
            channel("CCDT.SVRCONN", manager.name, {"host": "mq1", "port": 1415}, {"host": "mq2", "port": 1416}),
        ]
    }
    path = folder / "ccdt.json"
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path.as_uri()


def test_a_table_of_channels(secure: StandInQueueManager, tmp_path: Path) -> None:
    login = told(secure, ccdt=table(tmp_path, secure), tls=TLS, token="e.y.J")
    assert (login.channel, login.connection_name) == ("CCDT.SVRCONN", "mq1(1415),mq2(1416)")
    assert login.tls == ASKED  # cipher and peer name are the table's, the key repository is ours


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"password": "wrong"}, "MQ-LOGIN"),
        ({"user": None, "password": None}, "MQ-LOGIN"),
        ({"user": None, "password": None, "token": "forged"}, "MQ-LOGIN"),
        ({"tls": None}, "MQ-TLS"),
        ({"tls": {**TLS, "cipher_spec": "TLS_RSA_WITH_NULL_SHA256"}}, "MQ-TLS"),
        ({"tls": {**TLS, "peer_name": "CN=EVIL"}}, "MQ-TLS"),
        ({"tls": {**TLS, "key_repository_password": "wrong"}}, "MQ-TLS"),
        ({"channel": None, "hosts": [], "ccdt": "file:///nowhere/ccdt.json"}, "MQ-OBJECT"),
    ],
    ids=str,
)
def test_what_is_refused_is_told_without_its_secret(
    secure: StandInQueueManager, change: dict[str, Any], code: str
) -> None:
    settings = {**WAY, "tls": TLS, "user": "gw", "password": "pä", **change}
    with pytest.raises(ReconnectError) as refused:
        told(secure, **settings)
    assert refused.value.code == code
    assert not any(secret in str(refused.value) for secret in ("wrong", "forged", "sesäme", "pä"))
