"""Real brokers that refuse a login, or stop without a word. (That they are killed: test_killed_brokers.py.)"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from adapters.base import ReconnectError
from adapters.stomp.settings import StompChannel
from adapters.stomp.sink import StompSink
from adapters.stomp.source import StompSource
from tests.contract.wires.stomp_brokers import endpoint
from tests.parts.broker import Broker

CHANNEL = StompChannel(endpoint="broker", destination="queue://chaos")
PATIENCE_SECS = 60.0


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("kind", ["activemq", "artemis"])
def test_a_changed_password_is_told_and_mended(start_broker: Callable[..., Broker], kind: str) -> None:
    broker = start_broker(kind)
    ours = endpoint(broker)
    broker.set_password("another")
    sink = StompSink(ours, CHANNEL)
    with pytest.raises(ReconnectError) as caught:
        sink.connect()
    assert caught.value.code == "STO-LOGIN"
    assert "open-sesame" not in str(caught.value)
    broker.set_password("open-sesame")
    wait_until(lambda: connects(sink))
    sink.close()


def connects(sink: StompSink) -> bool:
    try:
        sink.connect()
    except ReconnectError as error:
        assert error.code == "STO-LOGIN"  # noqa: PT017 - tried until the broker has read its new file
        return False
    return True


@pytest.mark.parametrize("kind", ["activemq", "artemis"])
def test_a_frozen_broker_is_noticed(start_broker: Callable[..., Broker], kind: str) -> None:
    broker = start_broker(kind)
    source = StompSource(endpoint(broker, heartbeat_ms=500), CHANNEL)
    source.connect()
    try:
        broker.freeze()
        with pytest.raises(ReconnectError) as caught:
            receive_until_it_fails(source)
        assert caught.value.code == "STO-SILENT"
    finally:
        broker.thaw()
        source.close()


def receive_until_it_fails(source: StompSource) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while time.monotonic() < deadline:
        source.receive(10, 0.5)
