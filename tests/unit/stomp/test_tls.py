"""TLS towards the broker, with a certificate of our own where it asks; a TLS proxy stands before the embedded broker."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from adapters.base import Outgoing, ReconnectError, StopError
from adapters.stomp.settings import StompChannel
from adapters.stomp.sink import StompSink
from adapters.stomp.source import StompSource
from mappings.model import Body, Headers, Message
from tests.contract.wires.stomp import embedded_endpoint

CHANNEL = StompChannel(endpoint="broker", destination="queue://secret")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ca.pem, and for `server` (localhost) and `client` NAME.pem, NAME.key signed by it; client-locked.key has a password."""
    folder = tmp_path_factory.mktemp("tls")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=60)

    openssl(
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        "ca.key",
        "-out",
        "ca.pem",
        "-subj",
        "/CN=ca",
        "-days",
        "2",
    )
    for name in ("server", "client"):
        openssl(
            "req",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            f"{name}.key",
            "-out",
            f"{name}.csr",
            "-subj",
            f"/CN={name}",
        )
        (folder / f"{name}.ext").write_text("subjectAltName=DNS:localhost\n")
        signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", f"{name}.ext")
        openssl("x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.pem", *signed)
    openssl("rsa", "-aes128", "-passout", "pass:hush", "-in", "client.key", "-out", "client-locked.key")
    return folder


@contextmanager
def tls_front(upstream: str, keys: Path, *, asks_for_certificate: bool) -> Iterator[int]:
    """Its port, on localhost."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(keys / "ca.pem"))
    context.load_cert_chain(keys / "server.pem", keys / "server.key")
    if asks_for_certificate:
        context.verify_mode = ssl.CERT_REQUIRED
    started: Future[tuple[int, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def serve() -> None:
        host, _, port = upstream.rpartition(":")

        async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            behind_reader, behind_writer = await asyncio.open_connection(host, int(port))
            await asyncio.gather(pump(reader, behind_writer), pump(behind_reader, writer))

        ended = asyncio.Event()
        async with await asyncio.start_server(pass_on, "127.0.0.1", 0, ssl=context) as server:
            started.set_result((server.sockets[0].getsockname()[1], asyncio.get_running_loop(), ended))
            await ended.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    port, loop, ended = started.result(20)
    try:
        yield port
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(20)


@pytest.fixture
def front(address: str, keys: Path) -> Iterator[Callable[..., int]]:
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(tls_front(address, keys, **options))


def pass_through(port: int, tls: dict[str, object], host: str = "localhost") -> None:
    """Messages small and large, both ways, on one TLS connection each."""
    endpoint = embedded_endpoint(f"{host}:{port}", tls=tls, connect_timeout_ms=5000)
    sink, source = StompSink(endpoint, CHANNEL), StompSource(endpoint, CHANNEL)
    sizes = [1, 100_000, 3_000_000, 10]
    messages = [Message(Headers(), (), Body("BytesMessage", bytes([n]) * size)) for n, size in enumerate(sizes)]
    source.connect()
    try:
        sink.connect()
        try:
            assert sink.send([Outgoing(message, f"{n}") for n, message in enumerate(messages)]).result(20) == ()
        finally:
            sink.close()
        got: list[Message] = []
        while len(got) < len(messages) and (deliveries := source.receive(10, 20.0)):
            source.acknowledge(deliveries)
            got += [d.payload for d in deliveries if isinstance(d.payload, Message)]
        assert [m.body for m in got] == [m.body for m in messages]
    finally:
        source.close()


def test_a_trusted_broker(front: Callable[..., int], keys: Path) -> None:
    pass_through(front(asks_for_certificate=False), {"ca_file": str(keys / "ca.pem")})


@pytest.mark.parametrize("key", ["client.key", "client-locked.key"])
def test_a_certificate_of_our_own(front: Callable[..., int], keys: Path, key: str) -> None:
    tls = {"ca_file": str(keys / "ca.pem"), "certificate_file": str(keys / "client.pem"), "key_file": str(keys / key)}
    pass_through(front(asks_for_certificate=True), {**tls, "key_password": "hush"})


def test_a_host_name_may_be_left_unchecked(front: Callable[..., int], keys: Path) -> None:
    tls = {"ca_file": str(keys / "ca.pem"), "check_host_name": False}
    pass_through(front(asks_for_certificate=False), tls, host="127.0.0.1")


def refusal(port: int, tls: dict[str, object], host: str = "localhost") -> str:
    sink = StompSink(embedded_endpoint(f"{host}:{port}", tls=tls, connect_timeout_ms=5000), CHANNEL)
    with pytest.raises(ReconnectError) as caught:
        sink.connect()
    return caught.value.code


def test_who_is_not_trusted_is_refused(front: Callable[..., int], keys: Path, address: str) -> None:
    port = front(asks_for_certificate=False)
    assert refusal(port, {}) == "STO-TLS"  # an authority that this system does not know
    assert refusal(port, {"ca_file": str(keys / "ca.pem")}, host="127.0.0.1") == "STO-TLS"  # the wrong name
    assert refusal(int(address.rpartition(":")[2]), {"ca_file": str(keys / "ca.pem")}) == "STO-TLS"  # no TLS there


def test_a_broker_that_asks_for_a_certificate_and_gets_none(front: Callable[..., int], keys: Path) -> None:
    # TLS 1.3 tells it only behind the handshake.
    assert refusal(front(asks_for_certificate=True), {"ca_file": str(keys / "ca.pem")}) in ("STO-TLS", "STO-CUT")


@pytest.mark.parametrize(
    "wrong",
    [
        {"ca_file": "nowhere.pem"},
        {"certificate_file": "client.pem", "key_file": "server.key"},
        {"certificate_file": "client.pem", "key_file": "client-locked.key", "key_password": "wrong"},
    ],
)
def test_files_that_cannot_be_used_stop_the_link(keys: Path, wrong: dict[str, str]) -> None:
    tls = {name: value if name == "key_password" else str(keys / value) for name, value in wrong.items()}
    with pytest.raises(StopError) as caught:
        StompSink(embedded_endpoint("localhost:1", tls=tls), CHANNEL).connect()
    assert caught.value.code == "STO-TLS-FILE"
