"""For every event: what goes there comes back, in every profile, with typed properties and with text alone.

The compiled plan and the walk must say the same, of the message as of its explanation.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mappings.cdr.references import parse, stringify
from mappings.idl_types import LONG, SHORT, STRING, ULONGLONG, unalias
from mappings.known_types import TIME_T, UTC_T
from mappings.model import Any_, MessageProperty, Property, StructuredEvent
from mappings.translate import Entry, Limits, Options, Translator
from mappings.translate.forward import Forward
from mappings.translate.reverse import Reverse
from mappings.translate.rules import ChooseBody, Constant, Rename, Rule
from tests.properties.strategies import SAMPLE_IOR, anys, messages, structured_events, text
from tests.unit.translate.build import NOW_MS, UTC_OF_NOW, all_text

PROFILES = ["borland", "strict", "mq"]

utc_times = st.builds(
    lambda seconds, rest: {"time": UTC_OF_NOW + seconds * 10_000_000 + rest, "inacclo": 0, "inacchi": 0, "tdf": 0},
    st.integers(1, 10**6),
    st.integers(0, 10_000),
)
quality = st.one_of(
    st.builds(Property, st.just("EventReliability"), st.just(SHORT), st.integers(-1, 2)),
    st.builds(Property, st.just("Priority"), st.just(SHORT), st.integers(-32768, 32767) | st.integers(-5, 6)),
    st.builds(Property, st.just("Priority"), st.just(LONG), st.integers(-5, 6)),
    st.builds(Property, st.just("Timeout"), st.sampled_from([TIME_T, ULONGLONG]), st.integers(0, 2**64 - 1)),
    st.builds(Property, st.just("Timeout"), st.just(TIME_T), st.integers(1, 10**6).map(lambda ms: ms * 10_000)),
    st.builds(Property, st.sampled_from(["StopTime", "StartTime"]), st.just(UTC_T), utc_times),
    st.builds(Property, st.sampled_from(["a", "a.b", "$", "se", "gid"]), st.just(STRING), text),
)
events = st.builds(
    lambda event, header: replace(event, variable_header=tuple(header) + event.variable_header),
    structured_events,
    st.lists(quality, max_size=4),
)

rules: st.SearchStrategy[tuple[Rule, ...]] = st.lists(
    st.one_of(
        st.builds(ChooseBody, st.sampled_from(["text", "bytes", "map", "stream"])),
        st.just(Rename("$domain_type", "domain")),
        st.just(Constant(MessageProperty("origin", "String", "gw"))),
    ),
    max_size=2,
).map(tuple)

options = st.builds(
    Options,
    profile=st.sampled_from(PROFILES),
    priority=st.sampled_from(["clamp", "linear", "fujitsu"]),
    include_seq_alias=st.booleans(),
    struct_body=st.sampled_from(["cdr", "map"]),
    map_keys=st.sampled_from(["name", "borland"]),
    body_cdr=st.sampled_from(["any", "value"]),
    absent_reliability=st.sampled_from(["persistent", "nonpersistent"]),
    limits=st.builds(Limits, st.integers(1, 9), st.sampled_from([1, 3, 10, 256]), st.sampled_from([300, 65_536])),
    rules=rules,
    scheduled_delay=st.booleans(),
)

LITTLE_ENDIAN = stringify(parse(SAMPLE_IOR))


def kept(event: StructuredEvent) -> StructuredEvent:
    """What of an event comes back: all but fields of type long double (OC-TYPE-6).

    A reference that went as CDR is the same one, spelt little-endian: here all are.
    """

    def without_loss(fields: tuple[Property, ...]) -> tuple[Property, ...]:
        return tuple(_respelt(field) for field in fields if unalias(field.type).kind != "longdouble")

    return replace(
        event,
        variable_header=without_loss(event.variable_header),
        filterable_data=without_loss(event.filterable_data),
        remainder_of_body=_respelt(event.remainder_of_body),
    )


def _respelt(value: Any) -> Any:
    """With every reference spelt as CDR spells it."""
    match value:
        case str():
            return LITTLE_ENDIAN if value == SAMPLE_IOR else value
        case list():
            return [_respelt(each) for each in value]
        case dict():
            return {name: _respelt(each) for name, each in value.items()}
        case Property() | MessageProperty():
            return value._replace(value=_respelt(value.value))
        case Any_():
            return Any_(value.type, _respelt(value.value))
        case _ if hasattr(value, "d") and hasattr(value, "v"):
            return replace(value, v=_respelt(value.v))
    return value


@settings(max_examples=150, deadline=None)
@given(events, st.sampled_from(PROFILES))
def test_every_event_comes_back(event: StructuredEvent, profile: Any) -> None:
    translator = Translator(Options(profile=profile))
    message = translator.forward(event, now_ms=NOW_MS, gid="g")
    assert len({property_.name for property_ in message.properties}) == len(message.properties)
    for arrived in (message, all_text(message)):
        for _ in range(2):  # the plan is there from the second on
            assert kept(translator.reverse(arrived, now_ms=NOW_MS)) == kept(event)
    explained = translator.explain(event, now_ms=NOW_MS, gid="g")
    assert explained.result == message
    lost = any(unalias(f.type).kind == "longdouble" for f in (*event.variable_header, *event.filterable_data))
    assert explained.lossless is not lost


@settings(max_examples=150, deadline=None)
@given(events, options)
def test_plan_and_walk_agree_whatever_the_options(event: StructuredEvent, chosen: Options) -> None:
    translator = Translator(replace(chosen, rules=tuple(r for r in chosen.rules if isinstance(r, ChooseBody))))
    walk, counts = Forward(translator.options, Counter()), Counter[str]()
    reference = Forward(translator.options, counts)
    message = walk(event, NOW_MS, 0, "g")
    for _ in range(2):
        assert translator.forward(event, now_ms=NOW_MS, gid="g") == message
        trace: list[Entry] = []
        reference(event, NOW_MS, 0, "g", trace)
        assert translator.explain(event, now_ms=NOW_MS, gid="g").entries == tuple(trace)
    assert translator.counts == counts + counts
    back = Reverse(translator.options, Counter())(message, NOW_MS)
    assert translator.reverse(message, now_ms=NOW_MS) == translator.reverse(message, now_ms=NOW_MS) == back
    assert kept(back) == kept(event)


@settings(max_examples=50, deadline=None)
@given(events, options)
def test_rules_of_a_link_do_not_hinder_the_way_back(event: StructuredEvent, chosen: Options) -> None:
    message = Translator(chosen).forward(event, now_ms=NOW_MS, gid="g")
    back = Translator().reverse(message, now_ms=NOW_MS)
    assert kept(replace(back, variable_header=())) == kept(replace(event, variable_header=()))


@settings(max_examples=50, deadline=None)
@given(events, st.sampled_from(PROFILES))
def test_without_metadata_plan_and_walk_agree_and_something_comes_back(event: StructuredEvent, profile: Any) -> None:
    translator = Translator(Options(profile=profile, metadata=False))
    message = translator.forward(event, now_ms=NOW_MS)
    assert translator.forward(event, now_ms=NOW_MS) == message
    back = translator.reverse(message, now_ms=NOW_MS)
    assert (back.domain_name, back.type_name, back.event_name) == (event.domain_name, event.type_name, event.event_name)
    if translator.explain(event, now_ms=NOW_MS).lossless:
        assert kept(back) == kept(event)


@settings(max_examples=100, deadline=None)
@given(messages)
def test_every_message_is_an_event_whose_way_there_and_back_is_exact(message: Any) -> None:
    translator = Translator()
    event = translator.reverse(replace(message, headers=replace(message.headers, JMSExpiration=None)), now_ms=NOW_MS)
    again = translator.forward(event, now_ms=NOW_MS)
    assert translator.reverse(again, now_ms=NOW_MS) == event


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(anys, anys), min_size=2, max_size=6))
def test_events_of_one_translator_do_not_disturb_each_other(pairs: list[tuple[Any_, Any_]]) -> None:
    """Many shapes under one name: each gets its own plan, and the plans are told apart."""
    translator = Translator()
    events_ = [
        StructuredEvent("d", "t", "", (), (Property("x", a.type, a.value), Property("y", b.type, b.value)))
        for a, b in pairs
    ]
    for _ in range(2):
        for event in events_:
            message = translator.forward(event, now_ms=NOW_MS)
            assert message == Forward(Options(), Counter())(event, NOW_MS, 0, None)
            assert kept(translator.reverse(message, now_ms=NOW_MS)) == kept(event)
