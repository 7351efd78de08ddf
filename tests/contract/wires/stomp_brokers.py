"""STOMP to real brokers: ActiveMQ Classic, ActiveMQ Artemis and RabbitMQ, one process of each, killed and restarted."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from adapters.stomp.settings import StompEndpoint
from adapters.stomp.source import StompSource
from tests.contract.wires.base import Wire
from tests.contract.wires.stomp import StompWire
from tests.parts.broker_part import BrokerPart
from tests.parts.rabbitmq import SETTLING_SECS, RabbitMQ


class BrokerWire(StompWire):
    def __init__(self, broker: BrokerPart) -> None:
        super().__init__(endpoint(broker), f"contract.{uuid.uuid4().hex[:8]}")
        self._broker = broker

    def stop_peer(self) -> None:
        self._broker.kill()

    def start_peer(self) -> None:
        self._broker.start()


class RabbitMQWire(BrokerWire):
    """It is not killed before its queues have settled: see tests/parts/rabbitmq.py."""

    def __init__(self, broker: RabbitMQ) -> None:
        super().__init__(broker)
        for channel in (self._in, self._out):
            source = StompSource(self.endpoint, channel)
            source.connect()
            source.close()
        self._settled_at = time.monotonic() + SETTLING_SECS

    def stop_peer(self) -> None:
        time.sleep(max(0.0, self._settled_at - time.monotonic()))
        super().stop_peer()


def endpoint(broker: BrokerPart, **settings: object) -> StompEndpoint:
    form = {
        "type": "stomp",
        "hosts": [f"{broker.host}:{broker.stomp_port}"],
        "broker": broker.kind,
        "login": broker.login,
        "password": broker.password,
        "heartbeat_ms": 2000,
        **settings,
    }
    return StompEndpoint.model_validate(form, strict=False)


@contextmanager
def _wire(request: pytest.FixtureRequest, kind: str) -> Iterator[Wire]:
    broker: BrokerPart = request.getfixturevalue(kind)
    try:
        yield RabbitMQWire(broker) if isinstance(broker, RabbitMQ) else BrokerWire(broker)
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


@contextmanager
def rabbitmq(request: pytest.FixtureRequest) -> Iterator[Wire]:
    with _wire(request, "rabbitmq") as wire:
        yield wire
