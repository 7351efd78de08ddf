"""TLS by way of stunnel, as docs/cosnotification.md describes it: a tunnel in each direction, certificates on both sides."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from adapters.base import Outgoing
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.service.service import NotificationService
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint, OrbSettings
from adapters.cosnotification.sink import CosNotificationSink
from adapters.cosnotification.source import CosNotificationSource
from mappings.model import StructuredEvent
from tests.parts import certificates
from tests.parts import stunnel as stunnel_part
from tests.parts.availability import available
from tests.parts.ports import ReservedPort
from tests.parts.stunnel import Tunnel, stunnel

PATIENCE_SECS = 20.0


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ca.pem, and both.pem, both.key signed by it."""
    folder = tmp_path_factory.mktemp("tls")
    certificates.authority(folder)
    certificates.signed(folder, "both")
    return folder


@pytest.fixture
def ports() -> Iterator[dict[str, int]]:
    names = ("gateway", "peer", "to-peer", "peer-tls", "to-gateway", "gateway-tls")
    with ExitStack() as held:
        yield {name: held.enter_context(ReservedPort()).number for name in names}


def test_events_pass_both_ways_through_tls_and_strangers_do_not(
    ports: dict[str, int], keys: Path, tmp_path: Path
) -> None:
    available(stunnel_part.fetch)
    tunnels = [
        Tunnel(ports["to-peer"], ports["peer-tls"], client=True),  # beside the gateway
        Tunnel(ports["gateway-tls"], ports["gateway"], client=False),
        Tunnel(ports["to-gateway"], ports["gateway-tls"], client=True),  # beside the peer
        Tunnel(ports["peer-tls"], ports["peer"], client=False),
    ]
    peer = Orb(OrbSettings(listen=f"127.0.0.1:{ports['peer']}", publish=f"127.0.0.1:{ports['to-peer']}"))
    ours = Orb(OrbSettings(listen=f"127.0.0.1:{ports['gateway']}", publish=f"127.0.0.1:{ports['to-gateway']}"))
    with ExitStack() as ends:
        for orb in (peer, ours):
            orb.start()
            ends.callback(orb.stop)
        ends.enter_context(
            stunnel(
                tmp_path,
                tunnels,
                certificate=keys / "both.pem",
                key=keys / "both.key",
                authority=keys / "ca.pem",
            )
        )
        service = NotificationService(peer)
        service.start()
        ends.callback(service.stop)
        endpoint = CosNotificationEndpoint(type="cosnotification", factory=service.factory_ior)
        channel = CosNotificationChannel(endpoint="peer", channel=0)
        source, sink = CosNotificationSource(ours, endpoint, channel), CosNotificationSink(ours, endpoint, channel)
        ends.callback(source.close)
        ends.callback(sink.close)
        source.connect()
        sink.connect()
        event = StructuredEvent("d", "t", "through the tunnel")
        assert sink.send([Outgoing(event, "1")]).result(PATIENCE_SECS) == ()
        assert [delivery.payload for delivery in source.receive(1, PATIENCE_SECS)] == [event]
        for door in ("peer-tls", "gateway-tls"):
            assert _lets_in(ports[door], keys, with_certificate=True)
            assert not _lets_in(ports[door], keys, with_certificate=False)


def _lets_in(port: int, keys: Path, *, with_certificate: bool) -> bool:
    """Whether the door talks to us; in TLS 1.3 a refusal shows at the first read."""
    context = ssl.create_default_context(cafile=str(keys / "ca.pem"))
    context.check_hostname = False
    if with_certificate:
        context.load_cert_chain(keys / "both.pem", keys / "both.key")
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5.0) as plain, context.wrap_socket(plain) as secure:
            secure.settimeout(1.0)
            return secure.recv(1) != b""
    except TimeoutError:
        return True  # it waits for what we have to say
    except OSError:
        return False
