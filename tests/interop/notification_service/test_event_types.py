"""offer_change, subscription_change and obtain_*_types over IIOP (RULES.md 1.9)."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.cosnotification.stubs import CORBA, CosNotification, CosNotifyChannelAdmin, CosNotifyComm
from tests.interop.notification_service.clients import CLIENTS, Channel, constraint, drain, event, until

MODES = CosNotifyChannelAdmin
ALL = ("", "%ALL")
A, B, C = ("d", "a"), ("d", "b"), ("d", "c")


def types(*pairs: tuple[str, str]) -> list[Any]:
    return [CosNotification.EventType(*pair) for pair in pairs]


def pairs(found: Any) -> set[tuple[str, str]]:
    return {(type_.domain_name, type_.type_name) for type_ in found}


def now(proxy: Any) -> set[tuple[str, str]]:
    obtain = getattr(proxy, "obtain_offered_types", None) or proxy.obtain_subscription_types
    return pairs(obtain(MODES.ALL_NOW_UPDATES_ON))


@pytest.mark.parametrize("form", ["any", "structured", "sequence"])
@pytest.mark.parametrize("style", ["push", "pull"])
def test_consumers_of_every_kind_hear_only_of_what_changes_the_sum(channel: Channel, style: str, form: str) -> None:
    client, proxy = channel.join(style, "consumer", form)
    one, two = channel.supplier(), channel.supplier("any")
    one.offer_change(types(A), [])
    two.offer_change(types(A, B), [])
    channel.suppliers.offer_change(types(C), [])
    one.offer_change([], types(A))  # the other still offers it
    two.disconnect_push_consumer()
    until(lambda: len(client.changes) == 4)
    assert client.changes == [({A}, set()), ({B}, set()), ({C}, set()), (set(), {A, B})]
    assert now(proxy) == {C}


@pytest.mark.parametrize("form", ["any", "structured", "sequence"])
@pytest.mark.parametrize("style", ["push", "pull"])
def test_suppliers_of_every_kind_hear_what_consumers_want(channel: Channel, style: str, form: str) -> None:
    client, proxy = channel.join(style, "supplier", form)
    assert now(proxy) == set()
    consumer = channel.puller()
    until(lambda: client.changes == [({ALL}, set())])  # one who says nothing wants everything
    consumer.subscription_change(types(A), [])
    until(lambda: len(client.changes) == 2)
    assert client.changes[1] == ({A}, {ALL})
    other = channel.puller()
    channel.consumers.subscription_change(types(B), [])
    until(lambda: len(client.changes) == 4)
    assert client.changes[2:] == [({ALL}, set()), ({B}, {ALL})]
    assert now(proxy) == {A, B}
    other.disconnect_structured_pull_supplier()
    until(lambda: len(client.changes) == 5)
    assert client.changes[4] == (set(), {B})


def test_the_types_of_filters_count(channel: Channel) -> None:
    client, proxy = channel.join("push", "supplier", "structured")
    consumer = channel.puller()
    filter_ = channel.filter(("$n > 1", [A]))
    id_ = consumer.add_filter(filter_)
    assert now(proxy) == {A}
    filter_.add_constraints([constraint(("", [B, ("", "x*")]))])
    assert now(proxy) == {A, B, ("*", "x*")}
    consumer.remove_filter(id_)
    assert now(proxy) == {ALL}
    until(lambda: client.changes and client.changes[-1] == ({ALL}, {A, B, ("*", "x*")}))


def test_the_modes(channel: Channel) -> None:
    client, proxy = channel.join("push", "consumer", "structured")
    supplier = channel.supplier()
    supplier.offer_change(types(A), [])
    until(lambda: len(client.changes) == 1)
    assert pairs(proxy.obtain_offered_types(MODES.ALL_NOW_UPDATES_OFF)) == {A}
    supplier.offer_change(types(B), [])
    assert pairs(proxy.obtain_offered_types(MODES.NONE_NOW_UPDATES_OFF)) == set()
    supplier.offer_change([], types(B))
    assert pairs(proxy.obtain_offered_types(MODES.NONE_NOW_UPDATES_ON)) == set()
    supplier.offer_change(types(C), [])
    until(lambda: len(client.changes) == 2)
    assert client.changes == [({A}, set()), ({C}, set())], "nothing of what happened while updates were off"
    assert pairs(proxy.obtain_offered_types(MODES.ALL_NOW_UPDATES_ON)) == {A, C}


def test_a_subscription_narrows_what_is_delivered(channel: Channel) -> None:
    own, admins = channel.puller(), channel.puller()
    supplier = channel.supplier()

    def send() -> None:
        for number, (domain, type_) in enumerate((A, B, C)):
            supplier.push_structured_event(event(number, domain, type_))

    send()
    assert drain(own, 3) == drain(admins, 3) == [0, 1, 2]
    own.subscription_change(types(A), [])
    channel.consumers.subscription_change(types(("d", "b*"), C), [])
    send()
    assert (drain(own, 1), drain(admins, 2)) == ([0], [1, 2])
    own.subscription_change(types(ALL), types(A))
    channel.consumers.subscription_change([], types(("d", "b*"), C))
    send()
    assert drain(own, 3) == drain(admins, 3) == [0, 1, 2]


def test_an_invalid_type_changes_nothing(channel: Channel) -> None:
    targets = [
        channel.suppliers.offer_change,
        channel.supplier().offer_change,
        channel.consumers.subscription_change,
        channel.puller().subscription_change,
    ]
    for change in targets:
        with pytest.raises(CosNotifyComm.InvalidEventType) as caught:
            change(types(A, ("telecom", "%ALL")), [])
        assert pairs([caught.value.type]) == {("telecom", "%ALL")}
    assert now(channel.proxy("push", "consumer", "any")) == set()


def test_clients_that_cannot_hear_disturb_nobody(channel: Channel) -> None:
    """One of the Event Service has no offer_change, one raises NO_IMPLEMENT, one fails."""
    plain, _ = channel.consumer("plain")

    class Deaf(CLIENTS["push", "consumer"]["structured"]):  # type: ignore[misc]
        asked = 0
        error = CORBA.NO_IMPLEMENT

        def offer_change(self, added: Any, removed: Any) -> None:
            self.asked += 1
            raise self.error(0, CORBA.COMPLETED_NO)

    deaf, failing = Deaf(), Deaf()
    failing.error = CORBA.INTERNAL
    for each in (deaf, failing):
        channel.proxy("push", "consumer", "structured").connect_structured_push_consumer(channel.activate(each))
    witness, _ = channel.consumer()
    supplier = channel.supplier()
    for pair in (A, B):
        supplier.offer_change(types(pair), [])
    supplier.push_structured_event(event(1))
    until(lambda: len(witness.changes) == 2 and all(len(each.got) == 1 for each in (plain, deaf, failing, witness)))
    assert (deaf.asked, failing.asked) == (1, 2)
