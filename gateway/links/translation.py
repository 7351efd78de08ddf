"""Makes the step of a link (`step.py`) from its settings and from what its two wires carry: admit, translate, route."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from adapters.base import Delivery, Form, Outgoing
from gateway.links.step import FILTERED, Filtered, Step
from mappings.errors import Expired
from mappings.filters import compile_etcl, compile_selector
from mappings.model import Message, StructuredEvent
from mappings.translate import Options, Translator


@dataclass(frozen=True, slots=True)
class Translation:
    """What of a link's settings bears on a single event."""

    source_form: Form
    sink_form: Form
    options: Options = field(default_factory=Options)
    etcl: str | None = None  # over events
    selector: str | None = None  # over messages


def compile_step(translation: Translation) -> Step:
    """Raises FilterError; settings have been checked before, so that means a configuration changed under our feet."""
    admits = _admission(translation)
    translate = _translate(translation)

    def step(delivery: Delivery) -> Outgoing | Filtered:
        if admits is not None and not admits(delivery):
            return FILTERED
        return translate(delivery)

    return step


def _admission(translation: Translation) -> Callable[[Delivery], bool] | None:
    if translation.etcl is not None:
        etcl = compile_etcl(translation.etcl)
        return lambda delivery: etcl.matches(_event(delivery))
    if translation.selector is not None:
        selector = compile_selector(translation.selector)
        return lambda delivery: selector.matches(_message(delivery))
    return None


def _translate(translation: Translation) -> Callable[[Delivery], Outgoing]:
    if translation.source_form == translation.sink_form:
        return _event_as_it_is if translation.source_form == "event" else _message_as_it_is
    translator = Translator(translation.options)
    if translation.source_form == "event":
        forward = translator.forward

        def to_message(delivery: Delivery) -> Outgoing:
            now = time.time()
            message = forward(
                _event(delivery),
                now_ms=int(now * 1000),
                elapsed_ms=max(0, int((now - delivery.received_at) * 1000)),
                gid=delivery.id,
            )
            return Outgoing(message, delivery.id, message.headers.JMSDestination)

        return to_message

    reverse = translator.reverse

    def to_event(delivery: Delivery) -> Outgoing:
        return Outgoing(reverse(_message(delivery), now_ms=int(time.time() * 1000)), delivery.id)

    return to_event


def _event_as_it_is(delivery: Delivery) -> Outgoing:
    return Outgoing(_event(delivery), delivery.id)


def _message_as_it_is(delivery: Delivery) -> Outgoing:
    """The time of expiry that the message came with is what remains of its time to live."""
    message = _message(delivery)
    if message.headers.JMSExpiration:
        remaining = message.headers.JMSExpiration - int(time.time() * 1000)
        if remaining <= 0:
            raise Expired("the message's JMSExpiration is past", path="headers.JMSExpiration")
        message = replace(message, headers=replace(message.headers, JMSTimeToLive=remaining))
    return Outgoing(message, delivery.id)


def _event(delivery: Delivery) -> StructuredEvent:
    assert isinstance(delivery.payload, StructuredEvent)
    return delivery.payload


def _message(delivery: Delivery) -> Message:
    assert isinstance(delivery.payload, Message)
    return delivery.payload
