"""Our Notification Service over IIOP, from another process: states (RULES.md 1.10), order, independence of consumers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.cosnotification.codec import event_from_orb, event_to_orb
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.references import resolve
from adapters.cosnotification.stubs import (
    CORBA,
    CosEventChannelAdmin,
    CosEventComm,
    CosNotification,
    CosNotifyChannelAdmin,
    CosNotifyComm__POA,
)
from mappings.idl_types import LONG
from mappings.model import Property, StructuredEvent
from tests.contract.wires.cosnotification import Peer

STRUCTURED = CosNotifyChannelAdmin.STRUCTURED_EVENT
PATIENCE_SECS = 20.0


class Consumer(CosNotifyComm__POA.StructuredPushConsumer):  # type: ignore[misc]
    """Keeps the numbers of what it is pushed; `on_push` may raise or wait."""

    def __init__(self, on_push: Callable[[int], None] | None = None) -> None:
        self.numbers: list[int] = []
        self.disconnected = threading.Event()
        self._on_push = on_push

    def push_structured_event(self, event: Any) -> None:
        number = event_from_orb(event).filterable_data[0].value
        if self._on_push is not None:
            self._on_push(number)
        self.numbers.append(number)

    def disconnect_structured_push_consumer(self) -> None:
        self.disconnected.set()

    def offer_change(self, added: Any, removed: Any) -> None: ...


class Bench:
    def __init__(self, orb: LocalOrb, peer: Peer) -> None:
        self.orb = orb
        self.peer = peer
        self.factory = resolve(orb, str(peer.ior), CosNotifyChannelAdmin.EventChannelFactory, 5000)
        self.channel, _ = self.factory.create_channel([], [])
        self._count = 0

    def activate(self, servant: Any) -> Any:
        self._count += 1
        return self.orb.activate(servant, b"test-%d" % self._count)

    def new_proxy_supplier(self, admin: Any = None) -> Any:
        admin = admin or self.channel._get_default_consumer_admin()
        proxy, _ = admin.obtain_notification_push_supplier(STRUCTURED)
        return proxy._narrow(CosNotifyChannelAdmin.StructuredProxyPushSupplier)

    def new_proxy_consumer(self, admin: Any = None) -> Any:
        admin = admin or self.channel._get_default_supplier_admin()
        proxy, _ = admin.obtain_notification_push_consumer(STRUCTURED)
        return proxy._narrow(CosNotifyChannelAdmin.StructuredProxyPushConsumer)

    def connect(self, consumer: Consumer) -> Any:
        proxy = self.new_proxy_supplier()
        proxy.connect_structured_push_consumer(self.activate(consumer))
        return proxy

    def push(self, *numbers: int) -> None:
        proxy = self.new_proxy_consumer()
        proxy.connect_structured_push_supplier(None)
        for number in numbers:
            proxy.push_structured_event(event(number))
        proxy.disconnect_structured_push_consumer()


def event(number: int) -> Any:
    return event_to_orb(StructuredEvent("d", "t", "n", (), (Property("n", LONG, number),)))


@pytest.fixture(scope="module")
def peer_and_orb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LocalOrb, Peer]]:
    orb = LocalOrb()
    orb.start()
    peer = Peer(Path(tmp_path_factory.mktemp("peer")))
    peer.start()
    yield orb, peer
    peer.kill()
    orb.stop()


@pytest.fixture
def bench(peer_and_orb: tuple[LocalOrb, Peer]) -> Iterator[Bench]:
    bench = Bench(*peer_and_orb)
    yield bench
    for number in range(1, bench._count + 1):
        bench.orb.deactivate(b"test-%d" % number)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_every_consumer_gets_every_event_in_order(bench: Bench) -> None:
    consumers = [Consumer() for _ in range(3)]
    for consumer in consumers:
        bench.connect(consumer)
    bench.push(*range(200))
    until(lambda: all(len(consumer.numbers) == 200 for consumer in consumers))
    assert all(consumer.numbers == list(range(200)) for consumer in consumers)


def test_a_consumer_that_hangs_slows_no_other(bench: Bench) -> None:
    let_go = threading.Event()
    hanging, quick = Consumer(lambda _: let_go.wait(PATIENCE_SECS) or None), Consumer()  # type: ignore[func-returns-value]
    bench.connect(hanging)
    bench.connect(quick)
    bench.push(*range(50))
    until(lambda: len(quick.numbers) == 50)
    assert hanging.numbers == []
    let_go.set()
    until(lambda: len(hanging.numbers) >= 50)


def test_a_consumer_that_says_later_gets_the_event_again_in_order(bench: Bench) -> None:
    refused: list[int] = []

    def twice_not(number: int) -> None:
        if number == 1 and len(refused) < 2:
            refused.append(number)
            raise CORBA.TRANSIENT(0, CORBA.COMPLETED_NO)

    consumer = Consumer(twice_not)
    bench.connect(consumer)
    bench.push(0, 1, 2, 3)
    until(lambda: len(consumer.numbers) == 4)
    assert consumer.numbers == [0, 1, 2, 3]
    assert refused == [1, 1]


def test_an_event_that_a_consumer_cannot_take_does_not_stop_the_next(bench: Bench) -> None:
    def never_one(number: int) -> None:
        if number == 1:
            raise CORBA.MARSHAL(0, CORBA.COMPLETED_NO)

    consumer = Consumer(never_one)
    bench.connect(consumer)
    bench.push(0, 1, 2)
    until(lambda: len(consumer.numbers) == 2)
    assert consumer.numbers == [0, 2]


@pytest.mark.parametrize("farewell", [CosEventComm.Disconnected, CORBA.OBJECT_NOT_EXIST, CORBA.NO_PERMISSION])
def test_a_consumer_that_is_gone_loses_its_proxy(bench: Bench, farewell: Any) -> None:
    def refuse(_: int) -> None:
        raise farewell()

    proxy = bench.connect(Consumer(refuse))
    bench.push(1)
    until(proxy._non_existent)


def test_connecting_twice(bench: Bench) -> None:
    consumer = Consumer()
    proxy = bench.connect(consumer)
    with pytest.raises(CosEventChannelAdmin.AlreadyConnected):
        proxy.connect_structured_push_consumer(bench.activate(Consumer()))
    supplier = bench.new_proxy_consumer()
    supplier.connect_structured_push_supplier(None)
    with pytest.raises(CosEventChannelAdmin.AlreadyConnected):
        supplier.connect_structured_push_supplier(None)


def test_a_nil_consumer_is_refused(bench: Bench) -> None:
    with pytest.raises(CORBA.BAD_PARAM):
        bench.new_proxy_supplier().connect_structured_push_consumer(None)


def test_pushing_before_connecting(bench: Bench) -> None:
    with pytest.raises(CosEventComm.Disconnected):
        bench.new_proxy_consumer().push_structured_event(event(1))


def test_a_proxy_is_gone_after_its_disconnect(bench: Bench) -> None:
    consumer = Consumer()
    proxy = bench.connect(consumer)
    proxy.disconnect_structured_push_supplier()
    with pytest.raises(CORBA.OBJECT_NOT_EXIST):
        proxy.disconnect_structured_push_supplier()
    bench.push(1)
    assert not consumer.disconnected.is_set()  # a disconnect is never answered with a disconnect
    assert consumer.numbers == []


def test_a_suspended_consumer_gets_everything_after_it_resumes(bench: Bench) -> None:
    consumer = Consumer()
    proxy = bench.connect(consumer)
    with pytest.raises(CosNotifyChannelAdmin.ConnectionAlreadyActive):
        proxy.resume_connection()
    proxy.suspend_connection()
    with pytest.raises(CosNotifyChannelAdmin.ConnectionAlreadyInactive):
        proxy.suspend_connection()
    bench.push(1, 2, 3)
    assert consumer.numbers == []
    proxy.resume_connection()
    until(lambda: consumer.numbers == [1, 2, 3])
    with pytest.raises(CosNotifyChannelAdmin.NotConnected):
        bench.new_proxy_supplier().suspend_connection()


def test_destroying_an_admin_disconnects_its_clients(bench: Bench) -> None:
    admin, id_ = bench.channel.new_for_consumers(CosNotifyChannelAdmin.AND_OP)
    consumer = Consumer()
    proxy = bench.new_proxy_supplier(admin)
    proxy.connect_structured_push_consumer(bench.activate(consumer))
    assert bench.channel.get_consumeradmin(id_)._is_equivalent(admin)
    admin.destroy()
    assert consumer.disconnected.wait(PATIENCE_SECS)
    assert proxy._non_existent()
    with pytest.raises(CosNotifyChannelAdmin.AdminNotFound):
        bench.channel.get_consumeradmin(id_)


def test_destroying_a_channel_disconnects_its_clients_and_removes_it(bench: Bench) -> None:
    channel, id_ = bench.factory.create_channel([], [])
    consumer = Consumer()
    proxy = bench.new_proxy_supplier(channel._get_default_consumer_admin())
    proxy.connect_structured_push_consumer(bench.activate(consumer))
    assert id_ in bench.factory.get_all_channels()
    channel.destroy()
    assert consumer.disconnected.wait(PATIENCE_SECS)
    assert id_ not in bench.factory.get_all_channels()
    with pytest.raises(CosNotifyChannelAdmin.ChannelNotFound):
        bench.factory.get_event_channel(id_)


def test_admins_and_proxies_are_found_by_id(bench: Bench) -> None:
    channel = bench.channel
    assert channel.get_all_consumeradmins() == [0]
    assert channel._get_default_consumer_admin()._get_MyID() == 0
    admin, _ = channel.new_for_suppliers(CosNotifyChannelAdmin.OR_OP)
    assert admin._get_MyOperator() == CosNotifyChannelAdmin.OR_OP
    assert admin._get_MyChannel()._is_equivalent(channel)
    assert channel._get_MyFactory()._is_equivalent(bench.factory)
    proxy, id_ = admin.obtain_notification_push_consumer(STRUCTURED)
    assert admin._get_push_consumers() == [id_]
    assert admin.get_proxy_consumer(id_)._is_equivalent(proxy)
    with pytest.raises(CosNotifyChannelAdmin.ProxyNotFound):
        admin.get_proxy_consumer(id_ + 1)


def test_qos_is_given_or_refused_with_the_reason(bench: Bench) -> None:
    def property_(name: str, type_: Any, value: Any) -> Any:
        return CosNotification.Property(name, CORBA.Any(type_, value))

    bench.channel.set_qos([property_("MaxEventsPerConsumer", CORBA.TC_long, 5)])
    assert {p.name: p.value.value() for p in bench.channel.get_qos()}["MaxEventsPerConsumer"] == 5
    with pytest.raises(CosNotification.UnsupportedQoS) as caught:
        bench.channel.set_qos(
            [
                property_("MaxEventsPerConsumer", CORBA.TC_long, 7),
                property_("Nonsense", CORBA.TC_long, 1),
                property_("StartTime", CORBA.TC_long, 1),
                property_("MaxEventsPerConsumer", CORBA.TC_string, "7"),
                property_("EventReliability", CORBA.TC_short, 1),
            ]
        )
    assert [error.code for error in caught.value.qos_err] == [
        CosNotification.BAD_PROPERTY,
        CosNotification.UNSUPPORTED_PROPERTY,
        CosNotification.BAD_TYPE,
        CosNotification.UNSUPPORTED_VALUE,
    ]
    assert {p.name: p.value.value() for p in bench.channel.get_qos()}["MaxEventsPerConsumer"] == 5, "all or nothing"
