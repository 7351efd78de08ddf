"""The broker as a process of its own: `python -m adapters.embedded_broker [--port N]`. Prints its address, ends on SIGTERM."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from pathlib import Path

from adapters.embedded_broker.broker import Broker


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m adapters.embedded_broker", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0: chosen by the system")
    parser.add_argument("--login", help="the password is taken from the environment: BROKER_PASSWORD")
    parser.add_argument("--heartbeat-ms", type=int, default=10_000)
    parser.add_argument("--store", type=Path, help="file that keeps persistent messages over a restart")
    arguments = parser.parse_args()
    broker = Broker(
        arguments.host,
        arguments.port,
        arguments.login,
        os.environ.get("BROKER_PASSWORD"),
        heartbeat_ms=arguments.heartbeat_ms,
        store=arguments.store,
    )
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    sys.stdout.write(broker.start() + "\n")
    sys.stdout.flush()
    ended.wait()
    broker.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
