"""One supervised connection to one of an endpoint's brokers: stomp.py's STOMP 1.2 protocol over our own transport.

It is made once, opened once and closed. stomp.py never reconnects: the link does, by a new one of these, so that every
reconnect logs in, subscribes and verifies from scratch.
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from adapters.base import ReconnectError, StopError
from adapters.stomp.broker_errors import broker_error
from adapters.stomp.flavours import FLAVOURS
from adapters.stomp.frames import Frame
from adapters.stomp.settings import StompEndpoint, StompTls
from adapters.stomp.transport import Transport

# Behind `transport`, which sets what stomp.py reads at import.
import stomp  # isort: skip
from stomp.connect import BaseConnection  # isort: skip
from stomp.protocol import Protocol12  # isort: skip

GOODBYE_SECS: Final = 2.0


class _Stomp(stomp.StompConnection12):  # type: ignore[misc]
    """stomp.py's connection with another transport; content-length is ours to say, heart-beats are the transport's."""

    def __init__(self, transport: Transport) -> None:
        BaseConnection.__init__(self, transport)
        Protocol12.__init__(self, transport, heartbeats=(0, 0), auto_content_length=False)


class Connection:
    """Callbacks run on the connection's own thread, and must not block."""

    def __init__(
        self,
        endpoint: StompEndpoint,
        *,
        client_id: str | None = None,
        beat_ms: int | None = None,
        on_messages: Callable[[list[Frame]], None] = lambda _: None,
        on_receipt: Callable[[str], None] = lambda _: None,
        on_tick: Callable[[float], None] = lambda _: None,
        on_lost: Callable[[ReconnectError], None] = lambda _: None,
    ) -> None:
        """`beat_ms`: the broker is to hear from us at least so often, where it is to hear from us at all."""
        self._endpoint = endpoint
        self._beat_ms = min(endpoint.heartbeat_ms, beat_ms or endpoint.heartbeat_ms)
        self._client_id = client_id
        self._on_messages = on_messages
        self._on_receipt = on_receipt
        self._on_tick = on_tick
        self._on_lost = on_lost
        self._changed = threading.Condition()
        self._awaited: dict[str, bool] = {}  # receipt id -> whether it is there
        self._connected: dict[str, str] | None = None  # headers of CONNECTED
        self._transport: Transport | None = None
        self._stomp: Any = None
        self._opened = False

    def open(self) -> None:
        """Connect to the first host that takes us, from the top of the list. Raises ReconnectError or StopError."""
        failures = []
        for host in self._endpoint.hosts:
            try:
                self._open(*_host_and_port(host))
                self._opened = True
                return
            except ReconnectError as error:
                failures.append(error)
        # A broker that answers, if only to refuse, tells more than one that is not there.
        told = next((error for error in failures if error.code != "STO-UNREACHABLE"), failures[-1])
        others = [f"{error.path}: {error.message}" for error in failures if error is not told]
        if others:
            told.message += f" (and {'; '.join(others)})"
        raise told

    def _open(self, host: str, port: int) -> None:
        endpoint = self._endpoint
        receipt_secs = endpoint.receipt_timeout_ms / 1000
        self._connected = None
        transport = Transport(
            host,
            port,
            tls=_tls_context(endpoint.tls) if endpoint.tls is not None else None,
            vhost=endpoint.vhost or FLAVOURS[endpoint.broker].vhost,
            connect_timeout_secs=endpoint.connect_timeout_ms / 1000,
            send_timeout_secs=receipt_secs,
            on_frames=self._on_messages,
            on_tick=self._on_tick,
            on_lost=self._lost,
        )
        transport.set_shortest_wait(receipt_secs)
        transport.set_listener("isthmus", self)
        self._transport = transport
        self._stomp = _Stomp(transport)
        headers = {}
        if endpoint.heartbeat_ms:
            headers["heart-beat"] = f"{self._beat_ms},{endpoint.heartbeat_ms}"
        if self._client_id is not None:
            headers["client-id"] = self._client_id
        password = None if endpoint.password is None else endpoint.password.get_secret_value()
        try:
            self._stomp.connect(endpoint.login, password, headers=headers)
            with self._changed:
                answered = self._changed.wait_for(
                    lambda: self._connected is not None or transport.error is not None,
                    endpoint.connect_timeout_ms / 1000,
                )
            if transport.error is not None:
                raise transport.error
            if not answered:
                raise ReconnectError(
                    "STO-NO-ANSWER",
                    "connected, but no STOMP answer",
                    path=transport.address,
                    hint="is it a STOMP port?",
                )
            self._accept(transport)
        except ReconnectError:
            transport.close()
            raise

    def _accept(self, transport: Transport) -> None:
        assert self._connected is not None
        version = self._connected.get("version")
        if version != "1.2":
            raise ReconnectError(
                "STO-VERSION",
                f"the broker speaks STOMP {version or '1.0'}, not 1.2",
                path=transport.address,
                hint="older versions cannot carry every property; let the broker offer 1.2",
            )
        ours = self._endpoint.heartbeat_ms
        theirs_sent, theirs_wanted = _heart_beats(self._connected.get("heart-beat", "0,0"))
        if ours:
            transport.set_heart_beats(
                max(self._beat_ms, theirs_wanted) / 1000 if theirs_wanted else 0.0,
                max(ours, theirs_sent) / 1000 if theirs_sent else 0.0,
            )

    # For the source and the sink

    @property
    def address(self) -> str:
        return self._transport.address if self._transport is not None else ""

    @property
    def is_lost(self) -> bool:
        return self._transport is None or self._transport.error is not None

    def check(self) -> None:
        """Raises ReconnectError when the connection is lost."""
        if self.is_lost:
            raise self._error()

    def send(self, data: bytes) -> None:
        """Encoded frames. Raises ReconnectError."""
        self.check()
        assert self._transport is not None
        self._transport.send(data)

    def lose(self, error: ReconnectError) -> None:
        if self._transport is not None:
            self._transport.lose(error)

    def pause(self, paused: bool) -> None:
        """Whether to stop reading from the broker for a while."""
        assert self._transport is not None
        (self._transport.paused.set if paused else self._transport.paused.clear)()

    def subscribe(self, destination: str, id_: str, headers: dict[str, str]) -> None:
        """Returns when the broker has confirmed the subscription. Raises ReconnectError."""
        receipt = f"subscribe-{id_}"
        self._awaited[receipt] = False
        self._stomp.subscribe(destination, id_, ack="client-individual", headers={**headers, "receipt": receipt})
        self.wait_for_receipt(receipt, "SUBSCRIBE", self._endpoint.receipt_timeout_ms / 1000)

    def unsubscribe(self, id_: str, headers: Mapping[str, str] = MappingProxyType({})) -> None:
        """Returns when the broker has confirmed. Raises ReconnectError."""
        receipt = f"unsubscribe-{id_}"
        self._awaited[receipt] = False
        self._stomp.unsubscribe(id_, headers={**headers, "receipt": receipt})
        self.wait_for_receipt(receipt, "UNSUBSCRIBE", self._endpoint.receipt_timeout_ms / 1000)

    def wait_for_receipt(self, receipt: str, of: str, timeout_secs: float) -> None:
        assert self._transport is not None
        transport = self._transport
        with self._changed:
            self._changed.wait_for(lambda: self._awaited[receipt] or transport.error is not None, timeout_secs)
            arrived = self._awaited.pop(receipt)
        if transport.error is not None:
            raise transport.error
        if not arrived:
            raise transport.lose(
                ReconnectError(
                    "STO-RECEIPT-TIMEOUT", f"no receipt for {of} within {timeout_secs:g} s", path=self.address
                )
            )

    def close(self) -> None:
        """Say goodbye, wait a little for the answer (what was sent before is then known to the broker), end."""
        transport = self._transport
        if transport is None:
            return
        if self._opened and transport.error is None:
            transport.paused.clear()
            try:
                self._awaited["goodbye"] = False
                self._stomp.set_receipt("goodbye", None)
                transport.transmit(stomp.utils.Frame("DISCONNECT", {"receipt": "goodbye"}))
                self.wait_for_receipt("goodbye", "DISCONNECT", GOODBYE_SECS)
            except ReconnectError:
                pass
        transport.close()

    def _error(self) -> ReconnectError:
        lost = None if self._transport is None else self._transport.error
        return lost or ReconnectError("STO-CLOSED", "not connected")

    # Called by stomp.py and the transport, on the connection's thread

    def on_connected(self, frame: Any) -> None:
        with self._changed:
            self._connected = frame.headers
            self._changed.notify_all()

    def on_receipt(self, frame: Any) -> None:
        receipt = frame.headers["receipt-id"]
        if receipt in self._awaited:
            with self._changed:
                self._awaited[receipt] = True
                self._changed.notify_all()
        else:
            self._on_receipt(receipt)

    def on_error(self, frame: Any) -> None:
        assert self._transport is not None
        self._transport.lose(broker_error(frame.source, self.address, connecting=self._connected is None))

    def _lost(self, error: ReconnectError) -> None:
        with self._changed:
            self._changed.notify_all()
        if self._opened:
            self._on_lost(error)


def _host_and_port(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit():
        raise StopError(
            "STO-HOST", f"{text!r} is not host:port", hint="for example broker.example:61613, or [::1]:61613"
        )
    return host.removeprefix("[").removesuffix("]"), int(port)


def _heart_beats(text: str) -> tuple[int, int]:
    sent, _, wanted = text.replace(" ", "").partition(",")
    return (int(sent), int(wanted)) if sent.isdigit() and wanted.isdigit() else (0, 0)


def _tls_context(tls: StompTls) -> ssl.SSLContext:
    """Raises StopError when a file cannot be used."""
    password = None if tls.key_password is None else tls.key_password.get_secret_value()
    try:
        context = ssl.create_default_context(cafile=tls.ca_file)
        if tls.certificate_file is not None:
            context.load_cert_chain(tls.certificate_file, tls.key_file, password)
    except OSError as error:
        raise StopError(
            "STO-TLS-FILE",
            f"a certificate or key cannot be used: {error.strerror or error}",
            hint="check the files in `tls`",
        ) from None
    context.check_hostname = tls.check_host_name
    return context
