"""QoS and admin properties over IIOP, with the vectors of RULES.md 1.6."""

from __future__ import annotations

import time
from typing import Any

import pytest

from adapters.cosnotification.codec import event_to_orb
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.stubs import CORBA, CosNotification, CosNotifyChannelAdmin
from mappings.filters.etcl import system_clock
from mappings.idl_types import LONG, SHORT, ULONG, ULONGLONG, USHORT, IdlType, Member, Struct
from mappings.model import Property, StructuredEvent
from tests.interop.notification_service.clients import AND_OP, Channel, drain, event, number_of, property_, until

SECOND = 10_000_000
UTC = Struct(
    "IDL:omg.org/TimeBase/UtcT:1.0",
    "UtcT",
    (Member("time", ULONGLONG), Member("inacclo", ULONG), Member("inacchi", USHORT), Member("tdf", SHORT)),
)
PRIORITIES = {1: 0, 2: 0, 3: 0, 4: 2, 5: 2, 6: 0, 7: -1, 8: -1, 9: 0}
DEADLINES = {1: 9, 2: 8, 3: 7, 4: 3, 5: 2, 6: 5, 7: 4, 8: 6, 9: 1}
ANY, FIFO, PRIORITY, DEADLINE, LIFO, REJECT = range(6)


def timed(number: int, **header: Any) -> Any:
    """An event with a header; times are seconds from now."""
    now = system_clock()
    kinds: dict[str, IdlType] = {"StartTime": UTC, "StopTime": UTC, "Timeout": ULONGLONG}
    fields = []
    for name, value in header.items():
        said = value
        if name in ("StartTime", "StopTime"):
            said = {"time": now + int(value * SECOND), "inacclo": 0, "inacchi": 0, "tdf": 120}  # tdf means nothing
        elif name == "Timeout":
            said = int(value * SECOND)
        fields.append(Property(name, kinds.get(name, SHORT), said))
    return event_to_orb(StructuredEvent("d", "t", "", tuple(fields), (Property("n", LONG, number),)))


def push_the_nine(channel: Channel, deadline: str) -> None:
    supplier = channel.supplier()
    for n in range(1, 10):
        header = {"Priority": PRIORITIES[n], deadline: DEADLINES[n] * 1000}
        supplier.push_structured_event(timed(n, **header))


def shorts(**values: int) -> list[Any]:
    return [property_(name, CORBA.TC_short, value) for name, value in values.items()]


def longs(**values: int) -> list[Any]:
    return [property_(name, CORBA.TC_long, value) for name, value in values.items()]


def flag(name: str, value: bool) -> Any:
    return property_(name, CORBA.TC_boolean, value)


@pytest.mark.parametrize("deadline", ["Timeout", "StopTime"])
@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (FIFO, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (PRIORITY, [4, 5, 1, 2, 3, 6, 9, 7, 8]),
        (ANY, [4, 5, 1, 2, 3, 6, 9, 7, 8]),
        (DEADLINE, [9, 5, 4, 7, 6, 8, 3, 2, 1]),
    ],
)
def test_order_vectors(channel: Channel, order: int, expected: list[int], deadline: str) -> None:
    puller = channel.puller()
    puller.set_qos(shorts(OrderPolicy=order))
    consumer, proxy = channel.consumer()
    proxy.set_qos(shorts(OrderPolicy=order))
    proxy.suspend_connection()
    push_the_nine(channel, deadline)
    assert drain(puller, 9) == expected
    proxy.resume_connection()
    until(lambda: len(consumer.got) == 9)
    assert consumer.numbers == expected


@pytest.mark.parametrize(
    ("discard", "fifo", "priority", "deadline"),
    [
        (ANY, [1, 2, 3, 4, 5], [4, 5, 1, 2, 3], [5, 4, 3, 2, 1]),
        (REJECT, [1, 2, 3, 4, 5], [4, 5, 1, 2, 3], [5, 4, 3, 2, 1]),
        (LIFO, [1, 2, 3, 4, 5], [4, 5, 1, 2, 3], [5, 4, 3, 2, 1]),
        (FIFO, [5, 6, 7, 8, 9], [5, 6, 9, 7, 8], [9, 5, 7, 6, 8]),
        (PRIORITY, [1, 2, 3, 4, 5], [4, 5, 1, 2, 3], [5, 4, 3, 2, 1]),
        (DEADLINE, [1, 2, 3, 6, 8], [1, 2, 3, 6, 8], [6, 8, 3, 2, 1]),
    ],
)
def test_discard_vectors(channel: Channel, discard: int, fifo: Any, priority: Any, deadline: Any) -> None:
    channel.consumers.set_qos([*shorts(DiscardPolicy=discard), *longs(MaxEventsPerConsumer=5)])
    expected = {FIFO: fifo, PRIORITY: priority, DEADLINE: deadline}
    pullers = {order: channel.puller() for order in expected}
    for order, puller in pullers.items():
        puller.set_qos(shorts(OrderPolicy=order))
    push_the_nine(channel, "Timeout")
    for order, puller in pullers.items():
        assert drain(puller, 5) == expected[order]


def test_start_and_stop_times(channel: Channel) -> None:
    """The vector with shorter times; E2 is over before it starts."""
    consumer, _ = channel.consumer()
    supplier = channel.supplier()
    supplier.push_structured_event(timed(1, StartTime=0.3, StopTime=3600))
    supplier.push_structured_event(timed(2, StartTime=0.9, StopTime=0.1))
    supplier.push_structured_event(timed(3, StartTime=0.6, StopTime=3600))
    supplier.push_structured_event(timed(4, StartTime=1.2))
    supplier.push_structured_event(timed(5))
    until(lambda: len(consumer.got) == 4)
    assert consumer.numbers == [5, 1, 3, 4]


def test_times_are_ignored_where_they_are_not_supported(channel: Channel) -> None:
    puller = channel.puller()
    puller.set_qos([flag("StartTimeSupported", False), flag("StopTimeSupported", False)])
    channel.supplier().push_structured_event(timed(1, StartTime=3600, StopTime=-3600, Timeout=0))
    assert drain(puller, 1) == [1]


def test_an_event_may_have_run_out(channel: Channel) -> None:
    puller = channel.puller()
    supplier = channel.supplier()
    supplier.push_structured_event(timed(1, StopTime=-1))
    supplier.push_structured_event(timed(2, Timeout=0.0000001))
    supplier.push_structured_event(timed(3))
    assert drain(puller, 1) == [3]


def test_a_timeout_and_a_priority_of_the_supplier_are_for_events_that_say_none(channel: Channel) -> None:
    puller = channel.puller()
    hurried, urgent, plain = channel.supplier(), channel.supplier(), channel.supplier("sequence")
    hurried.set_qos([property_("Timeout", CORBA.TC_ulonglong, 1)])
    urgent.set_qos(shorts(Priority=5))
    plain.push_structured_events([event(1)])
    hurried.push_structured_event(event(2))
    hurried.push_structured_event(timed(3, Timeout=3600))
    urgent.push_structured_event(event(4))
    urgent.push_structured_event(timed(5, Priority=-1))
    time.sleep(0.001)  # 100 ns are over
    assert drain(puller, 4) == [4, 1, 3, 5]


def test_a_setting_of_the_channel_reaches_proxies_that_have_none_of_their_own(channel: Channel) -> None:
    own, inherited = channel.puller(), channel.puller()
    own.set_qos(longs(MaxEventsPerConsumer=3))
    channel.reference.set_qos(longs(MaxEventsPerConsumer=2))
    supplier = channel.supplier()
    for number in range(5):
        supplier.push_structured_event(event(number))
    assert drain(own, 3) == [0, 1, 2]
    assert drain(inherited, 2) == [0, 1]
    assert {item.name: item.value.value() for item in inherited.get_qos()}["MaxEventsPerConsumer"] == 2


def test_batches_of_the_size_that_was_asked_for(channel: Channel) -> None:
    consumer, proxy = channel.consumer("sequence")
    proxy.suspend_connection()
    proxy.set_qos(longs(MaximumBatchSize=4))
    channel.supplier("sequence").push_structured_events([event(n) for n in range(10)])
    proxy.resume_connection()
    until(lambda: len(consumer.got) == 10)
    assert consumer.calls == [4, 4, 2], "without a PacingInterval nobody waits for a full batch"
    assert consumer.numbers == list(range(10))


def test_a_batch_waits_for_its_pacing_interval(channel: Channel) -> None:
    consumer, proxy = channel.consumer("sequence")
    proxy.set_qos([*longs(MaximumBatchSize=5), property_("PacingInterval", CORBA.TC_ulonglong, SECOND // 2)])
    supplier = channel.supplier()
    for number in range(7):
        supplier.push_structured_event(event(number))
    until(lambda: len(consumer.got) == 7)
    assert consumer.calls[0] == 5, "a full batch goes at once"
    assert consumer.numbers == list(range(7))


def test_a_full_channel_refuses_new_events_where_it_is_told_to(service: tuple[LocalOrb, str]) -> None:
    channel = Channel(*service, admin=[*longs(MaxQueueLength=3), flag("RejectNewEvents", True)])
    puller = channel.puller()
    supplier, batches, untyped = channel.supplier(), channel.supplier("sequence"), channel.supplier("any")
    pulled, _ = channel.join("pull", "supplier", "structured")
    for number in range(3):
        supplier.push_structured_event(event(number))
    for call, value in (
        (supplier.push_structured_event, event(9)),
        (batches.push_structured_events, [event(9)]),
        (untyped.push, CORBA.Any(CORBA.TC_long, 9)),
    ):
        with pytest.raises(CORBA.IMP_LIMIT):
            call(value)
    pulled.stock.append(event(3))
    assert number_of(puller.pull_structured_event()) == 0
    until(lambda: not pulled.stock)  # now that there is room it is pulled again
    got = [number_of(puller.pull_structured_event()) for _ in range(3)]
    assert got == [1, 2, 3]
    channel.close()


def test_a_full_channel_discards_where_it_is_not(service: tuple[LocalOrb, str]) -> None:
    channel = Channel(*service, qos=shorts(DiscardPolicy=FIFO), admin=longs(MaxQueueLength=3))
    puller = channel.puller()
    supplier = channel.supplier()
    for number in range(5):
        supplier.push_structured_event(event(number))
    assert drain(puller, 3) == [2, 3, 4]
    channel.close()


def test_limits_of_clients(channel: Channel) -> None:
    channel.reference.set_admin(longs(MaxConsumers=2, MaxSuppliers=1))
    admin, _ = channel.reference.new_for_consumers(AND_OP)
    first, _ = channel.consumers.obtain_notification_push_supplier(CosNotifyChannelAdmin.ANY_EVENT)
    admin.obtain_notification_pull_supplier(CosNotifyChannelAdmin.STRUCTURED_EVENT)
    for call in (admin.obtain_notification_push_supplier, channel.consumers.obtain_notification_pull_supplier):
        with pytest.raises(CosNotifyChannelAdmin.AdminLimitExceeded) as caught:
            call(CosNotifyChannelAdmin.SEQUENCE_EVENT)
        assert caught.value.admin_property_err.name == "MaxConsumers"
        assert caught.value.admin_property_err.value.value() == 2
    with pytest.raises(CORBA.IMP_LIMIT):
        admin.obtain_push_supplier()
    channel.suppliers.obtain_push_consumer()
    for call in (
        channel.suppliers.obtain_notification_push_consumer,
        channel.suppliers.obtain_notification_pull_consumer,
    ):
        with pytest.raises(CosNotifyChannelAdmin.AdminLimitExceeded) as caught:
            call(CosNotifyChannelAdmin.SEQUENCE_EVENT)
        assert caught.value.admin_property_err.name == "MaxSuppliers"
    first._narrow(CosNotifyChannelAdmin.ProxyPushSupplier).disconnect_push_supplier()
    admin.obtain_pull_supplier()  # there is room again


def test_admin_properties_are_set_all_or_none(channel: Channel) -> None:
    with pytest.raises(CosNotification.UnsupportedAdmin) as caught:
        channel.reference.set_admin(
            [
                *longs(MaxConsumers=5, MaxSuppliers=-1, Nonsense=1),
                property_("MaxQueueLength", CORBA.TC_string, "5"),
            ]
        )
    assert [(error.name, error.code) for error in caught.value.admin_err] == [
        ("MaxSuppliers", CosNotification.BAD_VALUE),
        ("Nonsense", CosNotification.BAD_PROPERTY),
        ("MaxQueueLength", CosNotification.BAD_TYPE),
    ]
    values = {item.name: item.value.value() for item in channel.reference.get_admin()}
    assert values == {"MaxQueueLength": 0, "MaxConsumers": 0, "MaxSuppliers": 0, "RejectNewEvents": False}


def test_a_channel_that_cannot_be_as_it_is_asked_for_is_not_made(channel: Channel) -> None:
    before = channel.factory.get_all_channels()
    with pytest.raises(CosNotification.UnsupportedQoS):
        channel.factory.create_channel(shorts(OrderPolicy=9), [])
    with pytest.raises(CosNotification.UnsupportedAdmin):
        channel.factory.create_channel([], longs(Nonsense=1))
    assert channel.factory.get_all_channels() == before
