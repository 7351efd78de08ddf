"""Events that come back are stopped by their hop list, over real wires and across two gateways that know nothing of each other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.base import Outgoing
from adapters.stomp.settings import StompChannel
from adapters.stomp.sink import StompSink
from mappings.model import Body, Headers, Message, MessageProperty
from tests.contract.wires.stomp import BrokerProcess, broker_process, embedded_endpoint
from tests.parts.gateway import Gateway, Status
from tests.parts.supplier import Supplier

QUICK = {"first_ms": 50, "longest_ms": 500}
COUNT = 20


@pytest.fixture
def broker() -> Iterator[BrokerProcess]:
    with broker_process() as process:
        yield process


def _settled(status: Status) -> bool:
    return bool(status["accounts"]["received"] and not status["accounts"]["pending"])


def _ready(status: Status) -> bool:
    return bool(status["state"] == "ready")


def _gateway(folder: Path, name: str, broker: BrokerProcess, ior: Path, links: dict[str, Any], **more: Any) -> Gateway:
    (folder / name).mkdir()
    config = {
        "name": name,
        "endpoints": {
            "ems": {"type": "cosnotification", "factory": str(ior), "back_off": QUICK},
            "broker": {"type": "stomp", "broker": "embedded", "hosts": [broker.address], "back_off": QUICK},
        },
        "channels": {
            "alarms": {"endpoint": "ems", "channel": 0},
            "x": {"endpoint": "broker", "destination": "queue://x"},
            "y": {"endpoint": "broker", "destination": "queue://y"},
        },
        "links": links,
        **more,
    }
    return Gateway(folder / name, config)


def _hosting(ior: Path) -> dict[str, Any]:
    return {"services": {"notification": {"factory_ior": str(ior)}}}


def test_an_event_that_another_gateway_sends_back_is_stopped_and_counted(tmp_path: Path, broker: BrokerProcess) -> None:
    """one: alarms → x; two: x → y; one: y → alarms. Hops travel as JMS properties."""
    ior = tmp_path / "factory.ior"
    there_and_back = {"there": {"from": "alarms", "to": "x"}, "back": {"from": "y", "to": "alarms"}}
    one = _gateway(tmp_path, "one", broker, ior, there_and_back, **_hosting(ior))
    two = _gateway(tmp_path, "two", broker, ior, {"over": {"from": "x", "to": "y"}})
    with one, two:
        for gateway, link in ((one, "there"), (one, "back"), (two, "over")):
            gateway.wait_for_link(link, _ready)
        with Supplier(ior) as supplier:
            supplier.push("alarm", count=COUNT)
        back = one.wait_for_link("back", lambda status: status["accounts"]["looped"] == COUNT)
        assert back["accounts"]["received"] == COUNT
        assert one.links()["there"]["accounts"]["received"] == COUNT, "none came out of the channel twice"
        two.wait_for_link(
            "over", lambda status: status["accounts"]["delivered"] == COUNT
        )  # the broker's word may come later


def test_hops_travel_in_the_variable_header_of_events(tmp_path: Path, broker: BrokerProcess) -> None:
    """one: x → alarms; two: alarms → x. Both wires, and the loop is closed by CORBA."""
    ior = tmp_path / "factory.ior"
    one = _gateway(tmp_path, "one", broker, ior, {"there": {"from": "x", "to": "alarms"}}, **_hosting(ior))
    two = _gateway(tmp_path, "two", broker, ior, {"back": {"from": "alarms", "to": "x"}})
    with one, two:
        for gateway, link in ((one, "there"), (two, "back")):
            gateway.wait_for_link(link, _ready)
        sink = StompSink(embedded_endpoint(broker.address), StompChannel(endpoint="broker", destination="queue://x"))
        sink.connect()
        try:
            body = Body("TextMessage", "an order")
            batch = [
                Outgoing(Message(Headers(), (MessageProperty("n", "int", n),), body), f"m{n}") for n in range(COUNT)
            ]
            assert sink.send(batch).result(20.0) == ()
        finally:
            sink.close()
        there = one.wait_for_link("there", lambda status: status["accounts"]["looped"] == COUNT)
        assert there["accounts"]["received"] == 2 * COUNT
        assert there["accounts"]["delivered"] == COUNT
        assert two.wait_for_link("back", _settled)["accounts"]["delivered"] == COUNT
