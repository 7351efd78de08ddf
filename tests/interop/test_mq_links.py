"""Whole links over MQ (the stand-in): events that went through a queue are equal at the far end, and a gateway that is run by its
configuration alone takes messages from a broker to a queue and back."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from adapters.base import Outgoing
from adapters.memory.connection import MemoryPeer
from adapters.memory.settings import MemoryChannel
from adapters.memory.sink import MemorySink
from adapters.memory.source import MemorySource
from adapters.mq.sink import MqSink
from adapters.mq.source import MqSource
from adapters.mq.standin.store import Store
from adapters.stomp.settings import StompChannel
from adapters.stomp.sink import StompSink
from adapters.stomp.source import StompSource
from gateway.links.link import Link, Pace
from gateway.links.translation import Translation, compile_step
from mappings.event_forms import to_structured
from mappings.forms.events import event_from_json
from mappings.model import Body, Headers, Message, MessageProperty, StructuredEvent
from mappings.translate import Options
from tests.contract.wires.mq import channel_of, endpoint_of, stand_in
from tests.contract.wires.stomp import embedded_endpoint
from tests.parts.gateway import Gateway
from tests.parts.supplier import Supplier
from tests.unit.links.rig import QUICK, Recorder

PATIENCE_SECS = 40.0
EVENTS = Path(__file__).parents[1] / "golden" / "data" / "events.jsonl"
PACE = Pace(source_back_off=QUICK, sink_back_off=QUICK, retry=QUICK)


def events() -> list[StructuredEvent]:
    lines = EVENTS.read_text(encoding="utf-8").splitlines()
    return [to_structured(event_from_json(json.loads(line))) for line in lines]


def wait_for(condition: Callable[[], bool], excuse: Callable[[], object] = lambda: "") -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline, excuse()
        time.sleep(0.02)


@pytest.mark.parametrize("profile", ["mq", "borland"])
def test_events_that_went_through_a_queue_are_the_same(profile: Any) -> None:
    """borland writes names that no MQRFH2 can hold: they are spelt otherwise there, and come back as they were."""
    options = Options(profile=profile)
    inlet, outlet = MemoryPeer(), MemoryPeer()
    memory = MemoryChannel(endpoint="m", name="c")
    letters = Recorder()
    sent = events()
    with stand_in() as manager:
        manager.define("OUT", fifo=True)  # else events overtake by priority
        endpoint = endpoint_of(manager)
        links = [
            Link(
                "there", MemorySource(inlet, memory), MqSink(endpoint, channel_of("OUT")),
                compile_step(Translation("event", "message", options)), letters, letters, PACE,
            ),
            Link(
                "back", MqSource(endpoint, channel_of("OUT")), MemorySink(outlet, memory),
                compile_step(Translation("message", "event", options)), letters, letters, PACE,
            ),
        ]  # fmt: skip
        for link in links:
            link.start()
        inlet.put("c", sent)
        wait_for(
            lambda: len(outlet.contents("c")) + len(letters.letters) >= len(sent),
            lambda: (letters.letters, [link.status() for link in links]),
        )
        for link in links:
            link.stop()
            assert link.join(PATIENCE_SECS)
            assert link.balance().holds
    assert letters.letters == []
    came = outlet.contents("c")
    assert [repr(without_times(event)) for event in came] == [repr(without_times(event)) for event in sent]


def without_times(event: object) -> StructuredEvent:
    """A Timeout is shorter at the far end, by the time that the way has taken."""
    assert isinstance(event, StructuredEvent)
    kept = tuple(p for p in event.variable_header if p.name not in ("Timeout", "StopTime"))
    return StructuredEvent(
        event.domain_name, event.type_name, event.event_name, kept, event.filterable_data, event.remainder_of_body
    )


def test_a_gateway_run_by_its_configuration(tmp_path: Path) -> None:
    """From a broker to a queue to the broker: every type of property and body, as it was but for what STOMP loses."""
    config = {
        "services": {"broker": {"listen": "127.0.0.1:0"}},
        "endpoints": {"qm": {"type": "mq", "queue_manager": "QM1", "stand_in": {"queues": ["ORDERS"]}}},
        "channels": {"q": {"endpoint": "qm", "queue": "ORDERS"}},
    }
    with Gateway(tmp_path, config) as gateway:
        address = gateway.wait_for_log(event="service changed", service="broker", state="ready")["address"]
        broker = {"type": "stomp", "hosts": [address], "broker": "embedded"}
        gateway.configure({
            "services": {"broker": {"listen": address}},
            "endpoints": {**config["endpoints"], "b": broker},
            "channels": {
                **config["channels"],
                "in": {"endpoint": "b", "destination": "queue://in"},
                "out": {"endpoint": "b", "destination": "queue://out"},
            },
            "links": {"there": {"from": "in", "to": "q"}, "back": {"from": "q", "to": "out"}},
        })  # fmt: skip
        gateway.reload()
        sink = StompSink(embedded_endpoint(address), StompChannel(endpoint="b", destination="queue://in"))
        source = StompSource(embedded_endpoint(address), StompChannel(endpoint="b", destination="queue://out"))
        sink.connect()
        source.connect()
        properties = (MessageProperty("a", "String", "é & <b>"), MessageProperty("$b.c", "String", "7"))
        bodies = (
            Body("TextMessage", "hé"),
            Body("BytesMessage", b"\0\xff"),
            Body("MapMessage", (MessageProperty("k", "int", 1),)),
            Body(),
        )
        headers = Headers(JMSType="Order", JMSCorrelationID="c-1", JMSPriority=7)
        batch = [Outgoing(Message(headers, properties, body), str(n)) for n, body in enumerate(bodies)]
        assert sink.send(batch).result(PATIENCE_SECS) == ()
        got: list[Message] = []
        for _ in itertools.repeat(None, 100):
            deliveries = source.receive(10, 0.4)
            source.acknowledge(deliveries)
            got += [d.payload for d in deliveries if isinstance(d.payload, Message)]
            if len(got) >= len(batch):
                break
        sink.close()
        source.close()
        assert [message.body for message in got] == list(bodies), gateway.tail()
        for message in got:
            assert {p.name: p.value for p in properties}.items() <= {
                p.name: p.value for p in message.properties
            }.items()
            assert message.headers.JMSType == "Order"
            assert message.headers.JMSCorrelationID == "c-1"
            assert message.headers.JMSPriority == 7
        assert any("STAND-IN" in str(line) for line in gateway.log()), "it must say that it is one"


def test_the_example_runs_as_it_is(tmp_path: Path) -> None:
    """What is persistent is in the file of the stand-in afterwards."""
    example = yaml.safe_load((Path(__file__).parents[2] / "config/examples/ems-to-mq.yaml").read_text(encoding="utf-8"))
    with Gateway(tmp_path, {**example, "run_dir": "run"}) as gateway:
        gateway.wait_for_link("alarms", lambda status: status["state"] == "ready")
        with Supplier(tmp_path / "run/notify.ior") as supplier:
            supplier.push("alarm", first=17, count=3)
        gateway.wait_for_link("alarms", lambda status: status["accounts"]["delivered"] == 3)
    store = Store(str(tmp_path / "run/qm1.db"))
    kept = store.load()
    store.close()
    assert [queue for queue, _ in kept] == ["NMS.ALARMS"] * 3
    assert all(b"loss of signal on port 1" in message.data for _, message in kept)
