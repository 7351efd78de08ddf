"""Events that come from CORBA, or from a JMS application, and go over MQ, with every other part a real one.

A Notification Service in a process of its own (omniORB, IIOP), a gateway process with the unmodified wheel of ibmmq, the stand-in
queue manager behind our client library in another process, and ActiveMQ Artemis with a Java program as the JMS application.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.cosnotification.orb import Orb
from mappings.idl_types import BOOLEAN, DOUBLE, LONG, LONGLONG, SHORT, STRING
from mappings.model import Any_, StructuredEvent
from tests.contract.wires.cosnotification import CosNotificationWire, Peer
from tests.contract.wires.jms_brokers import JVM
from tests.interop.test_mq_links import events, without_times
from tests.parts.artemis import client_jars
from tests.parts.availability import available
from tests.parts.broker import Broker
from tests.parts.gateway import Gateway
from tests.parts.jms_client import FACTORIES, JmsClient, text_message
from tests.standins.mq.library import client_folder
from tests.standins.mq.process import ServerProcess

PATIENCE_SECS = 45.0
Unique = Callable[[str], str]


class Site:
    """Both Notification channels, the queue manager, and what a configuration says of them and of the broker."""

    def __init__(self, folder: Path, artemis: Broker, orb: Orb) -> None:
        self.folder = folder
        self.peer = Peer(folder)
        self.server = ServerProcess(folder, ["THERE", "BACK"])
        (folder / "password").write_text(artemis.password, encoding="utf-8")
        self.peer.start()
        self.server.start()
        self.corba = CosNotificationWire(orb, self.peer)
        self.corba.connect()
        self.endpoints = {
            "ems": {"type": "cosnotification", "factory": str(self.peer.ior)},
            "qm1": {
                "type": "mq",
                "queue_manager": "QM1",
                "channel": "GW.SVRCONN",
                "hosts": [f"127.0.0.1({self.server.port})"],
                "library": "ibmmq",
                "client_folder": str(available(client_folder)),
                "stand_in": {"where": "client"},
            },
            "broker": {
                "type": "jms",
                "classpath": [str(jar) for jar in client_jars()],
                "factory": FACTORIES["artemis"],
                "url": artemis.jms_url,
                "login": artemis.login,
                "password": f"${{file:{folder / 'password'}}}",
                "jvm_options": JVM,
            },
        }

    def gateway(self, channels: dict[str, dict[str, Any]], *links: tuple[str, str]) -> Gateway:
        named = {f"{start}-{end}": {"from": start, "to": end} for start, end in links}
        config = {"orb": {"listen": "127.0.0.1:0"}, "endpoints": self.endpoints, "channels": channels, "links": named}
        return Gateway(self.folder, config)

    def close(self) -> None:
        self.corba.disconnect()
        self.peer.kill()
        self.server.kill()


@pytest.fixture
def site(tmp_path: Path, artemis: Broker) -> Iterator[Site]:
    orb = Orb()
    orb.start()
    made = Site(tmp_path, artemis, orb)
    yield made
    made.close()
    orb.stop()


def ready(gateway: Gateway) -> None:
    for link in gateway.links():
        gateway.wait_for_link(link, lambda status: status["state"] == "ready")


def test_corba_to_mq_to_jms_to_mq_to_corba(site: Site, jms: JmsClient, artemis: Broker, unique: Unique) -> None:
    """All four links, one behind the other: what comes out at the far end is what went in."""
    topic = f"topic://{unique('events')}"
    channels: dict[str, dict[str, Any]] = {
        "source": {"endpoint": "ems", "channel": 0},
        "there": {"endpoint": "qm1", "queue": "THERE"},
        "jms": {"endpoint": "broker", "destination": topic},
        "back": {"endpoint": "qm1", "queue": "BACK"},
        "sink": {"endpoint": "ems", "channel": 1},
    }
    sent = [event for event in events() if event.type_name != "%ANY"]
    links = ("source", "there"), ("there", "jms"), ("jms", "back"), ("back", "sink")
    with jms.connect(artemis) as connection, site.gateway(channels, *links) as gateway:
        ready(gateway)
        consumer = connection.subscribe(topic)
        site.corba.feed(sent)
        seen = consumer.expect(len(sent), PATIENCE_SECS)
        got = site.corba.drain(len(sent), PATIENCE_SECS)
        letters = {link: status["accounts"]["dead_lettered"] for link, status in gateway.links().items()}
        assert letters == dict.fromkeys(letters, 0), gateway.tail()
    left = [without_times(event) for event in sent]
    for event in map(without_times, got):  # by priority: that is how MQ delivers
        assert event in left
        left.remove(event)
    assert left == []
    alarm = seen[0]
    assert alarm.headers["JMSType"] == "Structured Event"
    assert alarm.headers["JMSPriority"] == max(message.headers["JMSPriority"] for message in seen)
    assert {value.type for message in seen for value in message.properties.values()} > {"int", "short", "String"}


def test_jms_to_mq_to_corba(site: Site, jms: JmsClient, artemis: Broker, unique: Unique) -> None:
    """What a Java application sent, property by property."""
    queue = f"queue://{unique('orders')}"
    channels: dict[str, dict[str, Any]] = {
        "jms": {"endpoint": "broker", "destination": queue},
        "there": {"endpoint": "qm1", "queue": "THERE"},
        "sink": {"endpoint": "ems", "channel": 1},
    }
    properties = {
        "count": ("int", -7), "big": ("long", 2**40), "ratio": ("double", 0.1), "ok": ("boolean", True), "b": ("short", 2),
        "text": ("String", "Zürich <&> 3 €"),
    }  # fmt: skip
    with jms.connect(artemis) as connection, site.gateway(channels, ("jms", "there"), ("there", "sink")) as gateway:
        ready(gateway)
        headers = {"JMSPriority": 7, "JMSType": "Order", "JMSCorrelationID": "c-1"}
        connection.send(queue, text_message("the body: é", properties, **headers))
        [event] = site.corba.drain(1, PATIENCE_SECS)
        assert isinstance(event, StructuredEvent), gateway.tail()
    # RULES.md 5.5: a message of an application that knows nothing of events
    assert (event.domain_name, event.type_name, event.event_name) == ("JMS", "Order", "")
    fields = {field.name: (field.type, field.value) for field in event.filterable_data}
    assert fields == {
        "count": (LONG, -7), "big": (LONGLONG, 2**40), "ratio": (DOUBLE, 0.1), "ok": (BOOLEAN, True), "b": (SHORT, 2),
        "text": (STRING, "Zürich <&> 3 €"),
    }  # fmt: skip
    header = {field.name: field.value for field in event.variable_header}
    assert (header["Priority"], header["EventReliability"], header["JMSCorrelationID"]) == (3, 1, "c-1")
    assert event.remainder_of_body == Any_(STRING, "the body: é")
