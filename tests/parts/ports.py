"""Ports chosen by the system that stay ours while nobody listens on them.

A port that is merely found free and let go may be gone a moment later: another server gets it, or, worse, an outgoing connection
does, and one that tries a dead local server over and over may one day be connected to itself. So the port stays bound by a socket
that never listens. Linux lets a second socket bind and listen beside it as long as both have SO_REUSEADDR (Java, omniORB and
asyncio set it), gives the port to nobody who asks for "any", and refuses connections to it while no server is up.
"""

from __future__ import annotations

import socket

LOOPBACK = "127.0.0.1"


class ReservedPort:
    """`number` is free for one server of ours, now and when it starts again, until close()."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind((LOOPBACK, 0))
        self.number: int = self._socket.getsockname()[1]

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> ReservedPort:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
