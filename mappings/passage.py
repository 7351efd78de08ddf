"""What a link does to one payload: admit, translate, route. Pure: the gateway does it live, and Spark does it again from a capture.

The time goes in with the payload, so the same call gives the same result years later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from mappings.errors import Expired
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


Admits: TypeAlias = Callable[[Payload], bool]
Translate: TypeAlias = Callable[[Payload, str, int, int], Payload]
"""Takes the payload, its id, the time in milliseconds since 1970, and how many milliseconds the payload has been in the gateway.
Raises MappingError (dead-letter it) and its kind Expired (count it, send nothing)."""


def compile_admission(translation: Translation) -> Admits | None:
    """The link's filter; None where everything may pass. Raises FilterError."""
    if translation.etcl is not None:
        from mappings.filters import compile_etcl

        etcl = compile_etcl(translation.etcl)
        return lambda payload: etcl.matches(as_event(payload))
    if translation.selector is not None:
        from mappings.filters import compile_selector

        selector = compile_selector(translation.selector)
        return lambda payload: selector.matches(as_message(payload))
    return None


def compile_translate(translation: Translation, translator: Translator | None = None) -> Translate:
    """`translator`: one of these options, where the caller wants to ask it more. Raises FilterError."""
    if translation.source_form == translation.sink_form:
        return _event_as_it_is if translation.source_form == "event" else _message_as_it_is
    translator = translator or Translator(translation.options)
    if translation.source_form == "event":
        forward = translator.forward
        return lambda payload, id_, now_ms, elapsed_ms: forward(
            as_event(payload), now_ms=now_ms, elapsed_ms=elapsed_ms, gid=id_
        )
    reverse = translator.reverse
    return lambda payload, _id, now_ms, _elapsed_ms: reverse(as_message(payload), now_ms=now_ms)


def _event_as_it_is(payload: Payload, _id: str, _now_ms: int, _elapsed_ms: int) -> StructuredEvent:
    return as_event(payload)


def _message_as_it_is(payload: Payload, _id: str, now_ms: int, _elapsed_ms: int) -> Message:
    """The time of expiry that the message came with is what remains of its time to live."""
    message = as_message(payload)
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
