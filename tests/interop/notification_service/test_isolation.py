"""Clients that fail, hang or are many: nobody else has to wait or loses anything."""

from __future__ import annotations

import threading
from typing import Any

from adapters.cosnotification.stubs import CORBA
from tests.interop.notification_service.clients import (
    CLIENTS,
    PATIENCE_SECS,
    Channel,
    event,
    number_of,
    property_,
    until,
)

# ruff: isort: split
import CosNotifyFilter__POA


def test_an_event_that_a_sequence_consumer_cannot_take_costs_no_other(channel: Channel) -> None:
    class Choosy(CLIENTS["push", "consumer"]["sequence"]):  # type: ignore[misc]
        def push_structured_events(self, notifications: Any) -> None:
            if any(number_of(each) == 3 for each in notifications):
                raise CORBA.MARSHAL(0, CORBA.COMPLETED_NO)
            super().push_structured_events(notifications)

    consumer = Choosy()
    proxy = channel.proxy("push", "consumer", "sequence")
    proxy.set_qos([property_("MaximumBatchSize", CORBA.TC_long, 5)])
    proxy.connect_sequence_push_consumer(channel.activate(consumer))
    proxy.suspend_connection()
    channel.supplier("sequence").push_structured_events([event(n) for n in range(10)])
    proxy.resume_connection()
    until(lambda: len(consumer.got) == 9)
    assert consumer.numbers == [0, 1, 2, 4, 5, 6, 7, 8, 9]


def test_a_filter_that_hangs_slows_only_its_own_consumer(channel: Channel) -> None:
    let_go = threading.Event()

    class Hanging(CosNotifyFilter__POA.Filter):  # type: ignore[misc]
        def match_structured(self, filterable_data: Any) -> bool:
            let_go.wait(PATIENCE_SECS)
            return True

    _, slow = channel.consumer()
    slow.add_filter(channel.activate(Hanging()))
    quick, _ = channel.consumer()
    supplier = channel.supplier()
    for number in range(50):
        supplier.push_structured_event(event(number))
    until(lambda: len(quick.got) == 50)
    assert not let_go.is_set()
    let_go.set()


def test_a_channel_ends_though_its_clients_hang(channel: Channel) -> None:
    let_go = threading.Event()

    class Hanging(CLIENTS["push", "consumer"]["structured"]):  # type: ignore[misc]
        def disconnect_structured_push_consumer(self) -> None:
            let_go.wait(PATIENCE_SECS)

    for _ in range(5):
        proxy = channel.proxy("push", "consumer", "structured")
        proxy.connect_structured_push_consumer(channel.activate(Hanging()))
    last, _ = channel.consumer()
    channel.reference.destroy()
    assert last.disconnected.wait(PATIENCE_SECS)
    assert not let_go.is_set(), "it was told before the others had answered"
    let_go.set()


def test_many_suppliers_and_many_consumers(channel: Channel) -> None:
    """All events reach all, in the order of each supplier."""
    suppliers, consumers, each = 40, 40, 5
    clients = [channel.consumer(("structured", "sequence")[n % 2])[0] for n in range(consumers)]
    proxies = [channel.supplier() for _ in range(suppliers)]
    start = threading.Barrier(4)

    def push(mine: list[tuple[int, Any]]) -> None:
        start.wait()
        for number in range(each):
            for index, proxy in mine:
                proxy.push_structured_event(event(index * each + number))

    numbered = list(enumerate(proxies))
    threads = [threading.Thread(target=push, args=(numbered[n::4],)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    until(lambda: all(len(client.got) == suppliers * each for client in clients))
    for client in clients:
        numbers = client.numbers
        assert sorted(numbers) == list(range(suppliers * each))
        for supplier in range(suppliers):
            mine = [number for number in numbers if number // each == supplier]
            assert mine == sorted(mine)
