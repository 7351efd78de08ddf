"""What suppliers offer and consumers want travels along connections; on demand, events go only where somebody wants them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gateway.domain.corba.stubs import CosNotification, CosNotifyChannelAdmin
from tests.interop.event_domains.plant import PULL, PUSH, STRUCTURED, Plant, connection, plant, until
from tests.interop.notification_service.clients import event, number_of

NOW = CosNotifyChannelAdmin.ALL_NOW_UPDATES_ON
ALL = [("", "%ALL")]


def types(*wanted: tuple[str, str]) -> list[Any]:
    return [CosNotification.EventType(*each) for each in wanted]


def plain(found: Any) -> list[tuple[str, str]]:
    return sorted((type_.domain_name, type_.type_name) for type_ in found)


def chain(where: Plant, length: int = 4) -> tuple[Any, list[Any]]:
    channels = [where.channels.create_channel([], [])[0] for _ in range(length)]
    domain = where.new_domain()
    for channel in channels:
        domain.add_channel(channel)
    return domain, channels


def join(domain: Any, style: Any, length: int = 4) -> None:
    for member in range(length - 1):
        domain.add_connection(connection(member, member + 1, STRUCTURED, style))


def close(domain: Any, channels: list[Any]) -> None:
    domain.destroy()
    for channel in channels:
        channel.destroy()


@pytest.mark.parametrize("style", [PUSH, PULL], ids=["push", "pull"])
def test_offers_and_subscriptions_reach_the_other_end_of_a_chain(shared: Plant, style: Any) -> None:
    domain, channels = chain(shared)
    supplier = domain.connect_structured_push_supplier_with_id(None, 0)
    consumer = domain.connect_structured_pull_consumer_with_id(None, 3)
    supplier.offer_change(types(("Telecom", "Alarm")), [])
    consumer.subscription_change(types(("Telecom", "*")), [])
    join(domain, style)
    # What was there before the channels were joined
    until(lambda: plain(consumer.obtain_offered_types(NOW)) == [("Telecom", "Alarm")])
    until(lambda: plain(supplier.obtain_subscription_types(NOW)) == [("Telecom", "*")])
    # What changes afterwards
    supplier.offer_change(types(("Telecom", "State")), types(("Telecom", "Alarm")))
    until(lambda: plain(consumer.obtain_offered_types(NOW)) == [("Telecom", "State")])
    consumer.subscription_change(types(("Plant", "Fire")), types(("Telecom", "*")))
    until(lambda: plain(supplier.obtain_subscription_types(NOW)) == [("Plant", "Fire")])
    # Who goes takes it along
    other = domain.connect_structured_pull_consumer_with_id(None, 2)
    until(lambda: plain(supplier.obtain_subscription_types(NOW)) == [*ALL, ("Plant", "Fire")])
    consumer.disconnect_structured_pull_supplier()
    until(lambda: plain(supplier.obtain_subscription_types(NOW)) == ALL)
    supplier.disconnect_structured_push_consumer()
    until(lambda: plain(other.obtain_offered_types(NOW)) == [])
    close(domain, channels)


def test_events_that_nobody_downstream_wants_are_not_forwarded(shared: Plant) -> None:
    domain, channels = chain(shared)
    join(domain, PUSH)
    supplier = domain.connect_structured_push_supplier_with_id(None, 0)
    consumer = domain.connect_structured_pull_consumer_with_id(None, 3)
    consumer.subscription_change(types(("Telecom", "Alarm")), [])
    until(lambda: plain(supplier.obtain_subscription_types(NOW)) == [("Telecom", "Alarm")])
    for number, type_ in enumerate(("State", "Alarm", "State", "Alarm")):
        supplier.push_structured_event(event(number, "Telecom", type_))
    got: list[int] = []
    until(lambda: _drained(consumer, got) == [1, 3])
    close(domain, channels)


@pytest.fixture(scope="module")
def on_demand(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with plant(Path(tmp_path_factory.mktemp("on-demand")), on_demand=True) as found:
        yield found


@pytest.mark.parametrize("style", [PUSH, PULL], ids=["push", "pull"])
def test_on_demand_nothing_moves_while_nobody_wants_it(on_demand: Plant, style: Any) -> None:
    domain, channels = chain(on_demand, 3)
    supplier = domain.connect_structured_push_supplier_with_id(None, 0)
    join(domain, style, 3)
    nobody = ("$isthmus", "nobody")
    until(lambda: plain(supplier.obtain_subscription_types(NOW)) == [nobody])
    supplier.push_structured_event(event(1))

    consumer = domain.connect_structured_pull_consumer_with_id(None, 2)
    until(lambda: plain(supplier.obtain_subscription_types(NOW)) == [*ALL, nobody])
    supplier.push_structured_event(event(2))
    got: list[int] = []
    until(lambda: _drained(consumer, got) == [2])  # and not 1, which came before anybody wanted it

    consumer.disconnect_structured_pull_supplier()
    until(lambda: plain(supplier.obtain_subscription_types(NOW)) == [nobody])
    supplier.push_structured_event(event(3))
    consumer = domain.connect_structured_pull_consumer_with_id(None, 2)
    until(lambda: plain(supplier.obtain_subscription_types(NOW)) == [*ALL, nobody])
    supplier.push_structured_event(event(4))
    got = []
    until(lambda: _drained(consumer, got) == [4])
    close(domain, channels)


def _drained(consumer: Any, got: list[int]) -> list[int]:
    found, there = consumer.try_pull_structured_event()
    while there:
        got.append(number_of(found))
        found, there = consumer.try_pull_structured_event()
    return got
