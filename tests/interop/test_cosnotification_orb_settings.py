"""Settings of the ORB: what passes within its limits, and what waits, or is refused, beyond. Each with the default beside it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from adapters.base import Confirmation, DeadLetterError, Outgoing
from adapters.cosnotification.codec import event_to_orb
from adapters.cosnotification.ior import decode_ior
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.service.host import ServiceHost
from adapters.cosnotification.settings import (
    CosNotificationChannel,
    CosNotificationEndpoint,
    OrbOverrides,
    OrbSettings,
)
from adapters.cosnotification.sink import CosNotificationSink
from adapters.cosnotification.source import CosNotificationSource
from adapters.cosnotification.stubs import CORBA
from mappings import idl_types as idl
from mappings.model import Property, StructuredEvent

PATIENCE_SECS = 20.0
A_WHILE_SECS = 1.0
RELIABLE = (Property("EventReliability", idl.SHORT, 1),)


@pytest.fixture(scope="module")
def local() -> Iterator[LocalOrb]:
    local = LocalOrb()
    local.start()
    yield local
    local.stop()


@pytest.fixture
def host(local: LocalOrb) -> Iterator[ServiceHost]:
    host = ServiceHost(local)
    host.start()
    yield host
    host.stop()


@contextmanager
def gateway(**limits: Any) -> Iterator[Orb]:
    """With limits that an endpoint sets for its own ORB."""
    orb = Orb(OrbOverrides.model_validate(limits).over(OrbSettings()))
    orb.start()
    try:
        yield orb
    finally:
        orb.stop()


def ends(orb: Orb, host: ServiceHost, kind: Any, count: int = 1, **more: Any) -> list[Any]:
    endpoint = CosNotificationEndpoint(type="cosnotification", factory=host.factory_ior)
    channel = CosNotificationChannel.model_validate({"endpoint": "peer", "channel": 0, **more})
    made = [kind(orb, endpoint, channel) for _ in range(count)]
    for end in made:
        end.connect()
    return made


def consumer_of(host: ServiceHost) -> Any:
    (admin,) = [admin for id_, admin in host.channels[0]._consumer_admins.items() if id_ != 0]
    (proxy,) = admin.proxies
    return proxy._consumer


@pytest.mark.parametrize(("limits", "at_once"), [({}, {6}), ({"max_connections": 1, "server_threads": 2}, {2, 3})])
def test_calls_beyond_the_threads_wait_for_one(host: ServiceHost, limits: dict[str, int], at_once: set[int]) -> None:
    """Six pushes that are held, each over a connection of its own: one has a thread of its own, two share the two. (Without a
    doorway: what that holds takes no thread.)"""
    with gateway(code_set="ISO-8859-1", **limits) as orb, ThreadPoolExecutor(6) as peers:
        (source,) = ends(orb, host, CosNotificationSource, hold_ms=int(PATIENCE_SECS * 1000))
        consumer = consumer_of(host)
        pushes = []
        for n in range(6):
            event = event_to_orb(StructuredEvent("d", "t", f"n{n}", RELIABLE))
            pushes.append(peers.submit(consumer.push_structured_event, event))
        got: list[Any] = []
        until = time.monotonic() + A_WHILE_SECS
        while time.monotonic() < until:
            got += source.receive(6, 0.1)
        assert len(got) in at_once
        while not all(push.done() for push in pushes):
            source.acknowledge(got)
            got = source.receive(6, 0.1)
        source.close()


@pytest.mark.parametrize(("said", "text", "beyond"), [("ISO-8859-1", "Zürich", "3 €"), ("UTF-8", "Zürich: 3 €", None)])
def test_references_say_the_code_set_and_text_within_it_travels(
    host: ServiceHost, local: LocalOrb, said: str, text: str, beyond: str | None
) -> None:
    """Erlang's orber talks to nobody who does not have its own. This peer has UTF-8 alone, and that is agreed on; but the library
    refuses what it cannot write in its own."""
    with gateway(code_set=said) as orb:
        (source,), (sink,) = ends(orb, host, CosNotificationSource), ends(orb, host, CosNotificationSink)
        consumer = consumer_of(host)
        code_sets = decode_ior(local.to_string(consumer)).profiles[0].code_sets
        assert code_sets is not None
        assert code_sets.native == said
        event = StructuredEvent("d", "t", text)
        assert sink.send([Outgoing(event, "1")]).result(PATIENCE_SECS) == ()
        (delivery,) = source.receive(1, PATIENCE_SECS)
        assert delivery.payload == event
        if beyond is not None:
            with pytest.raises(CORBA.DATA_CONVERSION):
                consumer.push_structured_event(event_to_orb(StructuredEvent("d", "t", beyond)))
        sink.close()
        source.close()


@pytest.mark.parametrize(("limits", "waits"), [({}, False), ({"connections_per_peer": 1}, True)])
def test_calls_to_a_peer_beyond_its_connections_wait_for_one(
    host: ServiceHost, limits: dict[str, int], waits: bool
) -> None:
    hanging, go_on = threading.Event(), threading.Event()

    def take(notification: Any) -> None:
        if notification.header.fixed_header.event_name == "hangs":
            hanging.set()
            go_on.wait(PATIENCE_SECS)

    host.channels[0].hub.send = take  # type: ignore[method-assign]
    with gateway(**limits) as orb:
        first, second = ends(orb, host, CosNotificationSink, 2)
        held = push(first, "hangs")
        assert hanging.wait(PATIENCE_SECS)
        other = push(second, "other")
        try:
            if waits:
                with pytest.raises(TimeoutError):
                    other.result(A_WHILE_SECS)
            else:
                assert other.result(PATIENCE_SECS) == ()
            assert not held.done()
        finally:
            go_on.set()
        assert (held.result(PATIENCE_SECS), other.result(PATIENCE_SECS)) == ((), ())
        first.close()
        second.close()


def push(sink: CosNotificationSink, name: str, *data: Property) -> Confirmation:
    return sink.send([Outgoing(StructuredEvent("d", "t", name, (), data), name)])


@pytest.mark.parametrize(("limits", "passes"), [({}, True), ({"max_message_bytes": 8192}, False)])
def test_an_event_beyond_the_size_of_a_message_is_a_dead_letter(
    host: ServiceHost, limits: dict[str, int], passes: bool
) -> None:
    with gateway(**limits) as orb:
        (sink,) = ends(orb, host, CosNotificationSink)
        large = Property("n", idl.Sequence(idl.OCTET), b"x" * 10_000)
        refusals = push(sink, "large", large).result(PATIENCE_SECS)
        assert [type(refusal.error) for refusal in refusals] == ([] if passes else [DeadLetterError])
        assert push(sink, "small").result(PATIENCE_SECS) == ()
        sink.close()


BOX = idl.ValueBox("RMI:com.acme.Note:0123456789ABCDEF:0000000000000001", "Note", idl.WString(0))
BOXED = StructuredEvent("d", "t", "boxed", (), (Property("note", BOX, "a\u20ac"),))


@pytest.mark.parametrize("known", [True, False])
def test_a_value_box_is_read_where_its_id_is_known(host: ServiceHost, known: bool) -> None:
    """In a process that never sent one, and without a doorway: only the settings can tell the ORB library of its id."""
    with gateway(bidirectional=True, **({"value_boxes": [BOX.id]} if known else {})) as orb:
        (source,) = ends(orb, host, CosNotificationSource)
        if known:
            consumer_of(host).push_structured_event(event_to_orb(BOXED))
        else:
            with pytest.raises(CORBA.MARSHAL):
                consumer_of(host).push_structured_event(event_to_orb(BOXED))
        assert [delivery.payload for delivery in source.receive(1, PATIENCE_SECS if known else 0.2)] == [BOXED] * known
        source.close()


def test_through_the_doorway_a_value_box_needs_no_setting(host: ServiceHost) -> None:
    with gateway() as orb:
        (source,) = ends(orb, host, CosNotificationSource)
        consumer_of(host).push_structured_event(event_to_orb(BOXED))
        assert [delivery.payload for delivery in source.receive(1, PATIENCE_SECS)] == [BOXED]
        source.close()
