"""A topic without a durable subscription forgets what a consumer that leaves had not acknowledged: the journal keeps it."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.base import Outgoing
from adapters.embedded_broker.broker import Broker
from adapters.jms import settings as jms
from adapters.mq import settings as mq
from adapters.stomp import settings as stomp
from adapters.stomp.sink import StompSink
from gateway.appliance.appliance import Appliance
from gateway.settings.settings import Settings
from gateway.settings.wires import capabilities_of
from mappings.model import Body, Message
from tests.unit.appliance.test_appliance import QUICK, Listener, balance, running
from tests.unit.links.rig import wait_for


def settings(tmp_path: Path, address: str) -> Settings:
    return Settings.model_validate(
        {
            "name": "gw",
            "run_dir": str(tmp_path / "run"),
            "endpoints": {
                "broker": {"type": "stomp", "hosts": [address], "broker": "embedded", **QUICK},
                "out": {"type": "memory", **QUICK},
            },
            "channels": {
                "news": {"endpoint": "broker", "destination": "topic://news"},
                "kept": {"endpoint": "out", "name": "kept", "form": "message"},
            },
            "links": {"main": {"from": "news", "to": "kept"}},
        }
    )


def test_what_a_topic_has_handed_over_outlives_the_gateway(tmp_path: Path) -> None:
    broker = Broker("127.0.0.1", 0)
    address = broker.start()
    try:
        configured = settings(tmp_path, address)
        first = Appliance(configured, Listener(), drain_secs=0.1)
        first.wiring.memory_peer("out").stop()
        first.start()
        wait_for(lambda: first.statuses()[0].source == "ready")
        sink = StompSink(configured.endpoints["broker"], configured.channels["news"])  # type: ignore[arg-type]
        sink.connect()
        messages = [Message(body=Body("TextMessage", str(n))) for n in range(50)]
        sink.send([Outgoing(message, str(n)) for n, message in enumerate(messages)]).result(20)
        sink.close()
        wait_for(lambda: balance(first, "main").pending == 50)
        first.stop()
        with running(Appliance(configured, Listener())) as second:
            wait_for(lambda: balance(second, "main").delivered == 50)
            kept = second.wiring.memory_peer("out").contents("kept")
            assert [message.body.value for message in kept if isinstance(message, Message)] == [
                str(n) for n in range(50)
            ]
    finally:
        broker.stop()


TOPIC, QUEUE = "topic://t", "queue://q"


@pytest.mark.parametrize(
    ("channel", "keeps"),
    [
        (stomp.StompChannel(endpoint="e", destination=TOPIC), False),
        (stomp.StompChannel(endpoint="e", destination=TOPIC, subscription="s"), True),
        (stomp.StompChannel(endpoint="e", destination=QUEUE), True),
        (jms.JmsChannel(endpoint="e", destination=TOPIC), False),
        (jms.JmsChannel(endpoint="e", destination=TOPIC, subscription="s"), True),
        (jms.JmsChannel(endpoint="e", destination=QUEUE), True),
        (mq.MqChannel(endpoint="e", topic="t"), False),
        (mq.MqChannel(endpoint="e", topic="t", subscription="s"), True),
        (mq.MqChannel(endpoint="e", queue="Q"), True),
    ],
    ids=str,
)
def test_queues_and_durable_subscriptions_keep(channel: object, keeps: bool) -> None:
    assert capabilities_of(channel).keeps is keeps  # type: ignore[arg-type]
