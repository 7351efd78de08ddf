"""Untyped and sequence clients, through a channel of a few lines that passes on whatever it is pushed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Literal

import pytest

from adapters.base import DeadLetterError, Delivery, Outgoing
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.sink import CosNotificationSink
from adapters.cosnotification.source import CosNotificationSource
from adapters.cosnotification.stubs import CORBA, CosNotifyChannelAdmin, CosNotifyChannelAdmin__POA
from mappings.idl_types import LONG, STRING, Sequence
from mappings.known_types import STRUCTURED_EVENT
from mappings.model import Any_, Property, StructuredEvent

PATIENCE_SECS = 20.0


class Channel(CosNotifyChannelAdmin__POA.EventChannel):  # type: ignore[misc]
    """The whole service in one: its admins and proxies know only how to pass on."""

    def __init__(self, orb: LocalOrb) -> None:
        self.consumers: list[Any] = []
        self.calls: list[Any] = []
        self.refuse_sequences = False
        channel = self

        class AnyIn(CosNotifyChannelAdmin__POA.ProxyPushConsumer):  # type: ignore[misc]
            def connect_any_push_supplier(self, push_supplier: Any) -> None: ...
            def disconnect_push_consumer(self) -> None: ...
            def push(self, data: Any) -> None:
                channel.calls.append(data)
                for consumer in channel.consumers:
                    consumer.push(data)

        class AnyOut(CosNotifyChannelAdmin__POA.ProxyPushSupplier):  # type: ignore[misc]
            def connect_any_push_consumer(self, push_consumer: Any) -> None:
                channel.consumers.append(push_consumer)

            def disconnect_push_supplier(self) -> None: ...

        class SequenceIn(CosNotifyChannelAdmin__POA.SequenceProxyPushConsumer):  # type: ignore[misc]
            def connect_sequence_push_supplier(self, push_supplier: Any) -> None: ...
            def disconnect_sequence_push_consumer(self) -> None: ...
            def push_structured_events(self, notifications: Any) -> None:
                channel.calls.append(len(notifications))
                if any(event.header.fixed_header.event_name == "bad" for event in notifications):
                    raise CORBA.MARSHAL(0, CORBA.COMPLETED_NO)
                for consumer in channel.consumers:
                    consumer.push_structured_events(notifications)

        class SequenceOut(CosNotifyChannelAdmin__POA.SequenceProxyPushSupplier):  # type: ignore[misc]
            def connect_sequence_push_consumer(self, push_consumer: Any) -> None:
                channel.consumers.append(push_consumer)

            def disconnect_sequence_push_supplier(self) -> None: ...

        ins = {CosNotifyChannelAdmin.ANY_EVENT: AnyIn, CosNotifyChannelAdmin.SEQUENCE_EVENT: SequenceIn}
        outs = {CosNotifyChannelAdmin.ANY_EVENT: AnyOut, CosNotifyChannelAdmin.SEQUENCE_EVENT: SequenceOut}

        class Suppliers(CosNotifyChannelAdmin__POA.SupplierAdmin):  # type: ignore[misc]
            def obtain_notification_push_consumer(self, ctype: Any) -> tuple[Any, int]:
                return orb.activate(ins[ctype](), b"in"), 1

            def destroy(self) -> None: ...

        class Consumers(CosNotifyChannelAdmin__POA.ConsumerAdmin):  # type: ignore[misc]
            def obtain_notification_push_supplier(self, ctype: Any) -> tuple[Any, int]:
                return orb.activate(outs[ctype](), b"out"), 1

            def destroy(self) -> None: ...

        class Factory(CosNotifyChannelAdmin__POA.EventChannelFactory):  # type: ignore[misc]
            def get_event_channel(self, id_: int) -> Any:
                return channel.reference

        self.suppliers = orb.activate(Suppliers(), b"suppliers")
        self.admin = orb.activate(Consumers(), b"consumers")
        self.reference = orb.activate(self, b"channel")
        self.factory = orb.to_string(orb.activate(Factory(), b"factory"))

    def new_for_consumers(self, op: Any) -> tuple[Any, int]:
        return self.admin, 1

    def new_for_suppliers(self, op: Any) -> tuple[Any, int]:
        return self.suppliers, 1


@pytest.fixture
def channel() -> Iterator[Channel]:
    local = LocalOrb()
    local.start()
    yield Channel(local)
    local.stop()


@pytest.fixture
def ends(
    request: pytest.FixtureRequest, channel: Channel
) -> Iterator[tuple[CosNotificationSource, CosNotificationSink]]:
    orb = Orb()
    orb.start()
    kind: Literal["any", "sequence"] = request.param
    endpoint = CosNotificationEndpoint(type="cosnotification", factory=channel.factory)
    settings = CosNotificationChannel(endpoint="peer", channel=0, events=kind)
    source, sink = CosNotificationSource(orb, endpoint, settings), CosNotificationSink(orb, endpoint, settings)
    source.connect()
    sink.connect()
    yield source, sink
    sink.close()
    source.close()
    orb.stop()


def received(source: CosNotificationSource, count: int) -> list[Delivery]:
    got: list[Delivery] = []
    deadline = time.monotonic() + PATIENCE_SECS
    while len(got) < count and time.monotonic() < deadline:
        got += source.receive(count - len(got), 0.5)
    source.acknowledge(got)
    return got


def event(name: str, **header: int) -> StructuredEvent:
    fields = tuple(Property(key, LONG, value) for key, value in header.items())
    return StructuredEvent("d", "t", name, fields, (Property("n", STRING, name),))


@pytest.mark.parametrize("ends", ["any"], indirect=True)
def test_an_untyped_event_keeps_its_any(
    ends: tuple[CosNotificationSource, CosNotificationSink], channel: Channel
) -> None:
    source, sink = ends
    content = Any_(Sequence(LONG), [1, 2, 3])
    untyped = StructuredEvent("", "%ANY", "", remainder_of_body=content)
    assert sink.send([Outgoing(untyped, "1")]).result(PATIENCE_SECS) == ()
    assert channel.calls[0].value() == [1, 2, 3], "unwrapped: RULES.md section 2"
    (delivery,) = received(source, 1)
    assert delivery.payload == untyped
    assert not delivery.persistent


@pytest.mark.parametrize("ends", ["any"], indirect=True)
def test_a_structured_event_travels_inside_an_any(ends: tuple[CosNotificationSource, CosNotificationSink]) -> None:
    source, sink = ends
    assert sink.send([Outgoing(event("x"), "1")]).result(PATIENCE_SECS) == ()
    (delivery,) = received(source, 1)
    assert isinstance(delivery.payload, StructuredEvent)
    assert delivery.payload.type_name == "%ANY"
    assert delivery.payload.remainder_of_body.type == STRUCTURED_EVENT


@pytest.mark.parametrize("ends", ["sequence"], indirect=True)
def test_a_batch_is_one_sequence(ends: tuple[CosNotificationSource, CosNotificationSink], channel: Channel) -> None:
    source, sink = ends
    events = [event(f"n{n}") for n in range(50)]
    assert sink.send([Outgoing(e, e.event_name) for e in events]).result(PATIENCE_SECS) == ()
    assert channel.calls == [50]
    assert [delivery.payload for delivery in received(source, 50)] == events


@pytest.mark.parametrize("ends", ["sequence"], indirect=True)
def test_one_bad_event_of_a_sequence_is_found(
    ends: tuple[CosNotificationSource, CosNotificationSink], channel: Channel
) -> None:
    source, sink = ends
    names = ["n0", "bad", "n2"]
    refusals = sink.send([Outgoing(event(name), name) for name in names]).result(PATIENCE_SECS)
    assert [(refusal.index, type(refusal.error)) for refusal in refusals] == [(1, DeadLetterError)]
    assert channel.calls == [3, 1, 1, 1]
    assert [d.payload for d in received(source, 2)] == [event("n0"), event("n2")]


@pytest.mark.parametrize("ends", ["sequence"], indirect=True)
def test_a_sequence_with_a_persistent_event_waits_for_all_of_it(
    ends: tuple[CosNotificationSource, CosNotificationSink], channel: Channel
) -> None:
    source, sink = ends
    confirmation = sink.send([Outgoing(event("a"), "a"), Outgoing(event("b", EventReliability=1), "b")])
    deliveries = source.receive(2, PATIENCE_SECS)
    assert [delivery.persistent for delivery in deliveries] == [False, True]
    assert not confirmation.done()
    source.acknowledge(deliveries)
    assert confirmation.result(PATIENCE_SECS) == ()
