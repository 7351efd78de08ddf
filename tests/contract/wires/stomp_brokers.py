"""STOMP to real brokers: ActiveMQ Classic and ActiveMQ Artemis, one process of each for the whole run, killed and restarted."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from adapters.stomp.settings import StompEndpoint
from tests.contract.wires.base import Wire
from tests.contract.wires.stomp import StompWire
from tests.parts.broker import Broker


class BrokerWire(StompWire):
    def __init__(self, broker: Broker) -> None:
        super().__init__(endpoint(broker), f"contract.{uuid.uuid4().hex[:8]}")
        self._broker = broker

    def stop_peer(self) -> None:
        self._broker.kill()

    def start_peer(self) -> None:
        self._broker.start()


def endpoint(broker: Broker, **settings: object) -> StompEndpoint:
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
    broker: Broker = request.getfixturevalue(kind)
    try:
        yield BrokerWire(broker)
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
