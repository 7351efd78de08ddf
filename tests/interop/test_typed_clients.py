"""Typed source and sink at a typed channel of a service in another process; the far clients have compiled stubs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from adapters.base import DeadLetterError, Delivery, Outgoing, ReconnectError, StopError
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.sink import CosNotificationSink
from adapters.cosnotification.source import CosNotificationSource
from mappings import event_forms
from mappings.idl_types import LONG, LONGLONG, SHORT, STRING
from mappings.model import Property, StructuredEvent
from tests.contract.wires.cosnotification import Peer
from tests.contract.wires.cosnotification_peer import PLANT
from tests.interop.notification_service.clients import connect, event, until
from tests.interop.notification_service.test_typed import CALLS, EVENTS, plainly, supply_all, typed
from tests.interop.notification_service.typed_clients import TypedChannel

PATIENCE_SECS = 20.0
Style = Literal["push", "pull"]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Orb, LocalOrb, Peer]]:
    orb, local = Orb(), LocalOrb()
    orb.start()
    local.start()
    peer = Peer(Path(tmp_path_factory.mktemp("typed")))
    peer.start()
    yield orb, local, peer
    peer.kill()
    local.stop()
    orb.stop()


class Ends:
    """A channel of its own, and our ends at it."""

    def __init__(self, orb: Orb, local: LocalOrb, peer: Peer) -> None:
        self._orb = orb
        self.endpoint = CosNotificationEndpoint(type="cosnotification", factory=str(peer.ior))
        self.channel = TypedChannel(local, str(peer.ior))
        self._named: dict[str, Any] = {"channel": self.channel.id}
        self._made: list[CosNotificationSource | CosNotificationSink] = []

    def as_plain_clients(self) -> None:
        """From now on our ends know nothing of a Notification Service: the channel is one of CosTypedEvent."""
        self.endpoint = CosNotificationEndpoint(type="cosnotification", service="event")
        self._named = {"reference": self.channel.orb.to_string(self.channel.reference)}

    def settings(self, style: Style, **other: Any) -> CosNotificationChannel:
        options: dict[str, Any] = {"interface": "Plant::Alarms", "idl": [str(PLANT)], "poll_interval_ms": 10, **other}
        return CosNotificationChannel(
            endpoint="peer", events="typed", style=style, hold_ms=200, **self._named, **options
        )

    def source(self, style: Style, **other: Any) -> CosNotificationSource:
        source = CosNotificationSource(self._orb, self.endpoint, self.settings(style, **other))
        self._made.append(source)
        source.connect()
        return source

    def sink(self, style: Style) -> CosNotificationSink:
        sink = CosNotificationSink(self._orb, self.endpoint, self.settings(style))
        self._made.append(sink)
        sink.connect()
        return sink

    def close(self) -> None:
        for end in self._made:
            end.close()
        self.channel.close()


@pytest.fixture
def ends(stage: tuple[Orb, LocalOrb, Peer]) -> Iterator[Ends]:
    ends = Ends(*stage)
    yield ends
    ends.close()


@pytest.fixture(params=["notification", "event"])
def either(request: pytest.FixtureRequest, ends: Ends) -> Ends:
    """As clients of a Notification Service, or of a plain typed Event Service."""
    if request.param == "event":
        ends.as_plain_clients()
    return ends


def received(source: CosNotificationSource, count: int) -> list[Delivery]:
    got: list[Delivery] = []
    deadline = time.monotonic() + PATIENCE_SECS
    while len(got) < count and time.monotonic() < deadline:
        got += source.receive(count - len(got), 0.5)
    source.acknowledge(got)
    return got


def by_operation(events: Any) -> list[Any]:
    return sorted(events, key=repr)


STRUCTURED = [event_forms.to_structured(event) for event in EVENTS]
STYLES: tuple[Style, ...] = ("push", "pull")


@pytest.mark.parametrize("style", STYLES)
def test_operations_arrive_as_typed_events(either: Ends, style: Style) -> None:
    source = either.source(style)
    supply_all(either.channel.alarms())
    deliveries = received(source, len(EVENTS))
    assert by_operation(delivery.payload for delivery in deliveries) == by_operation(STRUCTURED)
    assert not any(delivery.persistent or delivery.error for delivery in deliveries)


@pytest.mark.parametrize("style", STYLES)
def test_typed_events_become_operations(either: Ends, style: Style) -> None:
    consumer = either.channel.typed_consumer()
    sink = either.sink(style)
    batch = [Outgoing(event, str(n)) for n, event in enumerate(STRUCTURED)]
    assert sink.send(batch).result(PATIENCE_SECS) == ()
    until(lambda: len(consumer.calls) == len(EVENTS))
    assert plainly(consumer.calls) == plainly(CALLS), "in order, also of different operations"


def test_events_that_spell_no_operation_do_not_reach_a_typed_consumer(ends: Ends) -> None:
    source = ends.source("push")
    ends.channel.supplier("structured").push_structured_event(event(1))
    ends.channel.alarms().named("x")
    (delivery,) = received(source, 1)
    assert delivery.payload == STRUCTURED[0]


def test_parameters_are_matched_by_name_or_else_by_place(ends: Ends) -> None:
    consumer = ends.channel.typed_consumer()
    raised = STRUCTURED[1]
    operation, *rest = raised.filterable_data
    mixed = StructuredEvent("", "%TYPED", "", (), (operation, *reversed(rest)))
    nameless = StructuredEvent("d", "t", "", (), (operation, *(each._replace(name="p") for each in rest)))
    sink = ends.sink("push")
    assert sink.send([Outgoing(mixed, "1"), Outgoing(nameless, "2")]).result(PATIENCE_SECS) == ()
    until(lambda: len(consumer.calls) == 2)
    assert plainly(consumer.calls) == plainly([CALLS[1]]) * 2


@pytest.mark.parametrize("type_", [SHORT, LONGLONG])
def test_a_value_of_another_type_goes_where_it_fits(ends: Ends, type_: Any) -> None:
    consumer = ends.channel.typed_consumer()
    cleared = event_forms.to_structured(typed("cleared", Property("number", type_, 7)))
    bare = event_forms.to_structured(
        typed("raised", *STRUCTURED[1].filterable_data[1:4], Property("detail", STRING, "hot"))
    )
    assert ends.sink("push").send([Outgoing(cleared, "1"), Outgoing(bare, "2")]).result(PATIENCE_SECS) == ()
    until(lambda: len(consumer.calls) == 2)
    assert plainly(consumer.calls) == [("cleared", [7]), plainly([CALLS[1]])[0]]


WRONG = {
    "no operation at all": StructuredEvent("d", "t", "e"),
    "an operation that is a number": StructuredEvent("", "%TYPED", "", (), (Property("operation", LONG, 1),)),
    "an unknown operation": event_forms.to_structured(typed("unheard")),
    "too few parameters": event_forms.to_structured(typed("cleared")),
    "too many": event_forms.to_structured(typed("cleared", Property("number", LONG, 1), Property("x", LONG, 1))),
    "a number that does not fit": event_forms.to_structured(typed("cleared", Property("number", LONGLONG, 2**40))),
    "text for a number": event_forms.to_structured(typed("cleared", Property("number", STRING, "7"))),
}


@pytest.mark.parametrize("style", STYLES)
def test_what_spells_no_operation_is_a_dead_letter(either: Ends, style: Style) -> None:
    consumer = either.channel.typed_consumer()
    good = event_forms.to_structured(EVENTS[0])
    batch = [*(Outgoing(event, name) for name, event in WRONG.items()), Outgoing(good, "good")]
    refusals = either.sink(style).send(batch).result(PATIENCE_SECS)
    assert [(refusal.index, type(refusal.error), refusal.error.code) for refusal in refusals] == [
        (index, DeadLetterError, "COR-TYPED") for index in range(len(WRONG))
    ]
    until(lambda: consumer.calls)
    assert plainly(consumer.calls) == plainly(CALLS[:1])


def test_a_supplier_by_pull_gives_one_operation_at_a_time(ends: Ends) -> None:
    """And so all of them in order."""
    consumer = ends.channel.typed_consumer()
    sink = ends.sink("pull")
    events = [STRUCTURED[n % len(STRUCTURED)] for n in range(25)]
    assert sink.send([Outgoing(event, str(n)) for n, event in enumerate(events)]).result(PATIENCE_SECS) == ()
    until(lambda: len(consumer.calls) == 25)
    assert plainly(consumer.calls) == plainly(CALLS) * 5


def test_an_interface_that_the_peer_does_not_know(either: Ends, tmp_path: Path) -> None:
    (tmp_path / "other.idl").write_text("interface Other { void op(); };")
    with pytest.raises(ReconnectError) as caught:
        either.source("push", interface="Other", idl=[str(tmp_path / "other.idl")])
    assert caught.value.code == "COR-INTERFACE"


def test_idl_that_cannot_be_read(ends: Ends, tmp_path: Path) -> None:
    with pytest.raises(StopError) as caught:
        ends.source("push", idl=[str(tmp_path / "none.idl")])
    assert caught.value.code == "COR-IDL"


def test_nothing_of_ours_stays_at_the_peer(ends: Ends) -> None:
    for style in STYLES:
        ends.source(style).close()
        ends.sink(style).close()
    assert ends.channel.reference.get_all_consumeradmins() == [0]
    assert ends.channel.reference.get_all_supplieradmins() == [0]


def test_the_stock_of_a_supplier_is_pulled(ends: Ends) -> None:
    source = ends.source("pull")
    supplier = ends.channel.client("pull", "supplier")
    supplier.typed.stock["named"].extend([(str(n),) for n in range(30)])
    connect(
        ends.channel.proxy("pull", "supplier", "typed"), "pull", "supplier", "typed", ends.channel.activate(supplier)
    )
    names = [delivery.payload.filterable_data[1].value for delivery in received(source, 30)]  # type: ignore[union-attr]
    assert names == [str(n) for n in range(30)]
