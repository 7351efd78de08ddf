from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from adapters.base import Form, Payload, Sink, Source
from adapters.memory.connection import MemoryPeer
from adapters.memory.settings import MemoryChannel
from adapters.memory.sink import MemorySink
from adapters.memory.source import MemorySource
from tests.contract.wires.base import Wire


class MemoryWire(Wire):
    def __init__(self, form: Form) -> None:
        self.form = form
        self.peer = MemoryPeer()
        self._in = MemoryChannel(endpoint="memory", name="in", form=form)
        self._out = MemoryChannel(endpoint="memory", name="out", form=form)

    def make_source(self) -> Source:
        return MemorySource(self.peer, self._in)

    def make_sink(self) -> Sink:
        return MemorySink(self.peer, self._out)

    def feed(self, payloads: Sequence[Payload]) -> None:
        self.peer.put("in", payloads)

    def drain(self, count: int, timeout_secs: float = 20.0) -> list[Payload]:
        deadline = time.monotonic() + timeout_secs
        got: list[Payload] = []
        with self.peer.changed:
            queue = self.peer.queue("out")
            while len(got) < count and (queue or self.peer.changed.wait(deadline - time.monotonic())):
                if queue:
                    got.append(queue.popleft().payload)
        return got

    def stop_peer(self) -> None:
        self.peer.stop()

    def start_peer(self) -> None:
        self.peer.start()


@contextmanager
def events() -> Iterator[Wire]:
    yield MemoryWire("event")


@contextmanager
def messages() -> Iterator[Wire]:
    yield MemoryWire("message")
