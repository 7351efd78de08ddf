"""What a link does to one payload: admit, translate, route. Pure: the gateway does it live, and Spark does it again from a capture.

The time goes in with the payload, so the same call gives the same result years later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from mappings.errors import Expired, Looped
from mappings.marks import NO_MARKS, Marks, MessageMarks, is_round_trip, put_on_event, take_from_event
from mappings.model import Form, Message, Payload, StructuredEvent
from mappings.translate import Options, Translator


@dataclass(frozen=True, slots=True)
class Translation:
    """What of a link's settings bears on a single event."""

    source_form: Form
    sink_form: Form
    options: Options = field(default_factory=Options)
    etcl: str | None = None  # over events
    selector: str | None = None  # over messages
    source_hop: str | None = None  # `gateway/channel` of the source; None: hop lists are neither looked at nor added to
    sink_hop: str | None = None
    source_profile: str = "borland"  # how messages of the source spell the names of marks
    sink_profile: str = "borland"
    event_types: tuple[
        tuple[str, str], ...
    ] = ()  # domain and type names of the events that the source is to give; none: all
    source_etcl: str | None = None  # what else the source was asked to filter by


Admits: TypeAlias = Callable[[Payload], bool]
Translate: TypeAlias = Callable[[Payload, str, int, int], Payload]
"""Takes the payload, its id, the time in milliseconds since 1970, and how many milliseconds the payload has been in the gateway.
Raises MappingError (dead-letter it) and its kinds Expired and Looped (count it, send nothing)."""

PassOn: TypeAlias = Callable[[Payload, str, int, int], tuple[Payload, str]]
"""The same, with the id that the event keeps wherever it goes."""


def compile_admission(translation: Translation) -> Admits | None:
    """The link's filter, and what the source was asked to filter by; None where everything may pass. Raises FilterError."""
    tests = [test for test in _admissions(translation) if test is not None]
    if len(tests) < 2:
        return tests[0] if tests else None
    return lambda payload: all(test(payload) for test in tests)


def _admissions(translation: Translation) -> Iterator[Admits | None]:
    yield _admits_types(translation.event_types)
    yield _admits_etcl(translation.source_etcl)
    yield _admits_etcl(translation.etcl)
    if translation.selector is not None:
        from mappings.filters import compile_selector

        selector = compile_selector(translation.selector)
        yield lambda payload: selector.matches(as_message(payload))


def _admits_types(types: tuple[tuple[str, str], ...]) -> Admits | None:
    if not types:
        return None
    from mappings.filters.event_types import EventTypes

    covers = EventTypes(types).covers

    def admits(payload: Payload) -> bool:
        event = as_event(payload)
        return covers(event.domain_name, event.type_name)

    return admits


def _admits_etcl(text: str | None) -> Admits | None:
    if text is None:
        return None
    from mappings.filters import compile_etcl

    etcl = compile_etcl(text)
    return lambda payload: etcl.matches(as_event(payload))


def compile_translate(translation: Translation, translator: Translator | None = None) -> Translate:
    """`translator`: one of these options, where the caller wants to ask it more. Raises FilterError."""
    pass_on = compile_passage(translation, translator)
    return lambda payload, id_, now_ms, elapsed_ms: pass_on(payload, id_, now_ms, elapsed_ms)[0]


def compile_passage(translation: Translation, translator: Translator | None = None) -> PassOn:
    """As `compile_translate`, and also the id that the event goes on with."""
    translator = translator or Translator(translation.options)
    forward, reverse = translator.forward, translator.reverse
    mark = _marking(translation)
    marks_in, marks_out = MessageMarks(translation.source_profile), MessageMarks(translation.sink_profile)

    def event_to_message(payload: Payload, id_: str, now_ms: int, elapsed_ms: int) -> tuple[Payload, str]:
        event, found = take_from_event(as_event(payload))
        marks = mark(found, id_)
        id_ = marks.id or id_
        message = forward(event, now_ms=now_ms, elapsed_ms=elapsed_ms, gid=id_)  # this puts the id there, as `$gid`
        return marks_out.put_hops(message, marks.hops), id_

    def message_to_event(payload: Payload, id_: str, now_ms: int, _elapsed_ms: int) -> tuple[Payload, str]:
        message, found = marks_in.take(as_message(payload))
        marks = mark(found, id_)
        event = reverse(message, now_ms=now_ms)
        return (put_on_event(event, marks) if marks.hops else event), marks.id or id_

    def event_to_event(payload: Payload, id_: str, _now_ms: int, _elapsed_ms: int) -> tuple[Payload, str]:
        event, found = take_from_event(as_event(payload))
        marks = mark(found, id_)
        return (put_on_event(event, marks) if marks.hops or found.id else event), marks.id or id_

    def message_to_message(payload: Payload, id_: str, now_ms: int, _elapsed_ms: int) -> tuple[Payload, str]:
        message, found = marks_in.take(_with_time_left(as_message(payload), now_ms))
        marks = mark(found, id_)
        return (marks_out.put(message, marks) if marks.hops or found.id else message), marks.id or id_

    if translation.source_form == "event":
        return event_to_message if translation.sink_form == "message" else event_to_event
    return message_to_event if translation.sink_form == "event" else message_to_message


def _marking(translation: Translation) -> Callable[[Marks, str], Marks]:
    """From the marks that an event has come with, and its id at the source, to those that it goes on with. Raises Looped."""
    source, sink = translation.source_hop, translation.sink_hop
    if source is None or sink is None:
        return lambda found, id_: found if found.id is not None else Marks(id_, found.hops)

    here = (source,)

    def mark(found: Marks, id_: str) -> Marks:
        if found is NO_MARKS:
            return Marks(id_, here)
        if is_round_trip(found, source, sink):
            raise Looped(
                f"it has been in {source} or {sink}, or in too many channels", path=" ".join(found.hops)[:1000]
            )
        return Marks(found.id if found.id is not None else id_, (*found.hops, source))

    return mark


def _with_time_left(message: Message, now_ms: int) -> Message:
    """The time of expiry that the message came with is what remains of its time to live."""
    if message.headers.JMSExpiration:
        remaining = message.headers.JMSExpiration - now_ms
        if remaining <= 0:
            raise Expired("the message's JMSExpiration is past", path="headers.JMSExpiration")
        message = replace(message, headers=replace(message.headers, JMSTimeToLive=remaining))
    return message


def as_event(payload: Payload) -> StructuredEvent:
    assert isinstance(payload, StructuredEvent)
    return payload


def as_message(payload: Payload) -> Message:
    assert isinstance(payload, Message)
    return payload
