"""A consumer that counts: `python -m tests.bench.service_consumer`.

Prints its references (structured, sequence). Then, for each `wait COUNT` on standard input: "done" when so many more events have
come.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.stubs import CosNotifyComm__POA


class Counter:
    """Written by the one thread that the channel pushes with."""

    def __init__(self) -> None:
        self.count = 0
        self.seen = 0  # by those who waited
        self.goal = 0
        self.reached = threading.Event()

    def add(self, count: int) -> None:
        self.count += count
        if self.goal and self.count >= self.goal:
            self.reached.set()

    def wait(self, count: int) -> None:
        self.goal = self.seen + count
        if self.count < self.goal:
            self.reached.wait()
        self.reached.clear()
        self.seen, self.goal = self.goal, 0


class Structured(CosNotifyComm__POA.StructuredPushConsumer):  # type: ignore[misc]
    def __init__(self, counter: Counter) -> None:
        self._add = counter.add

    def push_structured_event(self, notification: Any) -> None:
        self._add(1)


class Sequence(CosNotifyComm__POA.SequencePushConsumer):  # type: ignore[misc]
    def __init__(self, counter: Counter) -> None:
        self._add = counter.add

    def push_structured_events(self, notifications: Any) -> None:
        self._add(len(notifications))


def main() -> None:
    orb = LocalOrb()
    orb.start()
    counter = Counter()
    print(orb.to_string(orb.activate(Structured(counter), b"structured")), flush=True)
    print(orb.to_string(orb.activate(Sequence(counter), b"sequence")), flush=True)
    for line in sys.stdin:
        counter.wait(int(line.split()[1]))
        print("done", flush=True)
    sys.stdout.flush()
    os._exit(0)  # a thread of the ORB that is on its way out when Python ends would abort the process


if __name__ == "__main__":
    main()
