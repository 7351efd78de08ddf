"""STOMP to real brokers: ActiveMQ Classic, ActiveMQ Artemis and RabbitMQ, one process of each, killed and restarted."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from adapters.stomp.settings import StompEndpoint
from adapters.stomp.source import StompSource
from tests.contract.wires.base import Wire
from tests.contract.wires.stomp import StompWire
from tests.parts.broker_part import BrokerPart
from tests.parts.rabbitmq import RabbitMQ


class BrokerWire(StompWire):
    def __init__(self, broker: BrokerPart) -> None:
        super().__init__(endpoint(broker), f"contract.{uuid.uuid4().hex[:8]}")
        self._broker = broker

    def stop_peer(self) -> None:
        self._broker.kill()

    def start_peer(self) -> None:
        self._broker.start()


class RabbitMQWire(BrokerWire):
    """Its queues are there, and on disk, before it is killed: what RabbitMQ does with new ones is its own affair."""

    def __init__(self, broker: RabbitMQ) -> None:
        super().__init__(broker)
        self._rabbitmq = broker
        for channel in (self._in, self._out):
            source = StompSource(self.endpoint, channel)
            source.connect()
            source.close()

    def stop_peer(self) -> None:
        for channel in (self._in, self._out):
            self._rabbitmq.wait_until_written(channel.destination.removeprefix("queue://"))
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
