"""Endpoints and channels of the MQ wire: what goes together, and how it reaches the library's structures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from adapters.base import StopError
from adapters.mq import mqi, shim
from adapters.mq.settings import MqChannel, MqEndpoint
from gateway.settings import Source, check
from tests.contract.wires import mq_environment
from tests.contract.wires.mq import find_pymqi, stand_in


def endpoint(**settings: Any) -> MqEndpoint:
    return MqEndpoint.model_validate({"type": "mq", **settings})


@pytest.mark.parametrize(
    "wrong",
    [
        {"channel": "C"},
        {"hosts": ["h"]},
        {"channel": "C", "hosts": ["h"], "ccdt": "file:///x"},
        {"user": "ann"},
        {"password": "p"},
        {"user": "ann", "password": "p", "token": "t"},
        {"channel": "C", "hosts": ["a b"]},
        {"channel": "C", "hosts": ["h(x)"]},
        {"queue_manager": "Q" * 49},
    ],
    ids=str,
)
def test_what_does_not_go_together(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        endpoint(**wrong)


@pytest.mark.parametrize(
    "wrong", [{}, {"queue": "Q", "topic": "t"}, {"queue": "Q", "subscription": "s"}, {"queue": "a b"}], ids=str
)
def test_a_channel_is_a_queue_or_a_topic(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        MqChannel.model_validate({"endpoint": "q", **wrong})


def test_hosts_as_the_client_wants_them() -> None:
    made = endpoint(channel="C", hosts=["mq1(1415)", "mq2:1416", "mq3", "10.0.0.1(1)"])
    assert made.connection_name == "mq1(1415),mq2(1416),mq3(1414),10.0.0.1(1)"


def test_destinations() -> None:
    assert MqChannel(endpoint="q", queue="A.B").destination == "queue://A.B"
    assert MqChannel(endpoint="q", topic="a/b").destination == "topic://a/b"


def library() -> shim.Library:
    with stand_in() as manager:
        return shim.load(endpoint(queue_manager=manager.name, stand_in={}))


def test_versions_and_levels_are_pinned() -> None:
    made = library()
    assert [made.MD().Version, made.GMO().Version, made.PMO().Version, made.OD().Version] == [2, 4, 3, 4]
    assert (made.PMO().PubLevel, made.SD().SubLevel) == (9, 1)


def test_the_connection_is_a_client_that_reconnects_by_itself_never(monkeypatch: pytest.MonkeyPatch) -> None:
    """What reaches the library's connect call: channel, hosts, TLS, login, options."""
    made = library()
    seen: dict[str, Any] = {}

    class QueueManager:
        def __init__(self, name: object, disconnect_on_exit: bool) -> None:
            seen.update(deferred=name is None, disconnect_on_exit=disconnect_on_exit)

        def connect_with_options(self, name: str, **wishes: Any) -> None:
            seen.update(name=name, **wishes)

    monkeypatch.setattr(made.module, "QueueManager", QueueManager)
    tls = {
        "key_repository": "/keys.p12",
        "key_repository_password": "k",
        "certificate_label": "me",
        "peer_name": "CN=QM1",
    }
    made.connect(endpoint(queue_manager="QM1", channel="CH", hosts=["h(1)"], user="ann", password="pä", tls=tls))
    assert (seen["deferred"], seen["disconnect_on_exit"], seen["name"]) == (True, False, "QM1")
    wanted = mqi.MQCNO_RECONNECT_DISABLED | mqi.MQCNO_CLIENT_BINDING | mqi.MQCNO_HANDLE_SHARE_BLOCK
    assert seen["cno"].Options == wanted
    assert (seen["cno"].Version, seen["cno"].ApplName) == (7, b"isthmus")
    assert (seen["cd"].ChannelName, seen["cd"].ConnectionName) == (b"CH", b"h(1)")
    assert (seen["cd"].ChannelType, seen["cd"].TransportType) == (mqi.MQCHT_CLNTCONN, mqi.MQXPT_TCP)
    assert (seen["cd"].SSLCipherSpec, seen["cd"].SSLPeerNamePtr) == (b"ANY_TLS12_OR_HIGHER", b"CN=QM1")
    assert (seen["sco"].KeyRepository, seen["sco"].KeyRepoPassword) == (b"/keys.p12", b"k")
    assert (seen["sco"].Version, seen["sco"].CertificateLabel) == (6, b"me")
    assert (seen["csp"].CSPUserId, seen["csp"].CSPPassword) == (b"ann", "pä".encode())
    seen.clear()
    made.connect(endpoint(ccdt="file:///ccdt.json", token="jwt"))
    assert "cd" not in seen
    assert (seen["cno"].CCDTUrl, seen["csp"].Token) == (b"file:///ccdt.json", b"jwt")


@pytest.mark.parametrize("wish", [{"token": "t"}, {"ccdt": "file:///x"}], ids=str)
def test_what_pymqi_does_not_know_is_told(wish: dict[str, Any]) -> None:
    find_pymqi()
    with stand_in() as manager, pytest.raises(StopError, match="pymqi knows no"):
        shim.load(endpoint(queue_manager=manager.name, stand_in={}, library="pymqi", **wish))


def test_the_configuration_on_the_page_has_no_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[3] / "docs" / "mq.md").read_text(encoding="utf-8")
    [text] = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    secret = tmp_path / "secret"
    secret.write_text("x", encoding="utf-8")
    whole = "name: page\n" + text.replace("/run/secrets/mq", str(secret))
    findings = check(Source("mq.md", whole.encode(), tmp_path))
    assert [str(finding) for finding in findings if finding.severity == "error"] == []


def test_a_folder_without_a_client() -> None:
    with pytest.raises(StopError) as told:
        shim.load(endpoint(channel="C", hosts=["h"], client_folder="/nonexistent"))
    assert told.value.code == "MQ-LIBRARY"


def test_a_stand_in_is_refused_unless_asked_for() -> None:
    library()  # from now on the C part of ibmmq is the stand-in's
    with pytest.raises(StopError) as told:
        shim.load(endpoint(channel="C", hosts=["h"]))
    assert told.value.code == "MQ-STAND-IN"


def test_secrets_are_not_shown() -> None:
    made = endpoint(user="ann", password="very secret")
    assert "very secret" not in f"{made!r} {made}"


def test_the_environment_of_a_real_queue_manager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every way in that an endpoint has can be given to the tests."""
    given = {
        "QUEUE_MANAGER": "QM1", "HOSTS": "a(1),b(2)", "CHANNEL": "C", "TOKEN": "jwt", "CIPHER_SPEC": "X",
        "CLIENT_FOLDER": "/opt/mqm", "KEY_REPOSITORY": "/k", "KEY_REPOSITORY_PASSWORD": "s", "CERTIFICATE_LABEL": "l",
        "PEER_NAME": "CN=QM1",
    }  # fmt: skip
    for name, value in given.items():
        monkeypatch.setenv(f"ISTHMUS_MQ_{name}", value)
    tls = {
        "cipher_spec": "X",
        "key_repository": "/k",
        "key_repository_password": "s",
        "certificate_label": "l",
        "peer_name": "CN=QM1",
    }
    way = {
        "queue_manager": "QM1",
        "channel": "C",
        "hosts": ["a(1)", "b(2)"],
        "client_folder": "/opt/mqm",
        "library": "ibmmq",
    }
    assert mq_environment.endpoint() == endpoint(**way, token="jwt", tls=tls)
