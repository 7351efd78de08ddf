"""A STOMP client that sends exactly what a test says, and shows exactly what comes back."""

from __future__ import annotations

import contextlib
import socket
from collections import deque
from types import TracebackType

from adapters.stomp.frames import Frame, FrameParser, encode

PATIENCE_SECS = 20.0


class RawClient:
    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), PATIENCE_SECS)
        self._parser = FrameParser()
        self._frames: deque[Frame] = deque()

    def connect(self, **headers: str) -> Frame:
        headers = {"accept-version": "1.2", "host": "x", **headers}
        self.send("CONNECT", **headers)
        return self.next()

    def send(self, command: str, body: bytes = b"", /, **headers: str) -> None:
        """Header names with `_` for `-`."""
        self.socket.sendall(encode(command, [(name.replace("_", "-"), value) for name, value in headers.items()], body))

    def next(self, timeout_secs: float = PATIENCE_SECS) -> Frame:
        """The next frame; fails when none comes or the connection ends."""
        self.socket.settimeout(timeout_secs)
        while not self._frames:
            data = self.socket.recv(65536)
            assert data, "the broker closed the connection"
            self._frames.extend(self._parser.feed(data))
        return self._frames.popleft()

    def receipt(self, receipt_id: str) -> None:
        frame = self.next()
        assert (frame.command, frame.headers["receipt-id"]) == (b"RECEIPT", receipt_id), frame.original

    def message(self) -> Frame:
        frame = self.next()
        assert frame.command == b"MESSAGE", frame.original
        return frame

    def error(self) -> str:
        """The text of an ERROR, behind which the broker must close the connection."""
        frame = self.next()
        assert frame.command == b"ERROR", frame.original
        self.expect_end()
        return frame.headers["message"]

    def expect_end(self) -> None:
        self.socket.settimeout(PATIENCE_SECS)
        with contextlib.suppress(ConnectionResetError):
            assert not self.socket.recv(65536).strip(b"\n")

    def nothing(self, timeout_secs: float = 0.2) -> None:
        try:
            frame = self.next(timeout_secs)
        except TimeoutError:
            return
        raise AssertionError(f"unexpected {frame.original!r}")

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> RawClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
