"""`python -m adapters.jms.worker FD [IDLE_SECS]` waits for its parent's frames on the socket FD.

It starts a JVM once, and then opens, serves and closes one connection after the other.

Ends when the socket closes, whatever it is doing, and when it was idle for long.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import Final

from adapters.jms.frames import Frame
from adapters.jms.worker.inbox import Inbox
from adapters.jms.worker.java_errors import describe

IDLE_SECS: Final = 60.0


def main() -> None:
    descriptor, idle_secs = int(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else IDLE_SECS
    inbox = Inbox(socket.socket(fileno=descriptor))
    while (frame := inbox.get(idle_secs)) is not None:
        match frame[0]:
            case "start":
                _start(inbox, frame)
            case "ping":
                inbox.tell(("pong",))
            case "open":
                _serve(inbox, frame)
            case "close":  # there is no connection any more
                inbox.tell(("closed",))
    os._exit(0)  # a provider's client may have left threads behind that would keep the JVM


def _start(inbox: Inbox, frame: Frame) -> None:
    try:
        from adapters.jms.worker.jvm import start

        inbox.tell(("started", start(*frame[1:])))
    except BaseException as trouble:  # noqa: BLE001 - whatever it is, the parent must know
        inbox.tell(("failed", describe(trouble, "start")))


def _serve(inbox: Inbox, frame: Frame) -> None:
    from adapters.jms.worker.provider import Provider
    from adapters.jms.worker.serve_sink import serve_sink
    from adapters.jms.worker.serve_source import serve_source

    role, parameters = frame[1:]
    provider = Provider(parameters, inbox)
    try:
        if role == "source":
            asked = serve_source(provider, parameters, inbox)
        else:
            asked = serve_sink(provider, inbox)
    except BaseException as trouble:  # noqa: BLE001 - whatever it is, the parent must know
        inbox.tell(("failed", describe(trouble, provider.phase, provider.hidden), None))
        provider.close()
    else:
        provider.close()
        if asked:
            inbox.tell(("closed",))


if __name__ == "__main__":
    main()
