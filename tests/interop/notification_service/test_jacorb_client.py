"""JacORB's client library as supplier and consumer of our service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.cosnotification.codec import event_from_orb
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.references import resolve
from adapters.cosnotification.stubs import CORBA, CosNotifyChannelAdmin
from tests.interop.notification_service.clients import CLIENTS, event, until
from tests.parts.availability import available
from tests.parts.jacorb import fetch
from tests.parts.jacorb_client import JacOrbClient

KINDS = ("any", "structured", "sequence")


@pytest.fixture
def java(service: tuple[LocalOrb, str]) -> Iterator[JacOrbClient]:
    available(fetch)
    with JacOrbClient(Path(service[1]).read_text().strip()) as client:
        yield client


def expected(number: int) -> str:
    return f"jacorb/Alarm n={number} source=Zürich | body {number}"


def test_every_kind_of_supplier_reaches_every_kind_of_consumer(java: JacOrbClient) -> None:
    for kind in KINDS:
        java.ask("consume", style="push", kind=kind)
        java.ask("consume", style="pull", kind=kind)
        java.ask("supply", kind=kind)
    java.ask("push", kind="structured", **{"from": 1, "to": 3})
    java.ask("push", kind="sequence", **{"from": 3, "to": 4})
    java.ask("push", kind="any", **{"from": 4, "to": 5})
    structured = [*map(expected, (1, 2, 3, 1003)), "/%ANY | any 4"]
    untyped = [*map(expected, (1, 2, 3, 1003)), "any 4"]
    until(lambda: len(java.ask("got")["texts"]) == 15)
    got = java.ask("got")["texts"]
    for kind in KINDS:
        mine = [text.partition(": ")[2] for text in got if text.startswith(f"{kind}: ")]
        assert mine == (untyped if kind == "any" else structured)
    assert java.ask("pull", style="pull", kind="sequence")["texts"] == structured
    assert java.ask("pull", style="pull", kind="sequence")["texts"] == []
    for kind, texts in (("structured", structured), ("any", untyped)):
        pulled = [java.ask("pull", style="pull", kind=kind)["texts"] for _ in range(6)]
        assert pulled == [*([text] for text in texts), []]


def test_filters_on_either_side(java: JacOrbClient) -> None:
    java.ask("consume", style="pull", kind="sequence", filter="$n > 11 and 'rich' ~ $source")
    java.ask("supply", kind="structured", filter="$n < 13")
    java.ask("push", kind="structured", **{"from": 10, "to": 20})
    assert java.ask("pull", style="pull", kind="sequence")["texts"] == [expected(12)]


def test_with_our_clients_at_the_other_end_and_until_somebody_leaves(
    java: JacOrbClient, service: tuple[LocalOrb, str]
) -> None:
    orb, where = service
    factory = resolve(orb, where, CosNotifyChannelAdmin.EventChannelFactory, 5000)
    channel = factory.get_event_channel(0)
    admin = channel._get_default_consumer_admin()
    proxy = admin.obtain_notification_push_supplier(CosNotifyChannelAdmin.STRUCTURED_EVENT)[0]
    proxy = proxy._narrow(CosNotifyChannelAdmin.StructuredProxyPushSupplier)
    ours = CLIENTS["push", "consumer"]["structured"]()
    proxy.connect_structured_push_consumer(orb.activate(ours, b"beside-jacorb"))
    java.ask("supply", kind="structured")
    java.ask("push", kind="structured", **{"from": 30, "to": 40})
    until(lambda: len(ours.got) == 10)
    assert ours.numbers == list(range(30, 40))
    model = event_from_orb(ours.got[0])
    assert (model.domain_name, model.filterable_data[1].value) == ("jacorb", "Zürich")

    java.ask("consume", style="push", kind="structured")
    supplier = channel._get_default_supplier_admin().obtain_notification_push_consumer(
        CosNotifyChannelAdmin.STRUCTURED_EVENT
    )[0]
    supplier = supplier._narrow(CosNotifyChannelAdmin.StructuredProxyPushConsumer)
    supplier.connect_structured_push_supplier(None)
    supplier.push_structured_event(event(50))
    until(lambda: java.ask("got")["texts"] == ["structured: d/t n=50 | ?"])
    java.ask("disconnect", what="pushstructured")
    java.ask("disconnect", what="supplystructured")
    supplier.push_structured_event(event(51))
    until(lambda: ours.numbers[-1] == 51)
    assert java.ask("got")["texts"] == ["structured: d/t n=50 | ?"]
    assert java.ask("disconnected")["count"] == 0, "who disconnects is not told so"
    proxy.disconnect_structured_push_supplier()
    with pytest.raises(CORBA.OBJECT_NOT_EXIST):
        proxy.disconnect_structured_push_supplier()
