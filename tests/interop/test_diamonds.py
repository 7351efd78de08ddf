"""A diamond that is allowed delivers one copy for each route, or one in total where duplicates are dropped; lint says how many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapters.base import Outgoing
from adapters.stomp.settings import StompChannel
from adapters.stomp.sink import StompSink
from gateway.settings import check
from mappings.model import Body, Headers, Message, MessageProperty
from tests.contract.wires.stomp import broker_process, embedded_endpoint
from tests.parts.gateway import Gateway

COUNT = 20
LINKS = {
    "straight": {"from": "start", "to": "end"},
    "up": {"from": "start", "to": "middle"},
    "down": {"from": "middle", "to": "end"},
}


@pytest.mark.parametrize(("duplicates", "copies"), [("drop_redelivered", 2), ("drop", 1)])
def test_an_allowed_diamond(tmp_path: Path, duplicates: str, copies: int) -> None:
    with broker_process() as broker:
        config: dict[str, Any] = {
            "endpoints": {"broker": {"type": "stomp", "broker": "embedded", "hosts": [broker.address]}},
            "domain": {"diamonds": "allow", "duplicates": duplicates},
            "channels": {
                "start": {"endpoint": "broker", "destination": "topic://start"},
                "middle": {"endpoint": "broker", "destination": "queue://middle"},
                "end": {"endpoint": "broker", "destination": "queue://end"},
                "out": {"endpoint": "broker", "destination": "queue://out"},
            },
            "links": {**LINKS, "out": {"from": "end", "to": "out", "duplicates": "pass"}},
        }
        with Gateway(tmp_path, config) as gateway:
            for link in config["links"]:
                gateway.wait_for_link(link, lambda status: bool(status["source"]["state"] == "ready"))
            sink = StompSink(embedded_endpoint(broker.address), StompChannel(endpoint="b", destination="topic://start"))
            sink.connect()
            body = Body("TextMessage", "an order")
            sent = [
                Outgoing(Message(Headers(), (MessageProperty("n", "int", n),), body), f"m{n}") for n in range(COUNT)
            ]
            assert sink.send(sent).result(20.0) == ()
            sink.close()
            for link in ("straight", "down"):
                gateway.wait_for_link(
                    link,
                    lambda status: bool(status["accounts"]["received"] == COUNT and not status["accounts"]["pending"]),
                )
            accounts = {link: status["accounts"] for link, status in gateway.links().items()}
            delivered = accounts["straight"]["delivered"] + accounts["down"]["delivered"]
            duplicate = accounts["straight"]["duplicate"] + accounts["down"]["duplicate"]
            assert (delivered, duplicate) == (copies * COUNT, (2 - copies) * COUNT)
            out = gateway.wait_for_link("out", lambda status: bool(status["accounts"]["delivered"] >= copies * COUNT))
            assert out["accounts"]["received"] == copies * COUNT
        said = [finding.message for finding in check(gateway.config_file) if finding.code == "DOM-COPIES"]
        assert any('channel "end" gets 2 copies' in message for message in said)
