"""All 24 operations by which clients of an untyped domain connect, each with events that pass."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from gateway.domain.corba.stubs import CORBA, CosNotifyChannelAdmin
from tests.interop.event_domains.plant import Plant, connection, number, until
from tests.interop.notification_service.clients import CLIENTS, FORMS, event, number_of

Channels = CosNotifyChannelAdmin
DEFAULT_SUPPLIER, DEFAULT_CONSUMER = 1, 2  # the default channels
FIRST, LAST = 0, 3  # what clients that name a channel name


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[False, True], ids=["default", "with-id"])
def with_id(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def interface(form: str, style: str, proxy: str) -> Any:
    return getattr(Channels, f"{'' if form == 'any' else form.capitalize()}Proxy{style.capitalize()}{proxy}")


def carried(form: str, value: int) -> Any:
    """What a client of this form gives away in one call, or in one look."""
    return {"any": number, "structured": event, "sequence": lambda n: [event(n)]}[form](value)


def value_of(form: str, found: Any) -> int:
    return int(found.value()) if form == "any" else number_of(found)


def push(form: str, proxy: Any, value: int) -> None:
    operation = {"any": "push", "structured": "push_structured_event", "sequence": "push_structured_events"}[form]
    getattr(proxy, operation)(carried(form, value))


def pull(form: str, proxy: Any) -> int | None:
    if form == "sequence":
        found, there = proxy.try_pull_structured_events(1)
        return number_of(found[0]) if there else None
    found, there = proxy.try_pull() if form == "any" else proxy.try_pull_structured_event()
    return value_of(form, found) if there else None


def test_each_operation_connects_at_the_right_channel_and_events_pass(shared: Plant, form: str, with_id: bool) -> None:
    """Two ways from supplier to consumer: by push all along, and by pull all along."""
    channels = [shared.channels.create_channel([], [])[0] for _ in range(4)]
    domain = shared.new_domain()
    for channel in channels:
        domain.add_channel(channel)
    domain.set_default_supplier_channel(DEFAULT_SUPPLIER)
    domain.set_default_consumer_channel(DEFAULT_CONSUMER)
    start, end = (FIRST, LAST) if with_id else (DEFAULT_SUPPLIER, DEFAULT_CONSUMER)
    domain.add_connection(connection(start, end, FORMS[form]))
    clients: dict[tuple[str, str], Any] = {}
    proxies: dict[tuple[str, str], Any] = {}
    for style, role in product(("push", "pull"), ("consumer", "supplier")):
        clients[style, role] = CLIENTS[style, role][form]()
        reference = shared.orb.activate(clients[style, role], f"{form}-{style}-{role}-{with_id}".encode())
        operation = f"connect_{'' if form == 'any' else form + '_'}{style}_{role}"
        where = start if role == "supplier" else end
        connect = getattr(domain, f"{operation}_with_id" if with_id else operation)
        proxy = proxies[style, role] = connect(reference, where) if with_id else connect(reference)
        wanted = interface(form, style, "Supplier" if role == "consumer" else "Consumer")
        assert proxy._NP_RepositoryId == wanted._NP_RepositoryId
        assert proxy._get_MyAdmin()._get_MyChannel()._is_equivalent(channels[where])
        if with_id:
            with pytest.raises(Channels.ChannelNotFound):
                connect(reference, 100)

    push(form, proxies["push", "supplier"], 1)
    stock = carried(form, 2)
    clients["pull", "supplier"].stock.extend(stock if form == "sequence" else [stock])
    pushed_to = clients["push", "consumer"]
    until(lambda: sorted(value_of(form, each) for each in pushed_to.got) == [1, 2])
    pulled: list[int] = []

    def drained() -> list[int]:
        while (found := pull(form, proxies["pull", "consumer"])) is not None:
            pulled.append(found)
        return sorted(pulled)

    until(lambda: drained() == [1, 2])
    domain.destroy()
    for channel in channels:
        channel.destroy()
    for style, role in clients:
        shared.orb.deactivate(f"{form}-{style}-{role}-{with_id}".encode())


def test_clients_of_an_empty_domain_find_no_channel(shared: Plant, form: str) -> None:
    domain = shared.new_domain()
    for style, role in product(("push", "pull"), ("consumer", "supplier")):
        client = CLIENTS[style, role][form]()
        key = f"empty-{form}-{style}-{role}".encode()
        reference = shared.orb.activate(client, key)
        operation = f"connect_{'' if form == 'any' else form + '_'}{style}_{role}"
        with pytest.raises(Channels.ChannelNotFound):
            getattr(domain, operation)(reference)
        shared.orb.deactivate(key)
    with pytest.raises(CORBA.BAD_PARAM):
        domain.add_channel(None)
    domain.destroy()
