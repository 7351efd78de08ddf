"""Typed event domains: typed channels and clients, with compiled stubs on the clients' side, beside everything untyped."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.domain.corba.stubs import (
    CORBA,
    CosEventChannelAdmin,
    CosEventDomainAdmin,
    CosNotifyChannelAdmin,
    CosTypedEventChannelAdmin,
    CosTypedEventDomainAdmin,
)
from tests.interop.event_domains.plant import FORBID, PULL, PUSH, Plant, connection, pulled, qos, until
from tests.interop.notification_service.typed_clients import ALARMS, TypedChannel
from tests.interop.notification_service.typed_clients import Plant as Interfaces

ChannelNotFound = CosNotifyChannelAdmin.ChannelNotFound


def typed_connection(supplier: int, consumer: int, key: str = ALARMS, style: Any = PUSH) -> Any:
    return CosTypedEventDomainAdmin.TypedConnection(supplier, consumer, key, style)


@pytest.fixture
def typed(shared: Plant) -> Any:
    """A typed domain: two typed channels, members 0 and 1, and a plain one, member 2; and the clients' side of the first two."""
    file = str(shared.gateway.folder / "notify.ior")
    clients = [TypedChannel(shared.orb, file) for _ in range(2)]
    plain, _ = shared.channels.create_channel([], [])
    domain, _ = shared.typed_domains.create_typed_event_domain(qos(FORBID, FORBID), [])
    for client in clients:
        domain.add_typed_channel(client.reference)
    domain.add_channel(plain)
    yield domain, clients
    domain.destroy()
    for client in clients:
        client.close()
    plain.destroy()


@pytest.mark.parametrize("style", [PUSH, PULL], ids=["push", "pull"])
def test_operations_pass_a_typed_connection(typed: Any, style: Any) -> None:
    domain, (first, second) = typed
    id_ = domain.add_typed_connection(typed_connection(0, 1, style=style))
    found = domain.get_typed_connection(id_)
    assert (found.supplier_id, found.consumer_id, found.key, found.notification_style) == (0, 1, ALARMS, style)
    with pytest.raises(CosEventDomainAdmin.ConnectionNotFound):
        domain.get_connection(id_)
    consumer = second.typed_consumer()
    alarms = first.alarms()
    alarms.named("x")
    alarms.silence()
    until(lambda: consumer.calls == [("named", ["x"]), ("silence", [])])


def test_an_untyped_connection_leads_out_of_a_typed_channel(typed: Any) -> None:
    domain, (first, _) = typed
    id_ = domain.add_connection(connection(0, 2))
    assert domain.get_connection(id_).consumer_id == 2
    with pytest.raises(CosEventDomainAdmin.ConnectionNotFound):
        domain.get_typed_connection(id_)
    consumer = domain.connect_pull_consumer_with_id(None, 2)
    first.alarms().named("x")
    operation, who = pulled(consumer)
    assert (operation.name, who.name, who.value.value()) == ("operation", "who", "x")


def test_what_a_typed_connection_refuses(typed: Any) -> None:
    domain, _ = typed
    for wanted, exception in (
        (typed_connection(0, 9), ChannelNotFound),
        (typed_connection(0, 2), CosEventChannelAdmin.TypeError),
        (typed_connection(0, 1, "IDL:No/Such:1.0"), CosEventChannelAdmin.TypeError),
        (typed_connection(0, 1, ""), CORBA.BAD_PARAM),
        (typed_connection(0, 0), CosEventDomainAdmin.CycleCreationForbidden),
    ):
        with pytest.raises(exception):
            domain.add_typed_connection(wanted)
    assert domain.add_typed_connection(typed_connection(0, 1)) == 0
    with pytest.raises(CosEventDomainAdmin.AlreadyExists):
        domain.add_typed_connection(typed_connection(0, 1, style=PULL))
    domain.add_connection(connection(1, 2))
    with pytest.raises(CosEventDomainAdmin.DiamondCreationForbidden) as refused:
        domain.add_connection(connection(0, 2))
    assert refused.value.diam == [[0, 2], [0, 1, 2]]


def test_channels_are_given_back_as_what_they_are(typed: Any) -> None:
    domain, (first, _) = typed
    assert domain.get_all_channels() == [0, 1, 2]
    assert domain.get_typed_channel(0)._is_equivalent(first.reference)
    for operation, member in ((domain.get_channel, 0), (domain.get_typed_channel, 2), (domain.get_typed_channel, 9)):
        with pytest.raises(ChannelNotFound):
            operation(member)
    with pytest.raises(CORBA.BAD_PARAM):
        domain.add_typed_channel(domain.get_channel(2)._narrow(CORBA.Object))


def test_typed_clients_connect_through_the_domain(typed: Any) -> None:
    domain, (first, second) = typed
    consumer = second.client("push", "consumer")
    domain.connect_typed_push_consumer_with_id(second.activate(consumer), ALARMS, 0)
    domain.connect_typed_push_supplier(None, ALARMS).get_typed_consumer()._narrow(Interfaces.Alarms).named("y")
    until(lambda: consumer.typed.calls == [("named", ["y"])])

    puller = domain.connect_typed_pull_consumer(None, ALARMS).get_typed_supplier()._narrow(Interfaces.PullAlarms)
    supplier = first.client("pull", "supplier")
    supplier.typed.stock["named"].append(("pulled",))
    domain.connect_typed_pull_supplier(first.activate(supplier), ALARMS)
    until(lambda: puller.try_named() == (True, "pulled"))
    until(lambda: consumer.typed.calls[1:] == [("named", ["pulled"])])


def test_what_typed_clients_are_refused(typed: Any) -> None:
    domain, (_, second) = typed
    consumer = second.activate(second.client("push", "consumer"))
    with pytest.raises(CosTypedEventChannelAdmin.NoSuchImplementation):
        domain.connect_typed_push_consumer(consumer, "IDL:No/Such:1.0")
    with pytest.raises(CosTypedEventChannelAdmin.InterfaceNotSupported):
        domain.connect_typed_push_supplier(None, "IDL:No/Such:1.0")
    with pytest.raises(ChannelNotFound):
        domain.connect_typed_push_supplier_with_id(None, ALARMS, 2)
    puller = second.activate(second.client("pull", "consumer"))
    with pytest.raises((CosEventChannelAdmin.TypeError, CORBA.BAD_PARAM)):
        domain.connect_typed_push_consumer(puller, ALARMS)


def test_typed_defaults_follow_the_typed_channels(typed: Any) -> None:
    domain, (first, second) = typed
    default = lambda: domain.connect_typed_push_supplier(None, ALARMS)._get_MyAdmin()._get_MyChannel()  # noqa: E731
    assert default()._is_equivalent(first.reference)
    domain.set_default_typed_supplier_channel(1)
    assert default()._is_equivalent(second.reference)
    with pytest.raises(ChannelNotFound):
        domain.set_default_typed_consumer_channel(2)
    domain.remove_channel(1)
    assert default()._is_equivalent(first.reference)
    domain.remove_channel(0)
    with pytest.raises(ChannelNotFound):
        default()
    assert domain.get_all_channels() == [2]
