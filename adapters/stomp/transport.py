"""The socket under stomp.py: a transport of our own, in the place that `stomp.transport.BaseTransport` leaves for one.

Why not stomp.py's own (facts measured, see docs/stomp.md): it never sets TCP_NODELAY (transactions of ten: 216 messages a second
instead of thousands); a send can block for ever, and its heart-beats then block with it, so that a stopped broker goes unseen; its
debug log prints the password; and its framing costs five times the CPU of ours.

Here one thread per connection reads and keeps time: it sends heart-beats, sees when the peer's stop, and asks `on_tick` for
overdue receipts. Any thread may write; a write is bounded by `send_timeout_secs` and ends at once when the connection is lost.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from adapters.base import ReconnectError
from adapters.stomp.frames import Frame, FrameError, FrameParser, encode, unescape

# stomp.py looks up the host's own names at import, which takes seconds where there is no name service.
os.environ.setdefault("STOMP_SKIP_HOSTNAME_SCAN", "1")

from stomp.transport import BaseTransport
from stomp.utils import Frame as StompFrame

RECEIVE_BYTES: Final = 256 * 1024
LONGEST_TICK_SECS: Final = 1.0
SHORTEST_TICK_SECS: Final = 0.02
GRACE: Final = 2.0  # a peer is given up after so many of its heart-beat periods


class Transport(BaseTransport):  # type: ignore[misc]
    """One connection, used once. `on_frames` gets MESSAGE frames in bulk; all other frames go to stomp.py's listeners."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        tls: ssl.SSLContext | None,
        vhost: str | None,
        connect_timeout_secs: float,
        send_timeout_secs: float,
        on_frames: Callable[[list[Frame]], None],
        on_tick: Callable[[float], None],
        on_lost: Callable[[ReconnectError], None],
    ) -> None:
        super().__init__(auto_decode=False)
        self.address = f"{host}:{port}"
        self.current_host_and_port = (host, port)
        self.vhost = vhost
        self.paused = threading.Event()  # set: nothing is read, and the peer feels it
        self._tls = tls
        self._connect_timeout_secs = connect_timeout_secs
        self._send_timeout_secs = send_timeout_secs
        self._on_frames = on_frames
        self._on_tick = on_tick
        self._on_lost = on_lost
        self._parser = FrameParser()
        self._socket: socket.socket | None = None
        # Lock order: _writing, then _io. _io is never held while waiting: OpenSSL wants reads and writes one at a time.
        self._writing = threading.Lock()
        self._io = threading.Lock()
        self._losing = threading.Lock()
        self._lost: ReconnectError | None = None
        self._closing = False
        self._sent_at = self._heard_at = time.monotonic()
        self._send_every_secs = 0.0
        self._hear_every_secs = 0.0
        self.tick_secs = LONGEST_TICK_SECS

    # What stomp.py asks of a transport

    def start(self) -> None:
        self.attempt_connection()
        self.running = True
        self.io_thread = threading.Thread(target=self._run, name=f"stomp-{self.address}", daemon=True)
        self.io_thread.start()

    def attempt_connection(self) -> None:
        """Raises ReconnectError."""
        host, port = self.current_host_and_port
        try:
            plain = socket.create_connection((host, port), self._connect_timeout_secs)
        except OSError as error:
            raise ReconnectError(
                "STO-UNREACHABLE", f"cannot connect: {_reason(error)}", path=self.address, hint="is the broker running?"
            ) from None
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            self._socket = plain if self._tls is None else self._tls.wrap_socket(plain, server_hostname=host)
        except (OSError, ValueError) as error:
            plain.close()
            raise ReconnectError(
                "STO-TLS",
                f"no TLS connection: {_reason(error)}",
                path=self.address,
                hint="check `tls`, and the certificates",
            ) from None
        self._socket.setblocking(False)

    def transmit(self, frame: Any) -> None:
        """A control frame of stomp.py's protocol layer. Its values are escaped already, except in the connect frame."""
        connecting = frame.cmd in ("CONNECT", "STOMP")
        headers = [(name, str(value)) for name, value in frame.headers.items() if value is not None]
        if not connecting:
            headers = [(name, unescape(value)) for name, value in headers]
        try:
            self.send(encode(frame.cmd, headers))
        except FrameError as error:
            raise ReconnectError("STO-FRAME", str(error), path=self.address) from None

    def send(self, encoded_frame: bytes) -> None:
        """All of it, in one piece towards other senders. Raises ReconnectError; the connection is lost then."""
        with self._writing:
            self._write(encoded_frame)

    def is_connected(self) -> bool:
        return self._lost is None and bool(self.connected)

    def disconnect_socket(self) -> None:
        """stomp.py calls this when the receipt of DISCONNECT is there."""
        self._closing = True

    # Our own

    @property
    def error(self) -> ReconnectError | None:
        return self._lost

    def set_heart_beats(self, send_every_secs: float, hear_every_secs: float) -> None:
        self._send_every_secs = send_every_secs
        self._hear_every_secs = hear_every_secs
        self.set_shortest_wait(min(s for s in (send_every_secs, hear_every_secs, LONGEST_TICK_SECS * 3) if s))

    def set_shortest_wait(self, secs: float) -> None:
        """Somebody wants to be told in time of something that takes `secs`."""
        self.tick_secs = max(SHORTEST_TICK_SECS, min(self.tick_secs, secs / 3))

    def lose(self, error: ReconnectError) -> ReconnectError:
        """The connection is of no use any more. The first error counts, and is told once."""
        with self._losing:
            if self._lost is not None:
                return self._lost
            self._lost = error
        self.running = False
        self.set_connected(False)
        if self._socket is not None:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)  # wakes the reader and a blocked sender
        self._on_lost(error)
        return error

    def close(self) -> None:
        """End the thread and the socket."""
        self.lose(ReconnectError("STO-CLOSED", "the connection was closed", path=self.address))
        if self.io_thread is not None and self.io_thread is not threading.current_thread():
            self.io_thread.join(5.0)
        if self._socket is not None:
            self._socket.close()

    def _write(self, data: bytes) -> None:
        """With `_writing` held."""
        deadline = time.monotonic() + self._send_timeout_secs
        view = memoryview(data)
        while view:
            if self._lost is not None or self._socket is None:
                raise self._lost or ReconnectError("STO-CLOSED", "not connected", path=self.address)
            try:
                with self._io:
                    view = view[self._socket.send(view) :]
            except (BlockingIOError, ssl.SSLWantWriteError):
                self._wait_writable(select.POLLOUT, deadline)
            except ssl.SSLWantReadError:
                self._wait_writable(select.POLLIN, deadline)
            except OSError as error:
                raise self._broken(error) from None
        self._sent_at = time.monotonic()

    def _wait_writable(self, events: int, deadline: float) -> None:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise self.lose(
                ReconnectError(
                    "STO-SEND-TIMEOUT",
                    f"the broker took nothing for {self._send_timeout_secs:g} s",
                    path=self.address,
                    hint="it is stopped, overloaded, or holds producers back because it is full",
                )
            )
        assert self._socket is not None
        poller = select.poll()
        poller.register(self._socket, events)
        poller.poll(min(remaining, 0.25) * 1000)

    def _run(self) -> None:
        """The thread of this connection."""
        assert self._socket is not None
        poller = select.poll()
        poller.register(self._socket, select.POLLIN)
        try:
            while self._lost is None and not self._closing:
                if self.paused.is_set():
                    self._heard_at = time.monotonic()  # deaf by choice
                    time.sleep(SHORTEST_TICK_SECS)
                elif poller.poll(self.tick_secs * 1000):
                    self._read()
                self._keep_time()
        except ReconnectError as error:
            self.lose(error)
        except FrameError as error:
            self.lose(
                ReconnectError(
                    "STO-PROTOCOL",
                    f"the broker sent what is no STOMP 1.2: {error}",
                    path=self.address,
                    hint="is it a STOMP port?",
                )
            )
        except OSError as error:
            self._broken(error)
        except Exception as bug:  # noqa: BLE001 - whoever waits for this thread must be told
            self.lose(
                ReconnectError(
                    "STO-BUG", f"unexpected {type(bug).__name__}: {bug}", path=self.address, hint="please report this"
                )
            )

    def _read(self) -> None:
        assert self._socket is not None
        while True:  # TLS may hold more than poll() knows of
            try:
                with self._io:
                    data = self._socket.recv(RECEIVE_BYTES)
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return
            if not data:
                raise ReconnectError(
                    "STO-CUT", "the broker closed the connection", path=self.address, hint="see the broker's log"
                )
            self._heard_at = time.monotonic()
            messages = []
            for frame in self._parser.feed(data):
                if frame.head.startswith(b"MESSAGE\n"):
                    messages.append(frame)
                    continue
                if messages:  # the order of frames is kept
                    self._on_frames(messages)
                    messages = []
                self._control(frame)
            if messages:
                self._on_frames(messages)
            if self._tls is None:
                return

    def _control(self, frame: Frame) -> None:
        command = frame.command.decode("ascii", "replace")
        if command not in ("CONNECTED", "RECEIPT", "ERROR"):
            raise FrameError(f"a broker does not send {command[:40]!r}")
        stomp_frame = StompFrame(command, frame.headers, frame.body)
        stomp_frame.source = frame
        if command == "RECEIPT" and "receipt-id" not in frame.headers:
            raise FrameError("a RECEIPT without receipt-id")
        self.notify(command.lower(), stomp_frame)

    def _keep_time(self) -> None:
        now = time.monotonic()
        if self._send_every_secs and now - self._sent_at >= self._send_every_secs / 2:
            self._heart_beat()
        if self._hear_every_secs and now - self._heard_at > self._hear_every_secs * GRACE:
            raise ReconnectError(
                "STO-SILENT",
                f"no heart-beat for {now - self._heard_at:.1f} s",
                path=self.address,
                hint="the broker hangs or is cut off",
            )
        self._on_tick(now)

    def _heart_beat(self) -> None:
        """Never waits: neither for a sender at work nor for a peer whose buffers are full, for both have enough to read."""
        assert self._socket is not None
        if not self._writing.acquire(blocking=False):
            return
        try:
            with self._io:
                self._socket.send(b"\n")
            self._sent_at = time.monotonic()
        except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
            pass
        finally:
            self._writing.release()

    def _broken(self, error: OSError) -> ReconnectError:
        return self.lose(
            ReconnectError(
                "STO-CUT", f"the connection broke: {_reason(error)}", path=self.address, hint="see the broker's log"
            )
        )


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
