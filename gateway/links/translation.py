"""Makes the step of a link (`step.py`) from its settings and from what its two wires carry: admit, translate, route."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from adapters.base import Delivery, Form, Outgoing
from gateway.links.step import FILTERED, Filtered, Step
from mappings.errors import Expired
from mappings.model import Message, MessageProperty, StructuredEvent
from mappings.translate import Limits, Options, Translator
from mappings.translate.rules import ChooseBody, Constant, CopyHeader, Drop, Rename, Route, Rule

if TYPE_CHECKING:  # a step needs no pydantic
    from gateway.settings import Settings
    from gateway.settings.links import LinkSettings
    from gateway.settings.rules import Rule as RuleSettings


@dataclass(frozen=True, slots=True)
class Translation:
    """What of a link's settings bears on a single event."""

    source_form: Form
    sink_form: Form
    options: Options = field(default_factory=Options)
    etcl: str | None = None  # over events
    selector: str | None = None  # over messages


def translation_of(settings: Settings, link: str) -> Translation:
    """Of a link of a configuration that has been checked."""
    from gateway.settings.wires import capabilities_of

    its = settings.links[link]
    source, sink = settings.channels[its.source], settings.channels[its.sink]
    source_form, sink_form = capabilities_of(source).form, capabilities_of(sink).form
    messages = sink if sink_form == "message" else source
    options = options_of(
        its,
        profile=getattr(messages, "profile", "borland"),
        destination=getattr(sink, "destination", None),
        scheduled_delay=getattr(settings.endpoints[sink.endpoint], "broker", None) == "activemq",
    )
    return Translation(
        source_form,
        sink_form,
        options,
        its.filter if source_form == "event" else None,
        its.selector if source_form == "message" else None,
    )


def options_of(
    link: LinkSettings, *, profile: str, destination: str | None = None, scheduled_delay: bool = False
) -> Options:
    """What a link's `mapping:` and `rules:` say, with the naming profile and the destination of its channel."""
    mapping = link.mapping.model_dump(exclude={"limits"})
    return Options(
        **mapping,
        limits=Limits(**link.mapping.limits.model_dump()),
        profile=profile,  # type: ignore[arg-type]  # the channel's model has checked it
        rules=tuple(map(_rule_of, link.rules)),
        destination=destination,
        scheduled_delay=scheduled_delay,
    )


def _rule_of(rule: RuleSettings) -> Rule:
    from gateway.settings import rules

    match rule:
        case rules.RenameRule():
            return Rename(rule.rename, rule.to)
        case rules.DropRule():
            return Drop(rule.drop)
        case rules.ConstantRule():
            return Constant(MessageProperty(rule.constant, rule.type, rule.value))
        case rules.CopyHeaderRule():
            return CopyHeader(rule.copy_header, rule.to)
        case rules.RouteRule():
            return Route(rule.route, rule.when)
        case rules.BodyRule():
            return ChooseBody(rule.body)


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
        from mappings.filters import compile_etcl

        etcl = compile_etcl(translation.etcl)
        return lambda delivery: etcl.matches(_event(delivery))
    if translation.selector is not None:
        from mappings.filters import compile_selector

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
