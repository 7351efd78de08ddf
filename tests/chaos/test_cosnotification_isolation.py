"""The ORB's process dies, hangs, is killed by what a peer or we ourselves send: the gateway lives, nothing accepted is lost."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from adapters.base import DeadLetterError, Delivery, Outgoing, ReconnectError, StopError
from adapters.cosnotification import orb as orb_module
from adapters.cosnotification import shims
from adapters.cosnotification.codec import event_to_orb
from adapters.cosnotification.descriptors import type_code
from adapters.cosnotification.ior import decode_ior
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.orb import Orb, Worker
from adapters.cosnotification.references import resolve
from adapters.cosnotification.service.host import ServiceHost
from adapters.cosnotification.service.service import NotificationService
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint, OrbSettings
from adapters.cosnotification.sink import CosNotificationSink
from adapters.cosnotification.source import CosNotificationSource
from adapters.cosnotification.stubs import CORBA, CosNotifyChannelAdmin, omniORB
from mappings import idl_types as idl
from mappings.model import Property, StructuredEvent, UnionValue

PATIENCE_SECS = 30.0


@pytest.fixture
def orb() -> Iterator[Orb]:
    orb = Orb()
    orb.start()
    yield orb
    orb.stop()


@pytest.fixture
def orb_without_doorway() -> Iterator[Orb]:
    """What peers push goes through the library."""
    orb = Orb(OrbSettings(bidirectional=True))
    orb.start()
    yield orb
    orb.stop()


@pytest.fixture
def host() -> Iterator[ServiceHost]:
    """The peer, in this process: so that a test can send what no encoder of ours would."""
    local = LocalOrb()
    local.start()
    host = ServiceHost(local)
    host.start()
    yield host
    host.stop()
    local.stop()


def endpoint(host: ServiceHost) -> CosNotificationEndpoint:
    return CosNotificationEndpoint(type="cosnotification", factory=host.factory_ior, ping_interval_secs=1.0)


CHANNEL = CosNotificationChannel(endpoint="peer", channel=0)


def event(number: int) -> StructuredEvent:
    return StructuredEvent("d", "t", f"n{number}", (), (Property("n", idl.LONG, number),))


def crashing_event() -> Any:
    """A union whose TypeCode begins with the default arm: the library writes it, and dies when it reads it."""
    poison = event_to_orb(event(0))
    label, arm = (0, "otherwise", (18, 0)), (1, "one", 3)
    union = shims.createUnknownUnion("IDL:Crash:1.0", 0, (label, arm))
    descriptor = (16, union, "IDL:Crash:1.0", "Crash", 3, 0, (label, arm), label, {1: arm})
    poison.remainder_of_body = CORBA.Any(CORBA.TC_long, 0)
    poison.remainder_of_body._t = type_code(descriptor)
    poison.remainder_of_body._v = union(1, 5)
    return poison


def event_with_a_reference(host: ServiceHost) -> Any:
    """An object reference in an Any, whose TypeCode names an interface that the library does not know, while the reference itself
    names one that it does: what some ORBs make of any reference to Object."""
    poison = event_to_orb(event(0))
    poison.remainder_of_body = CORBA.Any(type_code((14, "IDL:Nobody/Knows:1.0", "Knows")), host.channels[0].reference)
    return poison


def consumer_of(host: ServiceHost) -> Any:
    """Our servant, as the peer sees it."""
    (admin,) = [admin for id_, admin in host.channels[0]._consumer_admins.items() if id_ != 0]
    (proxy,) = admin.proxies
    return proxy._consumer


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def reconnect(end: CosNotificationSource | CosNotificationSink) -> None:
    end.close()
    deadline = time.monotonic() + PATIENCE_SECS
    while True:
        try:
            return end.connect()
        except ReconnectError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def receive_until_it_fails(source: CosNotificationSource) -> tuple[list[Delivery], ReconnectError]:
    got: list[Delivery] = []
    deadline = time.monotonic() + PATIENCE_SECS
    while time.monotonic() < deadline:
        try:
            got += source.receive(100, 0.5)
        except ReconnectError as error:
            return got, error
    raise AssertionError("the source never noticed")


def numbers(deliveries: list[Delivery]) -> list[int]:
    return [delivery.payload.filterable_data[0].value for delivery in deliveries]  # type: ignore[union-attr]


def worker_pid(orb: Orb) -> int:
    assert orb._worker is not None
    return orb._worker.process.pid


@pytest.mark.parametrize("poison", ["union", "reference"])
def test_what_would_crash_the_orb_arrives_where_it_is_read_past_it(orb: Orb, host: ServiceHost, poison: str) -> None:
    crashing = crashing_event() if poison == "union" else event_with_a_reference(host)
    source = CosNotificationSource(orb, endpoint(host), CHANNEL)
    source.connect()
    try:
        consumer_of(host).push_structured_event(crashing)
        (delivery,) = source.receive(1, PATIENCE_SECS)
        assert isinstance(delivery.payload, StructuredEvent)
        value = delivery.payload.remainder_of_body.value
        if poison == "union":
            assert value == UnionValue(1, 5)
        else:
            assert decode_ior(value).profiles == decode_ior(reference_of(host)).profiles
        assert orb.crashes == 0
    finally:
        source.close()


def reference_of(host: ServiceHost) -> str:
    return str(omniORB.orb.object_to_string(host.channels[0].reference))


@pytest.mark.parametrize("poison", ["union", "reference"])
def test_an_event_that_crashes_the_orb_costs_no_other_event(
    orb_without_doorway: Orb, host: ServiceHost, poison: str
) -> None:
    orb = orb_without_doorway
    crashing = crashing_event() if poison == "union" else event_with_a_reference(host)
    source = CosNotificationSource(orb, endpoint(host), CHANNEL)
    source.connect()
    try:
        consumer = consumer_of(host)
        for n in range(5):
            consumer.push_structured_event(event_to_orb(event(n)))  # accepted
        with pytest.raises((CORBA.COMM_FAILURE, CORBA.TRANSIENT)):
            consumer.push_structured_event(crashing)
        got, error = receive_until_it_fails(source)
        assert error.code == "COR-WORKER"
        assert "SIGSEGV" in error.message
        assert numbers(got) == list(range(5))
        source.acknowledge(got[:3])
        reconnect(source)
        again = source.receive(10, PATIENCE_SECS)
        assert numbers(again) == [3, 4]
        assert all(delivery.redelivered for delivery in again)
        source.acknowledge(again)
        consumer_of(host).push_structured_event(event_to_orb(event(5)))
        assert numbers(source.receive(10, PATIENCE_SECS)) == [5]
        assert orb.crashes == 1
    finally:
        source.close()


def test_what_a_dead_worker_left_at_the_peer_is_removed(orb: Orb, host: ServiceHost) -> None:
    source = CosNotificationSource(orb, endpoint(host), CHANNEL)
    sink = CosNotificationSink(orb, endpoint(host), CHANNEL)
    source.connect()
    sink.connect()
    try:
        os.kill(worker_pid(orb), signal.SIGKILL)
        receive_until_it_fails(source)
        reconnect(source)
        reconnect(sink)
        assert len(host.channels[0].get_all_consumeradmins()) == 2, "the default admin and ours"
        assert len(host.channels[0].get_all_supplieradmins()) == 2
    finally:
        source.close()
        sink.close()


def test_a_worker_that_dies_fails_what_was_sent_and_comes_back(orb: Orb, host: ServiceHost) -> None:
    stuck: list[bool] = []
    host.channels[0].hub.send = lambda _: stuck.append(True) or time.sleep(0.5)  # type: ignore[method-assign,func-returns-value]
    sink = CosNotificationSink(orb, endpoint(host), CHANNEL)
    sink.connect()
    try:
        confirmation = sink.send([Outgoing(event(1), "1")])
        until(lambda: stuck)
        os.kill(worker_pid(orb), signal.SIGKILL)
        with pytest.raises(ReconnectError) as caught:
            confirmation.result(PATIENCE_SECS)
        assert caught.value.code == "COR-WORKER"
        del host.channels[0].hub.send
        reconnect(sink)
        assert sink.send([Outgoing(event(1), "1")]).result(PATIENCE_SECS) == ()
    finally:
        sink.close()


def test_an_event_that_kills_the_orb_when_it_is_sent_becomes_a_dead_letter(orb: Orb, host: ServiceHost) -> None:
    taken: list[str] = []

    def kill_or_take(notification: Any) -> None:
        name = notification.header.fixed_header.event_name
        if name == "n13":
            os.kill(worker_pid(orb), signal.SIGKILL)  # it dies while it pushes this event, each time
        taken.append(name)

    host.channels[0].hub.send = kill_or_take  # type: ignore[method-assign]
    cannot_be_sent = StructuredEvent("d", "t", "nul\0")
    batch = [Outgoing(e, str(n)) for n, e in enumerate((event(1), cannot_be_sent, event(13), event(2)))]
    sink = CosNotificationSink(orb, endpoint(host), CHANNEL)
    sink.connect()
    try:
        failures = 0
        while True:
            try:
                refusals = sink.send(batch).result(PATIENCE_SECS)
                break
            except ReconnectError:
                failures += 1
                assert failures <= 2, "once to suspect the batch, once to find the event"
                reconnect(sink)
        assert [(refusal.index, type(refusal.error), refusal.error.code) for refusal in refusals] == [
            (1, DeadLetterError, "COR-MARSHAL"),  # known before the crash, and not forgotten over it
            (2, DeadLetterError, "COR-POISON"),
        ]
        assert taken.count("n2") == 1
        assert taken.count("n1") <= 2
    finally:
        sink.close()


def test_a_worker_that_hangs_is_killed_and_replaced(
    monkeypatch: pytest.MonkeyPatch, orb: Orb, host: ServiceHost
) -> None:
    monkeypatch.setattr(orb_module, "HUNG_SECS", 1.5)
    source = CosNotificationSource(orb, endpoint(host), CHANNEL)
    source.connect()
    try:
        os.kill(worker_pid(orb), signal.SIGSTOP)
        _, error = receive_until_it_fails(source)
        assert error.code == "COR-WORKER"
        monkeypatch.undo()  # the next worker may take longer than that to start, on a busy machine
        reconnect(source)
        consumer_of(host).push_structured_event(event_to_orb(event(1)))
        assert numbers(source.receive(10, PATIENCE_SECS)) == [1]
    finally:
        source.close()


def _answers(reference: Any) -> bool:
    try:
        return not reference._non_existent()
    except CORBA.COMM_FAILURE:
        return False


def test_the_embedded_service_comes_back_under_the_same_reference(orb: Orb) -> None:
    local = LocalOrb()
    local.start()
    service = NotificationService(orb, channels=2)
    service.start()
    try:
        factory = resolve(local, service.factory_ior, CosNotifyChannelAdmin.EventChannelFactory, 2000)
        channel = factory.get_event_channel(1)
        os.kill(worker_pid(orb), signal.SIGKILL)
        until(lambda: orb.crashes == 1 and orb._worker is not None)
        until(lambda: _answers(factory))  # the first call after the crash finds its connection broken
        assert factory.get_all_channels() == [0, 1]
        assert factory.get_event_channel(1)._is_equivalent(channel)
        assert channel.get_all_consumeradmins() == [0]
    finally:
        service.stop()
        local.stop()


def test_an_orb_that_cannot_have_its_address_says_so() -> None:
    first = Orb()
    first.start()
    try:
        taken = Orb(OrbSettings(listen=first._listen.listen))
        with pytest.raises(StopError) as caught:
            taken.start()
        assert caught.value.code == "COR-ORB"
        taken.stop()
    finally:
        first.stop()


def test_nothing_stays_behind(host: ServiceHost) -> None:
    orb = Orb()
    orb.start()
    pid = worker_pid(orb)
    source = CosNotificationSource(orb, endpoint(host), CHANNEL)
    source.connect()
    orb.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    source.close()
    with pytest.raises(ReconnectError):
        source.connect()


def test_whatever_the_worker_says_does_not_end_the_supervision(host: ServiceHost, orb: Orb) -> None:
    """A frame that the supervisor cannot take costs that worker, and is told; the next one serves."""
    source = CosNotificationSource(orb, endpoint(host), CHANNEL)
    source.connect()
    try:
        number, end = next(iter(orb._ends.items()))

        class Choking:
            def on_frame(self, worker: Worker, frame: tuple[Any, ...]) -> bool:
                raise LookupError("no such thing")

            def on_worker_lost(self, worker: Worker, error: ReconnectError) -> None:
                end.on_worker_lost(worker, error)

        orb._ends[number] = Choking()
        with suppress(CORBA.SystemException):  # the worker may live long enough to answer
            consumer_of(host).push_structured_event(event_to_orb(event(1)))
        got, error = receive_until_it_fails(source)
        assert got == []
        assert error.code == "COR-WORKER"
        assert "LookupError: no such thing" in error.message
        assert orb.crashes == 1
        reconnect(source)
        consumer_of(host).push_structured_event(event_to_orb(event(2)))
        assert numbers(source.receive(10, PATIENCE_SECS)) == [2]
    finally:
        source.close()
