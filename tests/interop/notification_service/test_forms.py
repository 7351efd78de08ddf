"""Every kind of supplier to every kind of consumer (RULES.md 2)."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.cosnotification.codec import event_from_orb, event_to_orb
from adapters.cosnotification.decoding import any_from_orb
from adapters.cosnotification.stubs import CORBA
from mappings import event_forms
from mappings.idl_types import ANY, LONG, STRING
from mappings.model import Any_, Event, Property, StructuredEvent, UntypedEvent
from tests.interop.notification_service.clients import Channel, until

UNTYPED = [UntypedEvent(Any_(LONG, 7)), UntypedEvent(Any_(STRING, "seven"))]
STRUCTURED = [
    StructuredEvent(
        "Telecom", "Alarm", "a", (Property("Priority", LONG, 3),), (Property("x", LONG, 1),), Any_(LONG, 2)
    ),
    StructuredEvent("Finance", "Quote", "b"),
    StructuredEvent("", "%ANY", "", (), (), Any_(STRING, "wrapped")),
    StructuredEvent("", "%ANY", "", (), (), Any_(ANY, Any_(ANY, Any_(STRING, "wrapped thrice")))),
]
KINDS = ("any", "structured", "sequence", "plain")
STYLES = ("push", "pull")


def seen_by(form: str, event: Event) -> Any:
    """The pure rules say what a consumer must see; a structured event itself goes unchanged."""
    if form in ("any", "plain"):
        return event_forms.to_any(event)
    return event if isinstance(event, StructuredEvent) else event_forms.to_structured(event)


def read(form: str, value: Any) -> Any:
    return any_from_orb(value) if form in ("any", "plain") else event_from_orb(value)


def orb_value(event: Event) -> Any:
    if isinstance(event, UntypedEvent):
        types = {LONG: CORBA.TC_long, STRING: CORBA.TC_string}
        return CORBA.Any(types[event.any.type], event.any.value)
    assert isinstance(event, StructuredEvent)
    return event_to_orb(event)


def pull_all(proxy: Any, form: str, count: int) -> list[Any]:
    """With the blocking call first: it has to wait for the event."""
    if form == "sequence":
        got = list(proxy.pull_structured_events(1))
        until(lambda: _more(got, proxy, count))
        return got
    name = "" if form in ("any", "plain") else "_structured_event"
    got = [getattr(proxy, f"pull{name}")()]

    def more() -> bool:
        value, has_event = getattr(proxy, f"try_pull{name}")()
        if has_event:
            got.append(value)
        return len(got) == count

    until(lambda: len(got) == count or more())
    return got


def _more(got: list[Any], proxy: Any, count: int) -> bool:
    batch, has_event = proxy.try_pull_structured_events(100)
    assert has_event == bool(batch)
    got += batch
    return len(got) == count


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("form", KINDS)
def test_what_each_consumer_sees(channel: Channel, style: str, form: str) -> None:
    pushed = {kind: channel.consumer(kind)[0] for kind in KINDS}
    pulled = {kind: channel.puller(kind) for kind in KINDS}
    sent: list[Event] = [*UNTYPED] if form in ("any", "plain") else [*STRUCTURED]
    values = [orb_value(event) for event in sent]

    supplier, proxy = channel.join(style, "supplier", form)
    if style == "pull":
        supplier.stock.extend(values)
    elif form == "sequence":
        proxy.push_structured_events(values)
    else:
        push = proxy.push_structured_event if form == "structured" else proxy.push
        for value in values:
            push(value)

    got = {f"pull {kind}": pull_all(proxy, kind, len(sent)) for kind, proxy in pulled.items()}
    until(lambda: all(len(consumer.got) == len(sent) for consumer in pushed.values()))
    got |= {f"push {kind}": consumer.got for kind, consumer in pushed.items()}
    for kind, events in got.items():
        consumer_form = kind.split()[1]
        expected = [seen_by(consumer_form, event) for event in sent]
        assert [read(consumer_form, value) for value in events] == expected, kind


def test_an_empty_queue(channel: Channel) -> None:
    value, has_event = channel.puller("any").try_pull()
    assert not has_event
    assert any_from_orb(value) == any_from_orb(CORBA.Any(CORBA.TC_null, None))
    event, has_event = channel.puller("structured").try_pull_structured_event()
    assert not has_event
    assert event_from_orb(event) == StructuredEvent("", "", "")
    assert channel.puller("sequence").try_pull_structured_events(5) == ([], False)


def test_a_typed_event_that_another_channel_made_structured_stays_what_it_is(channel: Channel) -> None:
    event = StructuredEvent("", "%TYPED", "", (), (Property("operation", STRING, "::M::I::op"), Property("p", LONG, 1)))
    consumer, _ = channel.consumer("structured")
    channel.supplier().push_structured_event(event_to_orb(event))
    until(lambda: consumer.got)
    assert event_from_orb(consumer.got[0]) == event
