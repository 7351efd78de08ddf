"""mappings/marks.py and what links do with it: ids that stay, hop lists, and events that come back."""

from __future__ import annotations

import time
from typing import Any

import pytest

from adapters.base import Delivery, Outgoing, Payload
from gateway.links.step import Step
from gateway.links.translation import compile_step
from mappings.errors import Looped
from mappings.idl_types import LONG, STRING
from mappings.marks import (
    EVENT_ID,
    EVENT_PATH,
    LONGEST_ID,
    MOST_HOPS,
    NO_MARKS,
    Marks,
    MessageMarks,
    put_on_event,
    take_from_event,
)
from mappings.model import Body, Headers, Message, MessageProperty, Property, StructuredEvent
from mappings.passage import Translation
from mappings.translate import Options, Translator

EVENT = StructuredEvent(
    "Telecom", "Alarm", "e", (Property("Ohf1", LONG, 7),), (Property("gid", STRING, "x"), Property("hops", STRING, "y"))
)
NATIVE = Message(Headers(JMSType="order"), (MessageProperty("color", "String", "red"),), Body("TextMessage", "hello"))
MARKS = Marks("id-1", ("gw/a", "other/b"))


def delivery(payload: Payload, id_: str = "d-1") -> Delivery:
    return Delivery(payload, id_, time.time())


def step(source: str, sink: str, kinds: tuple[Any, Any], *, profile: Any = "borland", avoid: bool = True) -> Step:
    hops = (source, sink) if avoid else (None, None)
    return compile_step(Translation(*kinds, Options(profile=profile), None, None, *hops, profile, profile))


def sent(result: object) -> Outgoing:
    assert isinstance(result, Outgoing)
    return result


def test_marks_of_an_event_are_strings_in_its_variable_header() -> None:
    marked = put_on_event(EVENT, MARKS)
    assert marked.variable_header == (
        Property("Ohf1", LONG, 7),
        Property("$MED.id", STRING, "id-1"),
        Property("$MED.path", STRING, "gw/a other/b"),
    )
    assert take_from_event(marked) == (EVENT, MARKS)
    assert take_from_event(EVENT) == (EVENT, NO_MARKS)


@pytest.mark.parametrize(
    ("profile", "names"), [("borland", ("$gid", "$hops")), ("strict", ("$gid", "$hops")), ("mq", ("_sgid", "_shops"))]
)
def test_marks_of_a_message_are_properties_that_every_profile_can_spell(profile: str, names: tuple[str, str]) -> None:
    marks = MessageMarks(profile)
    marked = marks.put(NATIVE, MARKS)
    added = (MessageProperty(names[0], "String", "id-1"), MessageProperty(names[1], "String", "gw/a other/b"))
    assert marked.properties == (*NATIVE.properties, *added)
    assert marks.take(marked) == (NATIVE, MARKS)
    assert marks.take(NATIVE) == (NATIVE, NO_MARKS)


@pytest.mark.parametrize("value", [None, 7, "", "x" * (LONGEST_ID + 1), b"id", ["id"]])
def test_ids_that_no_gateway_makes_are_not_believed(value: Any) -> None:
    event = StructuredEvent("", "", "", (Property(EVENT_ID, STRING, value), Property(EVENT_PATH, STRING, 5)))
    assert take_from_event(event)[1] == NO_MARKS
    message = Message(properties=(MessageProperty("$gid", "String", value), MessageProperty("$hops", "int", 5)))
    assert MessageMarks("borland").take(message)[1] == NO_MARKS


@pytest.mark.parametrize("profile", ["borland", "strict", "mq"])
def test_fields_that_are_called_like_marks_are_not_taken_for_them(profile: Any) -> None:
    """OC-NAME-3: a field of a reserved name gets a number."""
    there = sent(step("gw/a", "gw/b", ("event", "message"), profile=profile)(delivery(EVENT)))
    back = sent(step("gw/b", "gw/c", ("message", "event"), profile=profile)(delivery(there.payload, "b-1")))
    assert isinstance(back.payload, StructuredEvent)
    event, marks = take_from_event(back.payload)
    assert (event.filterable_data, marks) == (EVENT.filterable_data, Marks("d-1", ("gw/a", "gw/b")))


@pytest.mark.parametrize("kinds", [(a, b) for a in ("event", "message") for b in ("event", "message")])
def test_the_id_and_the_hops_go_along_whatever_the_event_becomes(kinds: tuple[Any, Any]) -> None:
    payload = EVENT if kinds[0] == "event" else NATIVE
    first = sent(step("gw/a", "gw/b", kinds)(delivery(payload)))
    assert first.id == "d-1"
    onward = sent(step("two/x", "two/y", (kinds[1], "event"))(delivery(first.payload, "id of the broker")))
    assert onward.id == "d-1", "the event's own id, not that of its copy at the broker"
    assert isinstance(onward.payload, StructuredEvent)
    assert take_from_event(onward.payload)[1] == Marks("d-1", ("gw/a", "two/x"))


@pytest.mark.parametrize("kinds", [(a, b) for a in ("event", "message") for b in ("event", "message")])
def test_what_comes_back_is_stopped_before_it_goes_round(kinds: tuple[Any, Any]) -> None:
    payload = EVENT if kinds[0] == "event" else NATIVE
    there = sent(step("gw/a", "gw/b", kinds)(delivery(payload)))
    back = kinds[1], kinds[0]
    with pytest.raises(Looped):  # it has been in a
        step("gw/b", "gw/a", back)(delivery(there.payload))
    far = sent(step("two/b", "two/a", back)(delivery(there.payload)))  # a gateway that calls the channels otherwise
    with pytest.raises(Looped):  # it came out of a before
        step("gw/a", "gw/b", kinds)(delivery(far.payload))
    assert sent(step("gw/b", "gw/c", (kinds[1], "event"))(delivery(there.payload))), "a chain is no loop"


def test_whoever_has_been_in_too_many_channels_is_stopped_too() -> None:
    long = put_on_event(EVENT, Marks("id", tuple(f"gw{n}/c" for n in range(MOST_HOPS + 1))))
    with pytest.raises(Looped):
        step("gw/a", "gw/b", ("event", "event"))(delivery(long))


def test_without_avoid_loopback_events_pass_as_they_are() -> None:
    for kinds, payload in ((("event", "event"), EVENT), (("message", "message"), NATIVE)):
        assert sent(step("gw/a", "gw/b", kinds, avoid=False)(delivery(payload))).payload is payload
    there = sent(step("gw/a", "gw/b", ("event", "message"), avoid=False)(delivery(EVENT)))
    assert isinstance(there.payload, Message)
    assert [name for name, _, _ in there.payload.properties if name in ("$gid", "$hops")] == ["$gid"]
    marked = put_on_event(EVENT, Marks("id", ("gw/a", "gw/b")))
    passed = sent(step("gw/a", "gw/b", ("event", "event"), avoid=False)(delivery(marked)))
    assert passed.payload == marked
    assert passed.id == "id"


def test_marks_do_not_reach_the_translation() -> None:
    marked = put_on_event(EVENT, Marks("id", ("x/y",)))
    message = sent(step("gw/a", "gw/b", ("event", "message"))(delivery(marked))).payload
    assert isinstance(message, Message)
    assert message.properties[-1] == MessageProperty("$hops", "String", "x/y gw/a")
    assert not any("MED" in name for name, _, _ in message.properties)
    plain = Translator(Options()).forward(EVENT, now_ms=0, gid="id")
    assert message.properties[:-1] == plain.properties
