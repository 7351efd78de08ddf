"""Bridges of Notification/JMS Interworking: a CORBA client makes, starts, stops and destroys them while the gateway runs."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.references import resolve
from adapters.cosnotification.stubs import CORBA, CosNotifyChannelAdmin
from gateway.bridges.part import BridgeTransactionMgmt, CosBridgeAdmin
from gateway.domain.corba.stubs import CosEventDomainAdmin
from tests.interop.event_domains.plant import answers, until
from tests.interop.notification_service.clients import event, number_of
from tests.parts.gateway import Gateway
from tests.parts.ports import ReservedPort

SOURCE, SINK = CosBridgeAdmin.SOURCE, CosBridgeAdmin.SINK
PUSH, PULL = CosBridgeAdmin.PUSH, CosBridgeAdmin.PULL
JMS, STRUCTURED, SEQUENCE = CosBridgeAdmin.JMS_MESSAGE, CosBridgeAdmin.STRUCTURED_EVENT, CosBridgeAdmin.SEQUENCE_EVENT
BAD_CHANNEL, BAD_DESTINATION = CosBridgeAdmin.INVALID_CHANNELID, CosBridgeAdmin.INVALID_JMSDESTINATION
MISMATCH = CosBridgeAdmin.MISMATCH_ENDPOINTROLE_NOTIFSTYLE


def channel(role: Any, id_: int, type_: Any = STRUCTURED, style: Any = PUSH) -> Any:
    return CosBridgeAdmin.ExternalEndpoint(role, CosBridgeAdmin.ExternalEndpointConnector(type_, id_), style, type_)


def queue(role: Any, name: str, style: Any = PUSH, factory: str = "") -> Any:
    destination = CosBridgeAdmin.JMSDestination(CosBridgeAdmin.QUEUE, name, factory)
    return CosBridgeAdmin.ExternalEndpoint(role, CosBridgeAdmin.ExternalEndpointConnector(JMS, destination), style, JMS)


def topic(role: Any, name: str, style: Any = PUSH, factory: str = "") -> Any:
    destination = CosBridgeAdmin.JMSDestination(CosBridgeAdmin.TOPIC, name, factory)
    return CosBridgeAdmin.ExternalEndpoint(role, CosBridgeAdmin.ExternalEndpointConnector(JMS, destination), style, JMS)


class Site:
    def __init__(self, gateway: Gateway, orb: LocalOrb, config: dict[str, Any]) -> None:
        self.gateway = gateway
        self.config = config
        self._orb = orb

    @property
    def bridges(self) -> Any:
        return resolve(self._orb, str(self.gateway.folder / "bridges.ior"), CosBridgeAdmin.BridgeFactory, 15_000)

    @property
    def domain(self) -> Any:
        file = str(self.gateway.folder / "domains.ior")
        return resolve(self._orb, file, CosEventDomainAdmin.EventDomainFactory, 15_000).get_event_domain(0)

    def channel(self, id_: int) -> Any:
        file = str(self.gateway.folder / "notify.ior")
        return resolve(self._orb, file, CosNotifyChannelAdmin.EventChannelFactory, 15_000).get_event_channel(id_)

    def supplier(self, id_: int) -> Any:
        admin = self.channel(id_)._get_default_supplier_admin()
        proxy = admin.obtain_notification_push_consumer(CosNotifyChannelAdmin.STRUCTURED_EVENT)[0]
        proxy = proxy._narrow(CosNotifyChannelAdmin.StructuredProxyPushConsumer)
        proxy.connect_structured_push_supplier(None)
        return proxy

    def consumer(self, id_: int) -> Any:
        admin = self.channel(id_)._get_default_consumer_admin()
        proxy = admin.obtain_notification_pull_supplier(CosNotifyChannelAdmin.STRUCTURED_EVENT)[0]
        proxy = proxy._narrow(CosNotifyChannelAdmin.StructuredProxyPullSupplier)
        proxy.connect_structured_pull_consumer(None)
        return proxy

    def ready(self, link: str) -> None:
        self.gateway.wait_for_link(
            link, lambda status: status["source"]["state"] == "ready" and status["sink"]["state"] == "ready"
        )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = Path(tmp_path_factory.mktemp("bridges"))
    with ReservedPort() as orb_port, ReservedPort() as broker_port:
        config = {
            "orb": {"listen": f"127.0.0.1:{orb_port.number}"},
            "services": {
                "notification": {"factory_ior": "notify.ior", "channels": 3},
                "event_domains": {"factory_ior": "domains.ior"},
                "bridges": {"factory_ior": "bridges.ior", "channels": "ems", "destinations": "broker"},
                "broker": {"listen": f"127.0.0.1:{broker_port.number}"},
            },
            "endpoints": {
                "ems": {"type": "cosnotification", "factory": "notify.ior"},
                "broker": {"type": "stomp", "hosts": [f"127.0.0.1:{broker_port.number}"], "broker": "embedded"},
                "other": {"type": "memory"},
            },
            "channels": {"fixed": {"endpoint": "ems", "channel": 0}, "box": {"endpoint": "other", "name": "box"}},
            "links": {"fixed": {"from": "fixed", "to": "box"}},
        }
        orb = LocalOrb()
        orb.start()
        with Gateway(folder, config) as gateway:
            yield Site(gateway, orb, config)
        orb.stop()


def pulled(proxy: Any) -> int:
    found: list[int] = []

    def came() -> bool:
        value, there = proxy.try_pull_structured_event()
        if there:
            found.append(number_of(value))
        return there

    until(came)
    return found[0]


def test_bridges_come_and_go_while_the_gateway_runs(site: Site) -> None:
    there, first = site.bridges.create_bridge(channel(SOURCE, 0), queue(SINK, "bridged"))
    back, second = site.bridges.create_bridge(queue(SOURCE, "bridged", PULL), channel(SINK, 1, SEQUENCE))
    ours = [f"bridge.{first}", f"bridge.{second}"]
    assert site.bridges.get_all_bridges() == [first, second]
    assert site.bridges.get_bridge_with_id(first)._is_equivalent(there)
    receiver, sender = there._get_end_point_receiver(), there._get_end_point_sender()
    assert (receiver.role, receiver.type, receiver.connector._v) == (SOURCE, STRUCTURED, 0)
    assert sender.connector._v.destination_name == "bridged"
    assert set(site.gateway.links()) == {"fixed"}, "made is not started"
    with pytest.raises(CosBridgeAdmin.BridgeInactive):
        there.stop_bridge()

    there.start_bridge()
    back.start_bridge()
    with pytest.raises(CosBridgeAdmin.BridgeAlreadyStarted):
        there.start_bridge()
    for link in ours:
        site.ready(link)
    assert set(site.gateway.links()) == {"fixed", *ours}
    consumer = site.consumer(1)
    supplier = site.supplier(0)
    supplier.push_structured_event(event(7, "Telecom", "Alarm"))
    assert pulled(consumer) == 7
    domain = site.domain
    assert len(domain.get_all_channels()) == 4, "the channel that a link of the file has too is one member"
    assert len(domain.get_all_connections()) == 3

    # What would go round is refused, as for links of the configuration
    round_, third = site.bridges.create_bridge(channel(SOURCE, 1), queue(SINK, "bridged"))
    with pytest.raises(CosBridgeAdmin.InvalidExternalEndPoints) as refused:
        round_.start_bridge()
    assert [(error.role, error.code) for error in refused.value.error] == [(SINK, BAD_DESTINATION)]
    reasons = [line["reason"] for line in site.gateway.log() if line["event"] == "bridge refused"]
    words = "it closes a cycle: queue://bridged → channel 1 of ems → queue://bridged"
    assert reasons[-1] == f"no bridge can be between these: {words}"
    round_.destroy()

    # kill -9 keeps what was started, and the references
    for link in ours:
        site.gateway.wait_for_link(
            link, lambda status: status["accounts"]["delivered"] == 1 and not status["accounts"]["pending"]
        )
    site.gateway.kill()
    site.gateway.start()
    until(lambda: answers(there))
    for link in ours:
        site.ready(link)
    assert site.bridges.get_all_bridges() == [first, second]
    consumer = site.consumer(1)
    site.supplier(0).push_structured_event(event(8, "Telecom", "Alarm"))
    assert pulled(consumer) == 8

    there.stop_bridge()
    assert set(site.gateway.links()) == {"fixed", ours[1]}
    back.destroy()
    assert set(site.gateway.links()) == {"fixed"}
    with pytest.raises(CORBA.OBJECT_NOT_EXIST):
        back.start_bridge()
    with pytest.raises(CosBridgeAdmin.BridgeNotFound):
        site.bridges.get_bridge_with_id(second)
    there.destroy()
    last, fourth = site.bridges.create_bridge(channel(SOURCE, 0), queue(SINK, "q"))
    assert fourth == third + 1, "ids are not used again"
    last.destroy()


@pytest.mark.parametrize(
    ("source", "sink", "errors"),
    [
        (channel(SINK, 0), queue(SOURCE, "q"), [(SOURCE, MISMATCH), (SINK, MISMATCH)]),
        (channel(SOURCE, 0), queue(SINK, "q", PULL), [(SINK, MISMATCH)]),
        (channel(SOURCE, 0), queue(SINK, " "), [(SINK, BAD_DESTINATION)]),
        (channel(SOURCE, 0), queue(SINK, "q", factory="nowhere"), [(SINK, BAD_DESTINATION)]),
        (channel(SOURCE, 0), queue(SINK, "q", factory="other"), [(SINK, BAD_DESTINATION)]),
        (channel(SOURCE, 99), queue(SINK, "q"), [(SOURCE, BAD_CHANNEL)]),
        (queue(SOURCE, "q"), channel(SINK, 99), [(SINK, BAD_CHANNEL)]),
        (channel(SOURCE, 0), channel(SINK, 1), [(SINK, BAD_CHANNEL)]),
        (queue(SOURCE, "a"), queue(SINK, "b"), [(SINK, BAD_DESTINATION)]),
    ],
)
def test_end_points_that_cannot_be(site: Site, source: Any, sink: Any, errors: list[Any]) -> None:
    before = site.bridges.get_all_bridges()
    with pytest.raises(CosBridgeAdmin.InvalidExternalEndPoints) as refused:
        site.bridges.create_bridge(source, sink)
    expected = {(role, code) for role, code in errors}
    found = {(error.role, error.code) for error in refused.value.error}
    assert {code for _, code in found} == {code for _, code in expected}
    assert len(found) == len(expected)
    assert site.bridges.get_all_bridges() == before


def test_topics_brokers_by_their_name_and_channels_that_are_pulled_from_and_pull(site: Site) -> None:
    back, second = site.bridges.create_bridge(topic(SOURCE, "news", PULL), channel(SINK, 1, STRUCTURED, PULL))
    there, first = site.bridges.create_bridge(
        channel(SOURCE, 0, STRUCTURED, PULL), topic(SINK, "news", factory="broker")
    )
    for bridge, id_ in ((back, second), (there, first)):
        bridge.start_bridge()
        site.ready(f"bridge.{id_}")
    assert there._get_end_point_sender().connector._v.destination_type == CosBridgeAdmin.TOPIC
    seen = [
        site.domain.get_connection(id_).notification_style
        for id_ in site.domain.get_all_connections()[-2:]  # the newest come last
    ]
    assert seen == [CosEventDomainAdmin.Pull, CosEventDomainAdmin.Pull]
    consumer = site.consumer(1)
    site.supplier(0).push_structured_event(event(9, "Telecom", "Alarm"))
    assert pulled(consumer) == 9
    for bridge in (there, back):
        bridge.destroy()


def test_a_reload_that_leaves_a_bridge_no_place_says_so(site: Site) -> None:
    form = copy.deepcopy(site.config)
    there, id_ = site.bridges.create_bridge(channel(SOURCE, 2), queue(SINK, "for-bridges"))
    there.start_bridge()
    site.ready(f"bridge.{id_}")
    form["channels"]["two"] = {"endpoint": "ems", "channel": 2}
    form["channels"]["for-bridges"] = {"endpoint": "broker", "destination": "queue://for-bridges"}
    form["links"]["back"] = {"from": "for-bridges", "to": "two"}
    site.gateway.configure(form)
    site.gateway.reload()
    assert set(site.gateway.links()) == {"fixed", "back"}, "the file comes first"
    found = site.gateway.wait_for_log(event="bridge refused", operation=f"bridge.{id_}", code="DOM-BRIDGE")
    assert "closes a cycle: for-bridges → two → for-bridges" in found["reason"]
    site.gateway.configure(site.config)
    site.gateway.reload()
    site.ready(f"bridge.{id_}")
    there.destroy()


def test_transactions(site: Site) -> None:
    there, id_ = site.bridges.create_bridge(channel(SOURCE, 2), queue(SINK, "in-transactions"))
    transactions = there._narrow(BridgeTransactionMgmt.TransactionManagement)
    assert transactions is not None
    with pytest.raises(BridgeTransactionMgmt.UnsupportedTransaction):
        transactions.enable_transaction(0, 100)
    transactions.enable_transaction(5, 50)
    with pytest.raises(BridgeTransactionMgmt.TransactionAlreadyActive):
        transactions.enable_transaction(5, 50)
    there.start_bridge()
    with pytest.raises(BridgeTransactionMgmt.TransactionActive):
        transactions.disable_transaction()
    site.ready(f"bridge.{id_}")
    supplier = site.supplier(2)
    for number in range(7):
        supplier.push_structured_event(event(number, "Telecom", "Alarm"))
    site.gateway.wait_for_link(f"bridge.{id_}", lambda status: status["accounts"]["delivered"] == 7)
    there.stop_bridge()
    transactions.disable_transaction()
    there.destroy()
    back, _ = site.bridges.create_bridge(queue(SOURCE, "in-transactions"), channel(SINK, 2))
    with pytest.raises(BridgeTransactionMgmt.UnsupportedTransaction):
        back._narrow(BridgeTransactionMgmt.TransactionManagement).enable_transaction(5, 50)
    back.destroy()
