"""`isthmus doctor` as users run it, on services and on what only looks like one."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.references import resolve
from adapters.cosnotification.stubs import CosNotifyChannelAdmin
from tests.contract.wires.cosnotification import Peer
from tests.parts.gateway import ISTHMUS
from tests.unit.cosnotification.test_ior import component, encapsulated, ior


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    peer = Peer(Path(tmp_path_factory.mktemp("doctor")))
    peer.start()
    yield peer
    peer.kill()


def doctor(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
    run = subprocess.run(
        [ISTHMUS, "doctor", "--json", *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert "Traceback" not in run.stderr
    return run.returncode, [json.loads(line) for line in run.stdout.splitlines()]


def checks(diagnosis: dict[str, Any], name: str) -> list[tuple[str, str]]:
    return [(check["verdict"], check["message"]) for check in diagnosis["checks"] if check["name"] == name]


def test_a_service_that_is_well(peer: Peer) -> None:
    status, (diagnosis,) = doctor(str(peer.ior), "--callback")
    assert status == 0
    assert diagnosis["verdict"] == "note"
    ((verdict, message),) = checks(diagnosis, "object")
    assert verdict == "ok"
    assert "an EventChannelFactory" in message
    assert "TypedEventChannelFactory" in message
    assert [verdict for verdict, _ in checks(diagnosis, "callback")] == ["ok"]
    (profile,) = diagnosis["reference"]["profiles"]
    assert (profile["version"], profile["orb"], profile["code_set"][0]) == ("1.2", "omniORB", "UTF-8")


def test_nothing_is_left_at_the_peer(peer: Peer) -> None:
    local = LocalOrb()
    local.start()
    factory = resolve(local, str(peer.ior), CosNotifyChannelAdmin.EventChannelFactory, 5000)
    before = factory.get_all_channels()
    doctor(str(peer.ior), "--callback")
    assert factory.get_all_channels() == before
    local.stop()


def test_a_peer_that_cannot_call_back(peer: Peer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        blocked = f"127.0.0.1:{nobody.getsockname()[1]}"
        status, (diagnosis,) = doctor(str(peer.ior), "--callback", "--publish", blocked, "--timeout-ms", "700")
    assert status == 1
    ((verdict, message),) = checks(diagnosis, "callback")
    assert verdict == "error"
    assert blocked in message


def test_every_endpoint_of_a_configuration(peer: Peer, tmp_path: Path) -> None:
    config = tmp_path / "isthmus.yaml"
    gone = "corbaloc::127.0.0.1:1/Gone"
    config.write_text(
        f"name: x\nendpoints:\n  well: {{type: cosnotification, factory: {peer.ior}}}\n"
        f"  ill: {{type: cosnotification, factory: '{gone}'}}\n  other: {{type: memory}}\n"
        "channels:\n  c: {endpoint: well, channel: 0}\n"
    )
    status, diagnoses = doctor(str(config), "--callback")
    assert status == 1
    assert [(each["target"], each["verdict"]) for each in diagnoses] == [
        ("endpoint well", "note"), ("endpoint ill", "error"),
    ]  # fmt: skip
    config.write_text("name: x\nbogus: 1\n")
    assert doctor(str(config))[0] == 78


def test_the_services_of_a_configuration_where_they_run(peer: Peer, tmp_path: Path) -> None:
    config = tmp_path / "isthmus.yaml"
    ior = tmp_path / "factory.ior"
    config.write_text(f"name: x\nservices: {{notification: {{factory_ior: {ior}}}}}\n")
    run = subprocess.run([ISTHMUS, "doctor", str(config)], capture_output=True, text=True, check=False, timeout=60)
    assert (run.returncode, run.stdout) == (0, "")
    assert "nothing to examine" in run.stderr
    ior.write_text(peer.ior.read_text())
    status, (diagnosis,) = doctor(str(config), "--callback")
    assert status == 0
    assert diagnosis["target"] == "services.notification"
    assert [verdict for verdict, _ in checks(diagnosis, "callback")] == ["ok"]


def test_a_port_that_the_gateway_has_is_left_alone(peer: Peer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        status, (diagnosis,) = doctor(str(peer.ior), "--callback", "--listen", listen)
    assert status == 0
    assert [verdict for verdict, _ in checks(diagnosis, "callback")] == ["ok"]
    ((_, message),) = checks(diagnosis, "listen")
    assert listen in message


def test_each_endpoint_is_examined_with_the_orb_that_it_has(peer: Peer, tmp_path: Path) -> None:
    configuration = tmp_path / "isthmus.yaml"
    configuration.write_text(
        f"name: x\nendpoints:\n  usual: {{type: cosnotification, factory: {peer.ior}}}\n"
        f"  old: {{type: cosnotification, factory: {peer.ior}, orb: {{code_set: ISO-8859-1}}}}\n"
    )
    status, diagnoses = doctor(str(configuration), "--callback")
    assert status == 0
    ours = {diagnosis["target"]: checks(diagnosis, "code set")[0][1] for diagnosis in diagnoses}
    assert "with ours, UTF-8," in ours["endpoint usual"]
    assert "with ours, ISO-8859-1," in ours["endpoint old"]
    assert [verdict for diagnosis in diagnoses for verdict, _ in checks(diagnosis, "callback")] == ["ok", "ok"]


@pytest.mark.parametrize("option", [("--listen", "abc"), ("--listen", "127.0.0.1:99999"), ("--publish", "x:0")])
def test_an_address_that_is_none_is_a_mistake(option: tuple[str, str]) -> None:
    run = subprocess.run([ISTHMUS, "doctor", *option, "x"], capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 2
    assert "is no address" in run.stderr


def test_a_reference_does_not_speak_to_the_terminal() -> None:
    reference = ior(host=b"h\x1b[2J\x9bm")
    run = subprocess.run(
        [ISTHMUS, "doctor", "--offline", reference], capture_output=True, text=True, check=False, timeout=60
    )
    assert "\x1b" not in run.stdout
    assert "\x9b" not in run.stdout
    assert "h\\x1b[2J\\x9bm" in run.stdout


def test_people_read_sentences(peer: Peer) -> None:
    run = subprocess.run([ISTHMUS, "doctor", str(peer.ior)], capture_output=True, text=True, check=True, timeout=60)
    assert "object: it answers, and is an EventChannelFactory" in run.stdout
    assert "IIOP 1.2 at 127.0.0.1:" in run.stdout


CODE_SETS_OF_ANOTHER_AGE = component(1, encapsulated(b"\0\0\0", b"\1\0\1\0" + b"\0" * 4 + b"\0" * 8))


@pytest.mark.parametrize(
    ("reference", "check", "verdict", "words"),
    [
        (ior(host=b"0.0.0.0"), "address", "error", "every machine"),
        (ior(host=b"fe80::1"), "address", "error", "link-local"),
        (ior(host=b"127.0.0.1"), "address", "note", "nowhere but to the machine"),
        (ior(port=0), "address", "error", "no port"),
        (ior(version=b"\1\0"), "version", "warning", "1.0"),
        (ior(version=b"\1\1"), "version", "note", "1.1"),
        (ior(), "code set", "warning", "does not say its code set"),
        (ior(CODE_SETS_OF_ANOTHER_AGE), "code set", "warning", "ISO-8859-1, and ours is UTF-8"),
        (ior(component(20, encapsulated(b"\0\1\0\1\0\xac\2"))), "tls", "note", "684"),
        (ior(component(20, encapsulated(b"\0\1\0\1\0\xfb\x20")), port=0), "tls", "error", "nothing but TLS (port 8443)"),
        (ior(host=b""), "address", "error", "no host"),
        ("corbaloc::host:99999/k", "address", "error", "no such port"),
        (ior(component(0x41545401, b"\1")), "bidirectional", "ok", "connection that we open"),
        ("IOR:012345", "reference", "error", "damaged"),
        ("corbaloc::host", "reference", "error", "without the key"),
        ("corbaloc:ssliop:host:1/k", "tls", "error", "TLS"),
        ("corbaloc::[::1]:99,:other:98/k", "reference", "ok", "key is k"),
        ("nowhere.ior", "reference", "error", "cannot be read"),
        (" ", "reference", "error", "is empty"),
    ],
)  # fmt: skip
def test_what_a_reference_says_of_itself(
    examination: Any, reference: str, check: str, verdict: str, words: str
) -> None:
    diagnosis, _ = examination.examine(reference)
    found = [(each.verdict, each.message) for each in diagnosis.checks if each.name == check]
    assert any(each[0] == verdict and words in each[1] for each in found), diagnosis.checks


@pytest.fixture(scope="module")
def examination() -> Iterator[Any]:
    from adapters.cosnotification.doctor.examination import Examination

    local = LocalOrb()
    local.start()
    yield Examination(local, 1000, offline=True)
    local.stop()


def test_peers_that_are_ill(peer: Peer, tmp_path: Path) -> None:
    """One process for all: a hung one, a refused port, a name that nobody knows, an object that has gone, and HTTP."""
    text = peer.ior.read_text()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    with socket.create_server(("127.0.0.1", 0)) as hung:
        port = hung.getsockname()[1]
        service = doctor(str(peer.ior), "--offline")[1][0]["reference"]["profiles"][0]["addresses"][0]
        (tmp_path / "nothing.txt").write_text("hello")
        targets = {
            f"corbaloc::127.0.0.1:{port}/Factory": ("object", "error", "TIMEOUT"),
            "corbaloc::127.0.0.1:1/Factory": ("address", "error", "refused"),
            "corbaloc::no.such.host.invalid:1/Factory": ("address", "error", "does not know the name"),
            f"corbaloc::{service}/Gone": ("object", "error", "no such object"),
            f"corbaloc::127.0.0.1:1,:{service}/Gone": ("address", "warning", "refused"),
            f"http://127.0.0.1:{server.server_port}/factory.ior": ("object", "ok", "EventChannelFactory"),
            str(tmp_path / "nothing.txt"): ("reference", "error", "holds no reference"),
        }
        status, diagnoses = doctor(*targets, "--timeout-ms", "700")
    server.shutdown()
    server.server_close()
    thread.join()
    assert status == 1
    for diagnosis, (target, (check, verdict, words)) in zip(diagnoses, targets.items(), strict=True):
        assert diagnosis["target"] == target
        found = checks(diagnosis, check)
        assert any(each[0] == verdict and words in each[1] for each in found), diagnosis


def test_nothing_to_examine_is_a_mistake() -> None:
    run = subprocess.run([sys.executable, "-m", "gateway.cli", "doctor"], capture_output=True, check=False, timeout=60)
    assert run.returncode == 2
