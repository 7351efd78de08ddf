"""A link's settings become the step that it takes with every event: options, rules, filter, route."""

from __future__ import annotations

import time
from dataclasses import fields
from typing import Any

import pytest

from adapters.base import Delivery, Outgoing
from gateway.links.step import FILTERED
from gateway.links.translation import Translation, compile_step, options_of, translation_of
from gateway.settings.links import Limits as LimitSettings
from gateway.settings.links import LinkSettings, MappingSettings
from gateway.settings.rules import RULES
from gateway.settings.settings import Settings
from mappings.errors import Expired
from mappings.idl_types import LONG, STRING
from mappings.known_types import TIME_T
from mappings.model import Headers, Message, MessageProperty
from mappings.translate import Limits, Options
from mappings.translate.rules import ChooseBody, Constant, CopyHeader, Drop, Rename, Route
from tests.unit.translate.build import event, named

ALARM = event([("Severity", LONG, 3)])


def settings(link: dict[str, Any], **endpoint: Any) -> Settings:
    return Settings.model_validate(
        {
            "name": "gw",
            "endpoints": {"ems": {"type": "memory"}, "broker": {"type": "stomp", "hosts": ["h:1"], **endpoint}},
            "channels": {
                "events": {"endpoint": "ems", "name": "q"},
                "jms": {"endpoint": "broker", "destination": "topic://alarms", "profile": "strict"},
                "store": {"endpoint": "ems", "name": "m", "form": "message", "profile": "mq"},
            },
            "links": {"it": link},
        }
    )


def delivery(payload: Any, **more: Any) -> Delivery:
    return Delivery(payload, "d-1", more.pop("received_at", time.time()), **more)


def test_every_option_of_a_link_s_mapping_is_one_of_the_translator_s() -> None:
    names = {field.name for field in fields(Options)}
    assert set(MappingSettings.model_fields) <= names
    assert names - set(MappingSettings.model_fields) == {"profile", "rules", "destination", "scheduled_delay"}
    assert set(LimitSettings.model_fields) == {field.name for field in fields(Limits)}


def test_defaults_are_the_same_on_both_sides() -> None:
    link = LinkSettings.model_validate({"from": "a", "to": "b"})
    assert options_of(link, profile="borland") == Options()


def test_options_and_rules_are_taken_over() -> None:
    rules = [
        {"rename": "$a", "to": "a"},
        {"drop": "$b"},
        {"constant": "c", "type": "int", "value": 5},
        {"copy_header": "JMSPriority", "to": "prio"},
        {"route": "queue://x", "when": "a > 1"},
        {"body": "text"},
    ]
    assert {next(iter(rule)) for rule in rules} == set(RULES), "every rule is here"
    mapping = {"priority": "linear", "metadata": False, "limits": {"depth": 3}, "native_domain": "X"}
    link = LinkSettings.model_validate({"from": "a", "to": "b", "mapping": mapping, "rules": rules})
    assert options_of(link, profile="mq", destination="topic://t") == Options(
        profile="mq",
        priority="linear",
        metadata=False,
        native_domain="X",
        limits=Limits(depth=3),
        destination="topic://t",
        rules=(
            Rename("$a", "a"),
            Drop("$b"),
            Constant(MessageProperty("c", "int", 5)),
            CopyHeader("JMSPriority", "prio"),
            Route("queue://x", "a > 1"),
            ChooseBody("text"),
        ),
    )


def test_the_profile_is_that_of_the_channel_that_carries_messages() -> None:
    there = translation_of(settings({"from": "events", "to": "jms", "filter": "$Severity > 2"}), "it")
    assert (there.source_form, there.sink_form, there.etcl) == ("event", "message", "$Severity > 2")
    assert (there.options.profile, there.options.destination) == ("strict", "topic://alarms")
    assert there.options.scheduled_delay, "ActiveMQ is the broker where none is named"
    assert not translation_of(settings({"from": "events", "to": "jms"}, broker="artemis"), "it").options.scheduled_delay
    back = translation_of(settings({"from": "store", "to": "events", "selector": "a = 1"}), "it")
    assert (back.source_form, back.sink_form, back.selector) == ("message", "event", "a = 1")
    assert back.options.profile == "mq"


def test_an_event_is_admitted_translated_and_routed() -> None:
    link = {
        "from": "events",
        "to": "jms",
        "filter": "$Severity > 2",
        "rules": [{"route": "queue://urgent", "when": "$Severity = 5"}],
    }
    step = compile_step(translation_of(settings(link), "it"))
    outgoing = step(delivery(ALARM))
    assert isinstance(outgoing, Outgoing)
    assert isinstance(outgoing.payload, Message)
    assert named(outgoing.payload)["$gid"] == ("String", "d-1")
    assert (outgoing.id, outgoing.destination) == ("d-1", "topic://alarms")
    urgent = step(delivery(event([("Severity", LONG, 5)])))
    assert isinstance(urgent, Outgoing)
    assert urgent.destination == "queue://urgent"
    assert step(delivery(event([("Severity", LONG, 2)]))) is FILTERED


def test_time_that_an_event_waited_is_taken_off_its_timeout() -> None:
    step = compile_step(Translation("event", "message"))
    late = delivery(event(header=[("Timeout", TIME_T, 600_000_000)]), received_at=time.time() - 40)
    outgoing = step(late)
    assert isinstance(outgoing, Outgoing)
    assert isinstance(outgoing.payload, Message)
    assert 0 < outgoing.payload.headers.JMSTimeToLive <= 20_000
    with pytest.raises(Expired):
        step(delivery(event(header=[("Timeout", TIME_T, 10_000)]), received_at=time.time() - 40))


def test_messages_are_filtered_by_selector_and_become_events() -> None:
    step = compile_step(Translation("message", "event", selector="colour = 'red'"))
    red = Message(properties=(MessageProperty("colour", "String", "red"),))
    outgoing = step(delivery(red))
    assert isinstance(outgoing, Outgoing)
    assert outgoing.payload.filterable_data == (("colour", STRING, "red"),)  # type: ignore[union-attr]
    assert step(delivery(Message())) is FILTERED


def test_what_needs_no_translation_passes_as_it_is() -> None:
    assert compile_step(Translation("event", "event"))(delivery(ALARM)).payload is ALARM  # type: ignore[union-attr]
    message = Message(Headers("x"))
    as_it_is = compile_step(Translation("message", "message"))
    assert as_it_is(delivery(message)).payload is message  # type: ignore[union-attr]
    soon = Message(Headers(JMSExpiration=int(time.time() * 1000) + 60_000))
    passed = as_it_is(delivery(soon))
    assert isinstance(passed, Outgoing)
    assert isinstance(passed.payload, Message)
    assert 0 < passed.payload.headers.JMSTimeToLive <= 60_000
    with pytest.raises(Expired):
        as_it_is(delivery(Message(Headers(JMSExpiration=1))))
