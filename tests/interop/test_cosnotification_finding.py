"""How a peer is found: by a file, by documents at a web server (http and https), by names at a naming service."""

from __future__ import annotations

import http.server
import json
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from adapters.base import ReconnectError, StopError
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.references import resolve
from adapters.cosnotification.service.service import NotificationService
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint, OrbSettings
from adapters.cosnotification.source import CosNotificationSource
from adapters.cosnotification.stubs import CosNaming
from adapters.cosnotification.web import fetch
from tests.parts import certificates
from tests.parts.gateway import ISTHMUS
from tests.parts.omninames import omni_names

CHANNEL = CosNotificationChannel(endpoint="peer", channel=0)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ca.pem with server.pem (of this machine) and other.pem (of another one) signed by it, and stranger.pem."""
    folder = tmp_path_factory.mktemp("tls")
    certificates.authority(folder)
    certificates.authority(folder, "stranger")
    certificates.signed(folder, "server")
    certificates.signed(folder, "other", alternative_names="DNS:other.example")
    return folder


@contextmanager
def web_server(documents: Mapping[str, str], certificate: Path | None = None) -> Iterator[str]:
    """Its URL. What is at /drip never ends."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = documents.get(self.path)
            self.send_response(404 if found is None else 200)
            self.end_headers()
            self.wfile.write((found or "").encode())
            while self.path == "/drip" and not over.wait(0.05):
                self.wfile.write(b"x")

        def log_message(self, *_: object) -> None: ...

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Who does not trust us goes in the middle of a handshake."""

    over = threading.Event()
    server = Server(("127.0.0.1", 0), Handler)
    scheme = "http"
    if certificate is not None:
        scheme = "https"
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, certificate.with_suffix(".key"))
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"{scheme}://127.0.0.1:{server.server_port}"
    finally:
        over.set()
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def gateway(**settings: object) -> Iterator[Orb]:
    orb = Orb(OrbSettings.model_validate(settings))
    orb.start()
    try:
        yield orb
    finally:
        orb.stop()


@pytest.fixture(scope="module")
def peer() -> Iterator[NotificationService]:
    with gateway() as orb:
        service = NotificationService(orb)
        service.start()
        yield service
        service.stop()


@pytest.fixture(scope="module")
def orb() -> Iterator[Orb]:
    with gateway() as orb:
        yield orb


def source(orb: Orb, factory: str) -> CosNotificationSource:
    return CosNotificationSource(orb, CosNotificationEndpoint(type="cosnotification", factory=factory), CHANNEL)


WRITTEN = {
    "plainly": "{}",
    "with an empty line behind it": "{}\r\n\r\n",
    "by an editor that marks its UTF-8": "\ufeff{}\n",
    "by a C program, with its NUL": "{}\0",
    "with something else below": "{}\nNotifyEventChannelFactory\n",
}


@pytest.mark.parametrize("how", WRITTEN)
def test_a_reference_in_a_file(orb: Orb, peer: NotificationService, tmp_path: Path, how: str) -> None:
    (tmp_path / "x.ior").write_text(WRITTEN[how].format(peer.factory_ior), encoding="utf-8")
    found = source(orb, str(tmp_path / "x.ior"))
    found.connect()
    found.close()


def test_a_reference_in_a_file_that_was_sent_by_mail(orb: Orb, peer: NotificationService, tmp_path: Path) -> None:
    """Broken into lines."""
    ior = peer.factory_ior
    (tmp_path / "x.ior").write_text("\n".join(ior[start : start + 72] for start in range(0, len(ior), 72)))
    found = source(orb, str(tmp_path / "x.ior"))
    found.connect()
    found.close()


def test_a_name_at_a_naming_service(orb: Orb, peer: NotificationService, tmp_path: Path) -> None:
    local = LocalOrb()
    local.start()
    try:
        with omni_names(tmp_path) as address:
            named = source(orb, f"corbaname::{address}#telecom/ems.factory")
            with pytest.raises(ReconnectError, match="no such name") as caught:
                named.connect()
            assert caught.value.code == "COR-REFERENCE"
            root = resolve(local, f"corbaloc::{address}/NameService", CosNaming.NamingContext, 5000)
            telecom = root.bind_new_context([CosNaming.NameComponent("telecom", "")])
            factory = local.corba.string_to_object(peer.factory_ior)
            telecom.bind([CosNaming.NameComponent("ems", "factory")], factory)
            named.connect()
            named.close()
            with gateway(naming_service=f"corbaloc::{address}/NameService") as other:
                ours = source(other, "corbaname:rir:#telecom/ems.factory")
                ours.connect()
                ours.close()
    finally:
        local.stop()


def test_a_reference_at_a_web_server(orb: Orb, peer: NotificationService) -> None:
    with web_server({"/ior": peer.factory_ior, "/other": "<html>"}) as url:
        found = source(orb, f"{url}/ior")
        found.connect()
        found.close()
        for path, word in {"/other": "no reference", "/gone": "404"}.items():
            with pytest.raises(ReconnectError, match=word):
                source(orb, url + path).connect()


def test_a_web_server_whose_certificate_our_authority_has_signed(peer: NotificationService, keys: Path) -> None:
    with (
        web_server({"/ior": peer.factory_ior}, keys / "server.pem") as url,
        gateway(ca_file=str(keys / "ca.pem")) as orb,
    ):
        found = source(orb, f"{url}/ior")
        found.connect()
        found.close()


@pytest.mark.parametrize(
    ("shown", "trusted", "why"),
    [
        ("server", None, "unable to get local issuer"),  # the system has never heard of our authority
        ("server", "stranger", "certificate signature failure|unable to get local issuer"),
        ("other", "ca", "IP address mismatch"),
    ],
)
def test_a_web_server_that_we_have_no_reason_to_trust(
    peer: NotificationService, keys: Path, shown: str, trusted: str | None, why: str
) -> None:
    ca_file = None if trusted is None else str(keys / f"{trusted}.pem")
    with (
        web_server({"/ior": peer.factory_ior}, keys / f"{shown}.pem") as url,
        gateway(ca_file=ca_file) as orb,
        pytest.raises(ReconnectError, match=why) as caught,
    ):
        source(orb, f"{url}/ior").connect()
    assert caught.value.code == "COR-CERTIFICATE"
    assert "orb.ca_file" in caught.value.hint


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_file_of_authorities_that_is_of_no_use_stops_the_link(tmp_path: Path, content: str | None) -> None:
    authorities = tmp_path / "ca.pem"
    if content is not None:
        authorities.write_text(content)
    with gateway(ca_file=str(authorities)) as orb, pytest.raises(StopError) as caught:
        source(orb, "https://127.0.0.1:1/ior").connect()
    assert (caught.value.code, caught.value.path) == ("COR-CERTIFICATE", "orb.ca_file")


def test_a_document_without_an_end_is_given_up() -> None:
    with web_server({"/drip": "IOR:"}) as url:
        began = time.monotonic()
        with pytest.raises(ReconnectError) as caught:
            fetch(f"{url}/drip", 500)
        assert time.monotonic() - began < 5.0
    assert caught.value.code == "COR-REFERENCE"


def test_the_doctor_trusts_whom_it_is_told_to(peer: NotificationService, keys: Path) -> None:
    with web_server({"/ior": peer.factory_ior}, keys / "server.pem") as url:
        status, diagnosis = doctor(f"{url}/ior", "--ca-file", str(keys / "ca.pem"))
        assert (status, diagnosis["verdict"]) == (0, "note")
        status, diagnosis = doctor(f"{url}/ior")
        assert status == 1
        (check,) = diagnosis["checks"]
        assert "certificate is not accepted" in check["message"]


def doctor(*arguments: str) -> tuple[int, dict[str, Any]]:
    run = subprocess.run(
        [ISTHMUS, "doctor", "--json", *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    return run.returncode, json.loads(run.stdout)
