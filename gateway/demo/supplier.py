"""Pushes alarms over IIOP to a channel, from a process of its own: `python -m gateway.demo.supplier FACTORY …`.

It ends when it has pushed what it should, on SIGTERM, and when its standard input is closed: it never outlives whoever started it.
"""

from __future__ import annotations

import argparse
import random
import select
import signal
import sys
import time

from adapters.base import Outgoing, ReconnectError
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.sink import CosNotificationSink
from gateway.demo.alarms import alarm

CONFIRM_SECS = 30.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m gateway.demo.supplier")
    parser.add_argument("factory", help="the EventChannelFactory: a reference, or a file that holds one")
    parser.add_argument("--channel", type=int, default=0)
    parser.add_argument("--count", type=int, default=0, help="how many alarms; 0: until it is ended")
    parser.add_argument("--rate", type=float, default=2.0, help="alarms a second")
    parser.add_argument("--seed", type=int, default=814)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C at a terminal reaches us too: whoever started us ends us
    orb = Orb()
    orb.start()
    sink = CosNotificationSink(
        orb,
        CosNotificationEndpoint(type="cosnotification", factory=arguments.factory),
        CosNotificationChannel(endpoint="demo", channel=arguments.channel),
    )
    try:
        _push(sink, arguments.count, arguments.rate, random.Random(arguments.seed))
    finally:
        sink.close()
        orb.stop()
    return 0


def _push(sink: CosNotificationSink, count: int, rate: float, chance: random.Random) -> None:
    connected = False
    told = ""
    number = 1
    while count == 0 or number <= count:
        try:
            if not connected:
                sink.connect()
                connected = True
            event = alarm(number, time.time(), chance)
            sink.send([Outgoing(event, f"demo-{number}")]).result(CONFIRM_SECS)
        except ReconnectError as error:
            if told != (told := str(error)):
                print(f"demo supplier: {error}", file=sys.stderr)
            sink.close()
            connected = False
        else:
            number += 1
            told = ""
        if _told_to_end(max(1.0, 1 / rate) if told else 1 / rate):
            return


def _told_to_end(wait_secs: float) -> bool:
    """Waits for the next alarm's time, or for the end of standard input."""
    readable, _, _ = select.select([sys.stdin], [], [], wait_secs)
    return bool(readable) and not sys.stdin.read(1)


if __name__ == "__main__":
    sys.exit(main())
