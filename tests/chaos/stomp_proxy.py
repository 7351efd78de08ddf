"""A TCP proxy that stands between our client and a real broker, and hurts the way."""

from __future__ import annotations

import contextlib
import select
import socket
import threading


class Proxy:
    """Passes bytes both ways until told otherwise: `freeze` (both ends stay open, nothing passes), `slow`, `cut`, `inject`."""

    def __init__(self, upstream: str | None) -> None:
        """`upstream` is host:port; None: connections are accepted and never answered."""
        self._upstream = upstream
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._pairs: list[tuple[socket.socket, socket.socket | None]] = []
        self._lock = threading.Lock()
        self._allowance: int | None = None
        self._frozen = threading.Event()
        self._piece_bytes, self._pause_secs = 65536, 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)
        self._thread.start()

    def freeze(self) -> None:
        self._frozen.set()

    def thaw(self) -> None:
        self._frozen.clear()

    def slow(self, piece_bytes: int, pause_secs: float) -> None:
        """A pause before each small piece."""
        self._piece_bytes, self._pause_secs = piece_bytes, pause_secs

    def cut(self) -> None:
        """Every connection ends, hard."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                if end is not None:
                    with contextlib.suppress(OSError):  # the other thread may have closed it by now
                        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                    end.close()

    def cut_after(self, size: int) -> None:
        """So many bytes still pass, in either direction; then every connection ends, in the middle of whatever is on its way."""
        self._allowance = size

    @property
    def cutting(self) -> bool:
        """The cut that was asked for has not come yet."""
        return self._allowance is not None

    def inject(self, data: bytes) -> None:
        """To every client, as if the broker had sent it."""
        with self._lock:
            for client, _ in self._pairs:
                with contextlib.suppress(OSError):  # it may have had enough
                    client.sendall(data)

    @property
    def connections(self) -> int:
        with self._lock:
            return len(self._pairs)

    def close(self) -> None:
        self._ended.set()
        self._thread.join(10)
        self._listener.close()
        self.cut()

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        while not self._ended.is_set():
            if self._frozen.is_set():
                self._ended.wait(0.02)
                continue
            with self._lock:
                peers = {a: b for pair in self._pairs for a, b in (pair, pair[::-1]) if a is not None}
            try:
                ready, _, _ = select.select([self._listener, *peers], [], [], 0.02)
            except (OSError, ValueError):  # cut meanwhile
                continue
            for end in ready:
                if end is self._listener:
                    self._accept()
                else:
                    self._pass(end, peers[end])

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        upstream = None
        if self._upstream is not None:
            host, _, port = self._upstream.rpartition(":")
            try:
                upstream = socket.create_connection((host, int(port)), 5)
            except OSError:
                client.close()
                return
        with self._lock:
            self._pairs.append((client, upstream))

    def _pass(self, end: socket.socket, other: socket.socket | None) -> None:
        data = b""
        with contextlib.suppress(OSError):
            data = end.recv(self._piece_bytes)
        self._ended.wait(self._pause_secs)
        cutting = self._allowance is not None and len(data) >= self._allowance
        if self._allowance is not None:
            data, self._allowance = data[: self._allowance], None if cutting else self._allowance - len(data)
        if data and other is not None:
            with contextlib.suppress(OSError):
                other.sendall(data)
            if cutting:
                self.cut()
        elif not data:
            with self._lock:
                self._pairs = [pair for pair in self._pairs if end not in pair]
            for each in (end, other):
                if each is not None:
                    each.close()
