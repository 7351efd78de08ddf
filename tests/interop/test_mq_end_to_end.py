"""Events that come from CORBA, or from a JMS application, and go over MQ, with every other part a real one.

A Notification Service in a process of its own (omniORB, IIOP), a gateway process with the unmodified wheel of ibmmq, the stand-in
queue manager behind our client library in another process, and ActiveMQ Artemis with a Java program as the JMS application.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.base import Outgoing
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.references import resolve
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.sink import CosNotificationSink
from adapters.cosnotification.source import CosNotificationSource
from adapters.cosnotification.stubs import CORBA, CosNotification, CosNotifyChannelAdmin
from adapters.mq.standin.store import Store
from mappings.idl_types import BOOLEAN, DOUBLE, LONG, LONGLONG, SHORT, STRING
from mappings.known_types import UTC_T
from mappings.model import Any_, Property, StructuredEvent
from tests.contract.wires.cosnotification import Peer
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


def with_local_orb(work: Callable[[LocalOrb], None]) -> None:
    orb = LocalOrb()
    orb.start()
    try:
        work(orb)
    finally:
        orb.stop()


class Site:
    """Both Notification channels, the queue manager, and what a configuration says of them and of the broker."""

    def __init__(self, folder: Path, artemis: Broker, orb: Orb) -> None:
        self.folder = folder
        self.peer = Peer(folder)
        self.server = ServerProcess(folder, ["THERE", "BACK"])
        (folder / "password").write_text(artemis.password, encoding="utf-8")
        self.peer.start()
        self.server.start()
        service = CosNotificationEndpoint(type="cosnotification", factory=str(self.peer.ior))
        self._feeder = CosNotificationSink(orb, service, CosNotificationChannel(endpoint="ems", channel=0))
        self._drainer = CosNotificationSource(orb, service, CosNotificationChannel(endpoint="ems", channel=1))
        with_local_orb(self.leave_start_times_to_the_gateway)
        self._feeder.connect()
        self._drainer.connect()
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

    def leave_start_times_to_the_gateway(self, orb: LocalOrb) -> None:
        """Our own Notification Service would hold events until their StartTime by itself; many others do not."""
        factory = resolve(orb, str(self.peer.ior), CosNotifyChannelAdmin.EventChannelFactory, 5000)
        unsupported = CosNotification.Property("StartTimeSupported", CORBA.Any(CORBA.TC_boolean, False))
        factory.get_event_channel(0).set_qos([unsupported])

    def gateway(self, channels: dict[str, dict[str, Any]], *links: tuple[str, str], **more: Any) -> Gateway:
        named = {f"{start}-{end}": {"from": start, "to": end} for start, end in links}
        config = {"orb": {"listen": "127.0.0.1:0"}, "endpoints": self.endpoints, "channels": channels, "links": named}
        return Gateway(self.folder, config | more)

    def feed(self, sent: Sequence[StructuredEvent]) -> None:
        """A CORBA supplier at channel 0."""
        assert self._feeder.send([Outgoing(event, str(n)) for n, event in enumerate(sent)]).result(PATIENCE_SECS) == ()

    def drain(self, count: int) -> list[object]:
        """A CORBA consumer at channel 1."""
        deadline = time.monotonic() + PATIENCE_SECS
        got: list[object] = []
        while len(got) < count and time.monotonic() < deadline:
            deliveries = self._drainer.receive(count - len(got), 0.5)
            self._drainer.acknowledge(deliveries)
            got += [delivery.payload for delivery in deliveries]
        return got

    def on(self, queue: str) -> list[bytes]:
        """The persistent messages of a queue."""
        store = Store(str(self.folder / "messages.db"))
        try:
            return [message.data for name, message in store.load() if name == queue]
        finally:
            store.close()

    def close(self) -> None:
        self._feeder.close()
        self._drainer.close()
        self.peer.kill()
        self.server.kill()


@pytest.fixture
def site(tmp_path: Path, artemis: Broker) -> Iterator[Site]:
    orb = Orb()
    orb.start()
    try:
        made = Site(tmp_path, artemis, orb)
        yield made
        made.close()
    finally:
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
        site.feed(sent)
        seen = consumer.expect(len(sent), PATIENCE_SECS)
        got = site.drain(len(sent))
        letters = {link: status["accounts"]["dead_lettered"] for link, status in gateway.links().items()}
        assert letters == dict.fromkeys(letters, 0), gateway.tail()
    left = [without_times(event) for event in sent]
    for event in got:  # by priority: that is how MQ delivers
        marked = without_times(event)
        plain = replace(
            marked, variable_header=tuple(f for f in marked.variable_header if not f.name.startswith("$MED."))
        )
        assert plain in left
        left.remove(plain)
        [path] = [field.value for field in marked.variable_header if field.name == "$MED.path"]
        assert (
            path == "tests/source tests/there tests/jms tests/back"
        )  # where it has been: so that it cannot go in circles
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
        [event] = site.drain(1)
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


def test_an_event_waits_for_its_start_time_also_over_kill_9(site: Site) -> None:
    """OC-VAR-4 on a wire without delays: the journal keeps what the link holds."""
    channels: dict[str, dict[str, Any]] = {
        "source": {"endpoint": "ems", "channel": 0},
        "there": {"endpoint": "qm1", "queue": "THERE"},
    }
    with site.gateway(channels, ("source", "there"), journal={}) as gateway:
        ready(gateway)
        at = time.time() + 15.0
        ticks = 122_192_928_000_000_000 + int(at * 10_000_000)
        start = Property("StartTime", UTC_T, {"time": ticks, "inacclo": 0, "inacchi": 0, "tdf": 0})
        site.feed([StructuredEvent("d", "t", "later", (start,)), StructuredEvent("d", "t", "now")])
        gateway.wait_for_link("source-there", lambda status: status["accounts"]["delivered"] == 1)
        status = gateway.wait_for_link("source-there", lambda status: status["held"] == 1)
        assert status["accounts"]["pending"] == 1
        gateway.kill()
        gateway.start()
        gateway.wait_for_link("source-there", lambda status: status["accounts"]["delivered"] == 2)
        assert time.time() >= at
    now, later = site.on("THERE")
    assert (b">now<" in now, b">later<" in later) == (True, True), (now, later)
