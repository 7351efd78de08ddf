"""Makes the step of a link (`step.py`) from its settings and from what its two wires carry: admit, translate, route."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from adapters.base import Delivery, Outgoing
from gateway.links.replies import Replies
from gateway.links.step import FILTERED, Filtered, Step
from mappings.makers import maker
from mappings.model import Message, MessageProperty, StructuredEvent
from mappings.passage import Translation, as_message, compile_admission, compile_passage
from mappings.translate import Limits, Options
from mappings.translate.rules import ChooseBody, Constant, CopyHeader, Drop, Rename, Route, Rule

if TYPE_CHECKING:  # a step needs no pydantic
    from gateway.settings import Settings
    from gateway.settings.links import LinkSettings
    from gateway.settings.rules import Rule as RuleSettings
    from gateway.settings.wires import Channel

_make_outgoing: Final = maker(Outgoing)


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
        f"{settings.name}/{settings.first_id(its.source)}" if its.avoid_loopback else None,
        f"{settings.name}/{settings.first_id(its.sink)}" if its.avoid_loopback else None,
        getattr(source, "profile", "borland"),
        getattr(sink, "profile", "borland"),
        **_asked_of(source),
    )


def holds_back(translation: Translation) -> bool:
    """Whether a StartTime is ours to mind: from event to message, over a wire that is told no delay (OC-VAR-4)."""
    forms = translation.source_form, translation.sink_form
    return forms == ("event", "message") and not translation.options.scheduled_delay


def _asked_of(source: Channel) -> dict[str, Any]:
    """What the source was asked to filter by: looked at again here, unless its peer is trusted."""
    from adapters.cosnotification.settings import CosNotificationChannel, event_types_of

    if not isinstance(source, CosNotificationChannel) or source.trust_peer:
        return {}
    return {"event_types": event_types_of(source), "source_etcl": source.constraint}


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


def compile_step(translation: Translation, replies: Replies | None = None) -> Step:
    """`replies` is what the link has to do with questions and answers. Raises FilterError; settings have been checked before, so
    that means a configuration changed under our feet."""
    admits = compile_admission(translation)
    pass_on = compile_passage(translation)
    routed = translation.source_form != translation.sink_form and translation.sink_form == "message"

    def step(delivery: Delivery) -> Outgoing | Filtered:
        payload = delivery.payload
        assert payload is not None
        if admits is not None and not admits(payload):
            return FILTERED
        now = time.time()
        made, id_ = pass_on(payload, delivery.id, int(now * 1000), elapsed_ms(delivery.received_at, now))
        return _make_outgoing(made, id_, as_message(made).headers.JMSDestination if routed else None, now)

    def conversing(delivery: Delivery) -> Outgoing | Filtered:
        assert replies is not None
        payload, destination = delivery.payload, None
        if isinstance(payload, Message):
            payload, destination = replies.of_message(payload)
        outgoing = step(replace(delivery, payload=payload))
        if isinstance(outgoing, Outgoing):
            if isinstance(payload, StructuredEvent) and isinstance(outgoing.payload, Message):
                made, destination = replies.of_event(payload, outgoing.payload)
                outgoing = replace(outgoing, payload=made)
            if destination is not None:
                outgoing = replace(outgoing, destination=destination)
        return outgoing

    return step if replies is None else conversing


def elapsed_ms(received_at: float, now: float) -> int:
    """How long a delivery has been in the gateway; never less than nothing, whatever was done to the clock."""
    return max(0, int((now - received_at) * 1000))
