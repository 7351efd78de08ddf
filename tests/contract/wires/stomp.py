"""STOMP to the embedded broker, run as a process of its own so that it can be killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from adapters.base import Outgoing, Payload, Sink, Source
from adapters.stomp.settings import StompChannel, StompEndpoint
from adapters.stomp.sink import StompSink
from adapters.stomp.source import StompSource
from mappings.model import Message
from tests.contract.wires.base import Wire


class BrokerProcess:
    """`python -m adapters.embedded_broker` on a port that stays the same over restarts."""

    def __init__(self, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        self._arguments = arguments
        self._environment = environment
        self._process: subprocess.Popen[str] | None = None
        self.address = "127.0.0.1:0"

    def start(self) -> None:
        port = self.address.rpartition(":")[2]
        command = [sys.executable, "-m", "adapters.embedded_broker", "--port", port, *self._arguments]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self._environment)
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()
        assert self.address, "the broker did not start"

    def kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate(timeout=20)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid


@contextmanager
def broker_process(*arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[BrokerProcess]:
    process = BrokerProcess(*arguments, environment=environment)
    process.start()
    try:
        yield process
    finally:
        process.kill()


class StompWire(Wire):
    """Any STOMP broker whose address is known; feeding and draining go through a sink and a source of their own."""

    form = "message"

    def __init__(self, endpoint: StompEndpoint, prefix: str = "contract") -> None:
        self.endpoint = endpoint
        self._in = StompChannel(endpoint="broker", destination=f"queue://{prefix}.in")
        self._out = StompChannel(endpoint="broker", destination=f"queue://{prefix}.out")
        self._ids = 0
        self._drained: set[str] = set()

    def make_source(self) -> Source:
        return StompSource(self.endpoint, self._in)

    def make_sink(self) -> Sink:
        return StompSink(self.endpoint, self._out)

    def feed(self, payloads: Sequence[Payload]) -> None:
        sink = StompSink(self.endpoint, self._in)
        sink.connect()
        try:
            self._ids += len(payloads)
            batch = [Outgoing(payload, f"feed-{self._ids}-{n}") for n, payload in enumerate(payloads)]
            assert sink.send(batch).result(20.0) == ()
        finally:
            sink.close()

    def drain(self, count: int, timeout_secs: float = 20.0) -> list[Payload]:
        source = StompSource(self.endpoint, self._out)
        source.connect()
        try:
            got: list[Payload] = []
            while len(got) < count and (deliveries := source.receive(count - len(got), timeout_secs)):
                source.acknowledge(deliveries)
                for delivery in deliveries:
                    assert isinstance(delivery.payload, Message)
                    # Artemis forgets an acknowledgement that it had not synced when it was killed: this one comes again.
                    if delivery.id not in self._drained:
                        self._drained.add(delivery.id)
                        got.append(delivery.payload)
            return got
        finally:
            source.close()


class EmbeddedWire(StompWire):
    def __init__(self, broker: BrokerProcess, *, durable: bool) -> None:
        super().__init__(embedded_endpoint(broker.address))
        self._broker = broker
        self.keeps_over_restart = durable

    def stop_peer(self) -> None:
        self._broker.kill()

    def start_peer(self) -> None:
        self._broker.start()


def embedded_endpoint(address: str, **settings: object) -> StompEndpoint:
    form = {"type": "stomp", "hosts": [address], "broker": "embedded", "heartbeat_ms": 1000, **settings}
    return StompEndpoint.model_validate(form)


@contextmanager
def embedded() -> Iterator[Wire]:
    broker = BrokerProcess()
    broker.start()
    try:
        yield EmbeddedWire(broker, durable=False)
    finally:
        broker.kill()


@contextmanager
def durable() -> Iterator[Wire]:
    with TemporaryDirectory() as folder:
        broker = BrokerProcess("--store", f"{folder}/broker.db")
        broker.start()
        try:
            yield EmbeddedWire(broker, durable=True)
        finally:
            broker.kill()
