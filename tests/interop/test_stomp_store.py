"""A gateway whose own broker has a store, killed and started again: nothing that was confirmed is lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from adapters.base import Delivery, Outgoing
from adapters.stomp.settings import StompChannel, StompEndpoint
from adapters.stomp.sink import StompSink
from adapters.stomp.source import StompSource
from mappings.model import Body, Headers, Message
from tests.contract.wires.stomp import embedded_endpoint
from tests.interop.stomp_talk import message_of
from tests.parts.gateway import Gateway
from tests.parts.ports import ReservedPort

LINK = "pass-on"
COUNT = 300


def config(folder: Path, port: int) -> dict[str, Any]:
    address = f"127.0.0.1:{port}"
    return {
        "services": {"broker": {"listen": address, "store": str(folder / "broker.db")}},
        "endpoints": {
            "own": {
                "type": "stomp",
                "broker": "embedded",
                "hosts": [address],
                "back_off": {"first_ms": 50, "longest_ms": 200},
            }
        },
        "channels": {
            "in": {"endpoint": "own", "destination": "queue://in"},
            "out": {"endpoint": "own", "destination": "queue://out"},
        },
        "links": {LINK: {"from": "in", "to": "out"}},
    }


def send(endpoint: StompEndpoint, queue: str, numbers: range) -> None:
    sink = StompSink(endpoint, StompChannel(endpoint="own", destination=queue))
    sink.connect()
    try:
        messages = [Message(Headers(), (), Body("TextMessage", f"{n}")) for n in numbers]
        assert sink.send([Outgoing(m, f"{queue}{n}") for n, m in zip(numbers, messages, strict=True)]).result(30) == ()
    finally:
        sink.close()


@contextmanager
def taking(endpoint: StompEndpoint, destination: str, **settings: object) -> Iterator[StompSource]:
    form = {"endpoint": "own", "destination": destination, **settings}
    source = StompSource(endpoint, StompChannel.model_validate(form))
    source.connect()
    try:
        yield source
    finally:
        source.close()


def all_of(source: StompSource, quiet_secs: float = 2.0) -> list[str]:
    """Everything until it is quiet."""
    texts = []
    deliveries: list[Delivery]
    while deliveries := source.receive(100, quiet_secs):
        source.acknowledge(deliveries)
        texts += [str(message_of(delivery).body.value) for delivery in deliveries]
    return texts


def test_messages_survive_a_restart_of_the_gateway(tmp_path: Path) -> None:
    with ReservedPort() as port:
        gateway = Gateway(tmp_path, config(tmp_path, port.number))
        endpoint = embedded_endpoint(f"127.0.0.1:{port.number}")
        with gateway:
            with taking(endpoint, "topic://news", subscription="reader"):
                pass
            send(endpoint, "queue://kept", range(5))
            send(endpoint, "topic://news", range(5))
            send(endpoint, "queue://in", range(COUNT))
            gateway.kill()  # somewhere on the way from `in` to `out`
            gateway.start()
            gateway.wait_for_link(LINK, lambda status: status["source"]["state"] == "ready")
            with taking(endpoint, "queue://out") as source:
                passed = all_of(source)
            # At least once: what was in flight may have come twice.
            assert sorted(set(passed), key=int) == [f"{n}" for n in range(COUNT)]
            assert gateway.stop() == 0
            gateway.start()
            with taking(endpoint, "queue://kept") as source:
                assert all_of(source, 1.0) == ["0", "1", "2", "3", "4"]
            with taking(endpoint, "topic://news", subscription="reader") as source:
                assert all_of(source, 1.0) == ["0", "1", "2", "3", "4"]
            with taking(endpoint, "queue://in") as source:
                assert source.receive(1, 0.5) == []
