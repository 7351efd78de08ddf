"""JMS to real brokers through their own client jars: ActiveMQ Classic and ActiveMQ Artemis, killed and restarted."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from adapters.base import Outgoing, Payload, Sink, Source
from adapters.jms.settings import JmsChannel, JmsEndpoint
from adapters.jms.sink import JmsSink
from adapters.jms.source import JmsSource
from mappings.model import Message
from tests.contract.wires.base import Wire
from tests.parts import activemq as activemq_part
from tests.parts import artemis as artemis_part
from tests.parts.broker import Broker
from tests.parts.jms_client import FACTORIES

JARS = {"activemq": activemq_part.client_jars, "artemis": artemis_part.client_jars}
JVM = ["-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx128m"]  # starts faster


class JmsWire(Wire):
    """Feeding and draining go through a sink and a source of their own; their workers wait in the pool between two uses."""

    form = "message"

    def __init__(self, broker: Broker) -> None:
        prefix = f"contract.{uuid.uuid4().hex[:8]}"
        self._broker = broker
        self.endpoint = endpoint(broker)
        self._in = JmsChannel(endpoint="broker", destination=f"queue://{prefix}.in")
        self._out = JmsChannel(endpoint="broker", destination=f"queue://{prefix}.out")
        self._drained: set[str] = set()

    def make_source(self) -> Source:
        return JmsSource(self.endpoint, self._in)

    def make_sink(self) -> Sink:
        return JmsSink(self.endpoint, self._out)

    def feed(self, payloads: Sequence[Payload]) -> None:
        sink = JmsSink(self.endpoint, self._in)
        sink.connect()
        try:
            batch = [Outgoing(payload, f"feed-{uuid.uuid4()}") for payload in payloads]  # Artemis keeps no id twice
            assert sink.send(batch).result(20.0) == ()
        finally:
            sink.close()

    def drain(self, count: int, timeout_secs: float = 20.0) -> list[Payload]:
        source = JmsSource(self.endpoint, self._out)
        source.connect()
        try:
            got: list[Payload] = []
            while len(got) < count and (deliveries := source.receive(count - len(got), timeout_secs)):
                source.acknowledge(deliveries)
                for delivery in deliveries:
                    assert isinstance(delivery.payload, Message)
                    if delivery.id not in self._drained:
                        self._drained.add(delivery.id)
                        got.append(delivery.payload)
            return got
        finally:
            source.close()

    def stop_peer(self) -> None:
        self._broker.kill()

    def start_peer(self) -> None:
        self._broker.start()


def endpoint(broker: Broker, **settings: object) -> JmsEndpoint:
    form = {
        "type": "jms",
        "classpath": [str(jar) for jar in JARS[broker.kind]()],
        "factory": FACTORIES[broker.kind],
        "url": broker.jms_url,
        "login": broker.login,
        "password": broker.password,
        "jvm_options": JVM,
        **settings,
    }
    return JmsEndpoint.model_validate(form, strict=False)


@contextmanager
def _wire(request: pytest.FixtureRequest, kind: str) -> Iterator[Wire]:
    broker: Broker = request.getfixturevalue(kind)
    try:
        yield JmsWire(broker)
    finally:
        if not broker.running:
            broker.start()


@contextmanager
def activemq(request: pytest.FixtureRequest) -> Iterator[Wire]:
    with _wire(request, "activemq") as wire:
        yield wire


@contextmanager
def artemis(request: pytest.FixtureRequest) -> Iterator[Wire]:
    with _wire(request, "artemis") as wire:
        yield wire
