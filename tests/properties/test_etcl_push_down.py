"""Pushing a filter down loses nothing: whatever the full expression accepts, the pushed text accepts (RULES.md 8.4).

Events and expressions are arbitrary. Each expression is turned so that it is TRUE for its event, which the pushed text must accept
then; and the pushed text and the residual together must say exactly what the full expression says.
"""

from __future__ import annotations

import re
from typing import Any

from hypothesis import assume, given, reject, settings
from hypothesis import event as note
from hypothesis import strategies as st

from mappings.errors import FilterError, MappingError
from mappings.filters import compile_etcl, compile_selector
from mappings.filters.event_types import EventTypes
from mappings.filters.push_down import etcl_to_selector, event_types_to_selector, selector_to_etcl
from mappings.idl_types import (
    ANY,
    BOOLEAN,
    CHAR,
    DOUBLE,
    LONG,
    LONGDOUBLE,
    SHORT,
    STRING,
    ULONGLONG,
    Alias,
    Fixed,
    IdlType,
    Member,
    Sequence,
    Value,
    ValueBox,
)  # fmt: skip
from mappings.model import NULL_ANY, Any_, Message, MessageProperty, Property, StructuredEvent
from mappings.translate import Options, Translator
from tests.unit.filters import selector_interpreter
from tests.unit.filters.etcl_interpreter import resolve
from tests.unit.filters.etcl_strategies import COLOUR, expressions, reachable, some_anys, some_values, text_of, words
from tests.unit.filters.samples import K, struct

translator = Translator(Options(profile="strict"))

INNER = struct("Inner", m=LONG, n=STRING)
BODY = struct("Body", a=LONG, Severity=STRING, Priority=SHORT, b=INNER)
VALUE = Value("IDL:V:1.0", "V", None, (Member("m", LONG), Member("n", STRING)))
SEQUENCE = Alias("IDL:Ms:1.0", "Ms", Sequence(INNER))
SIMPLE_TYPES = (LONG, SHORT, ULONGLONG, DOUBLE, LONGDOUBLE, Fixed(4, 2), BOOLEAN, CHAR, STRING, COLOUR)
LARGE_TYPES = (
    INNER,
    VALUE,
    SEQUENCE,
    Sequence(INNER),
    K,
    Alias("IDL:A:1.0", "A", INNER),
    ValueBox("IDL:B:1.0", "B", INNER),
    ANY,
)

field_names = st.sampled_from(["a", "a", "b", "Severity", "Priority", "Timeout", "EventReliability", "body", "se"])
types: st.SearchStrategy[IdlType] = st.sampled_from(SIMPLE_TYPES) | st.sampled_from(LARGE_TYPES)
fields = st.builds(
    lambda name, any_: Property(name, any_.type, any_.value),
    field_names,
    types.flatmap(lambda type_: st.builds(Any_, st.just(type_), some_values(type_))) | some_anys,
)
priorities = st.builds(lambda priority: Property("Priority", SHORT, priority), st.integers(-6, 7))
bodies = st.builds(Any_, st.just(BODY), some_values(BODY)) | st.just(NULL_ANY) | some_anys
structured_events = st.builds(
    StructuredEvent,
    words,
    words,
    words,
    st.lists(fields | priorities, max_size=2).map(tuple),
    st.lists(fields, max_size=3).map(tuple),
    bodies,
)


def message_of(event: StructuredEvent) -> Message:
    try:
        return translator.forward(event, now_ms=0)
    except MappingError:
        reject()


# ETCL to selector ---------------------------------------------------------------------------------------------------------


@st.composite
def conjuncts(draw: st.DrawFn, event: StructuredEvent, within: list[tuple[Any, str]]) -> str:
    """Mostly a test of a simple value that is somewhere in the event, against what it is or might be; sometimes anything."""
    found = [(component, kind) for component, kind in within if kind in LITERALS]
    named = [
        (component, kind)
        for component, kind in found
        if component[1] not in (None, "type_name") and all(step[0] == "member" for step in component[2])
    ]
    leaves = named if named and draw(st.integers(0, 5)) else found
    if not leaves or not draw(st.integers(0, 7)):
        return text_of(draw(expressions(event, 1)))
    component, kind = draw(st.sampled_from(leaves))
    text = text_of(component)
    if component[1] is not None and not draw(st.integers(0, 3)):
        path = draw(st.sampled_from(["$.filterable_data({0})", "$.header.variable_header({0})"]))
        text = text.replace(f"${component[1]}", path.format(component[1]), 1)
    own = _literal(kind, resolve(component, event).value)
    literal = draw(st.sampled_from([*LITERALS[kind], *own, *own]))
    symbols = ["==", "!="] if kind in ("label", "boolean") else ["==", "!=", "<", "<=", ">", ">="]
    symbol = draw(st.sampled_from(symbols))
    tests = [f"{text} {symbol} {literal}"] * 5 + [f"{literal} {symbol} {text}", f"exist {text}"]
    return draw(st.sampled_from(tests if kind != "boolean" else [*tests, text]))


LITERALS = {
    "number": ["0", "1", "2", "-4", "0.5", "5"],
    "string": ["'a'", "'ab'", "''"],
    "char": ["'a'", "97"],
    "label": ["RED", "GREEN"],
    "boolean": ["TRUE", "FALSE", "1"],
}


def _literal(kind: str, value: Any) -> list[str]:
    """The value itself, where it can be written."""
    if kind in ("string", "char", "boolean"):
        return [text_of(("literal", value))]
    if kind == "number":
        return [repr(value), repr(value + 1)] if abs(value) < 2**62 else []
    return [value] if re.fullmatch("[A-Za-z]+", value) else []


def _text(draw: st.DrawFn, event: StructuredEvent) -> str:
    within = reachable(event, 80)
    parts = [f"({draw(conjuncts(event, within))})" for _ in range(draw(st.integers(1, 3)))]
    whole = parts[0]
    for part in parts[1:]:
        whole = f"({whole}) {draw(st.sampled_from(['and', 'or']))} ({part})"
    return f"not ({whole})" if draw(st.booleans()) else whole


@st.composite
def etcl_cases(draw: st.DrawFn) -> tuple[StructuredEvent, str]:
    event = draw(structured_events)
    return event, _text(draw, event)


@settings(max_examples=200, deadline=None)
@given(etcl_cases())
def test_a_selector_made_of_etcl_loses_nothing(case: tuple[StructuredEvent, str]) -> None:
    event, text = case
    message = message_of(event)
    arrived = translator.reverse(message, now_ms=0)
    text = _true_etcl(text, arrived)
    pushed, residual = etcl_to_selector(text)
    note("pushed" if pushed else "not pushed")
    assert compile_selector(pushed).matches(message), pushed
    assert compile_etcl(residual).matches(arrived), residual


def _true_etcl(text: str, event: StructuredEvent) -> str:
    """The expression, or its negation, whichever is TRUE for the event."""
    try:
        match, error = compile_etcl(text).evaluate(event)
    except FilterError:
        reject()
    assume(error is None)
    return text if match else f"not ({text})"


@settings(max_examples=100, deadline=None)
@given(etcl_cases())
def test_selector_and_residual_say_what_the_etcl_says(case: tuple[StructuredEvent, str]) -> None:
    event, text = case
    if _refused(text):
        reject()
    pushed, residual = etcl_to_selector(text)
    message = message_of(event)
    arrived = translator.reverse(message, now_ms=0)
    both = compile_selector(pushed).matches(message) and compile_etcl(residual).matches(arrived)
    assert both is compile_etcl(text).matches(arrived)


def _refused(text: str) -> bool:
    try:
        compile_etcl(text)
    except FilterError:
        return True
    return False


@settings(max_examples=60, deadline=None)
@given(etcl_cases())
def test_it_loses_nothing_where_every_property_is_a_string(case: tuple[StructuredEvent, str]) -> None:
    """Over STOMP a broker sees text only; the gateway knows the types from `$se`."""
    event, text = case
    message = message_of(event)
    arrived = translator.reverse(message, now_ms=0)
    pushed, _ = etcl_to_selector(_true_etcl(text, arrived))
    texts = tuple(MessageProperty(name, "String", _as_stomp(value)) for name, _, value in message.properties)
    assert compile_selector(pushed).matches(Message(message.headers, texts, message.body)), pushed


def _as_stomp(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# Selector to ETCL ---------------------------------------------------------------------------------------------------------


@st.composite
def selector_cases(draw: st.DrawFn) -> tuple[StructuredEvent, Message, str]:
    """A selector over the properties that the message of an event has."""
    event = draw(structured_events)
    message = message_of(event)
    present = {property_.name: property_.value for property_ in message.properties if property_.name != "$se"}
    names = st.sampled_from([*present, "$a", "$Severity", "$a$_b", "foreign"])

    def test() -> Any:
        name = draw(names)
        value = present.get(name)
        if isinstance(value, str) and draw(st.booleans()):
            return draw(
                st.sampled_from(
                    [("compare", "=", ("name", name), ("literal", value)), ("in", ("name", name), [value, "x"], False),
                     ("like", ("name", name), "%a%", None, False), ("compare", "<>", ("literal", "a"), ("name", name))]
                )
            )  # fmt: skip
        literal = ("literal", draw(st.sampled_from([0, 1, 2.5, True])))
        between = ("between", ("name", name), ("literal", 0), ("name", draw(names)), draw(st.booleans()))
        return draw(
            st.sampled_from(
                [("compare", "<>", ("name", name), literal), ("null", ("name", name), draw(st.booleans())), ("name", name), between,
                 ("compare", "=", ("name", "JMSType"), ("literal", "Structured Event")),
                 ("compare", ">", ("arithmetic", ("name", name), [("+", ("name", draw(names)))]), ("literal", 0))]
            )
        )  # fmt: skip

    expression = test()
    for _ in range(draw(st.integers(0, 3))):
        expression = (draw(st.sampled_from(["and", "or"])), [expression, test()])
        if draw(st.booleans()):
            expression = ("not", expression)
    prefix = draw(st.sampled_from(["", "", "", "convert_string_expressions:"]))
    return event, message, prefix + selector_interpreter.text_of(expression)


@settings(max_examples=150, deadline=None)
@given(selector_cases())
def test_etcl_made_of_a_selector_loses_nothing(case: tuple[StructuredEvent, Message, str]) -> None:
    event, message, text = case
    result = compile_selector(text).evaluate(message)
    assume(result is not None)
    if not result:
        prefix = "convert_string_expressions:"
        text = f"{prefix}NOT ({text.removeprefix(prefix)})" if text.startswith(prefix) else f"NOT ({text})"
    pushed, residual = selector_to_etcl(text)
    note("pushed" if pushed else "not pushed")
    assert compile_etcl(pushed).evaluate(event) == (True, None), pushed
    assert compile_selector(residual).matches(message), residual


@settings(max_examples=150, deadline=None)
@given(selector_cases())
def test_etcl_and_residual_say_what_the_selector_says(case: tuple[StructuredEvent, Message, str]) -> None:
    event, message, text = case
    pushed, residual = selector_to_etcl(text)
    both = compile_etcl(pushed).matches(event) and compile_selector(residual).matches(message)
    assert both is compile_selector(text).matches(message)


# Plain: fields that are as they seem --------------------------------------------------------------------------------------

SIMPLE: dict[str, IdlType] = {"number": LONG, "real": DOUBLE, "text": STRING, "flag": BOOLEAN, "colour": COLOUR}


@st.composite
def simple_cases(draw: st.DrawFn) -> tuple[StructuredEvent, str]:
    """An event of simple fields, each once, and an expression that compares each with what it is."""
    values: dict[str, Any] = {
        "number": draw(st.integers(-3, 3)),
        "real": draw(st.sampled_from([-0.5, 0.0, 1.0, 2.5])),
        "text": draw(words),
        "flag": draw(st.booleans()),
        "colour": draw(st.sampled_from(COLOUR.members)),
    }
    properties = [Property(name, SIMPLE[name], value) for name, value in values.items()]
    cut = draw(st.integers(0, len(properties)))
    event = StructuredEvent("d", "Alarm", "e", tuple(properties[:cut]), tuple(properties[cut:]))
    tests = st.sampled_from(
        ["$number > 1", "$number + 1 <= 2", "1 != $number", "$real * 2 > 1", "$real / 2.0 < 0.5", "$text == 'ab'", "$text != 'a'",
         "'b' ~ $text", "'_' ~ $text", "$flag", "$flag == FALSE", "$colour == RED", "$colour != RED", "exist $number",
         "not exist $nothing", "$type_name == 'Alarm'", "$domain_name != 'd'", "$number == $real",
         "$.filterable_data(text) == 'ab'"]
    )  # fmt: skip
    text = draw(tests)
    for _ in range(draw(st.integers(0, 4))):
        text = f"({text}) {draw(st.sampled_from(['and', 'or']))} ({draw(tests)})"
        if draw(st.booleans()):
            text = f"not ({text})"
    return event, text


@settings(max_examples=200, deadline=None)
@given(simple_cases())
def test_the_plain_translation_of_simple_fields_says_the_same(case: tuple[StructuredEvent, str]) -> None:
    event, text = case
    match, error = compile_etcl(text).evaluate(event)
    assume(error is None)
    message = message_of(event)
    pushed, residual = etcl_to_selector(text, simple_fields=True)
    assert residual == ""
    assert compile_selector(pushed).matches(message) is match
    back, left = selector_to_etcl(pushed, simple_fields=True)
    assert left == ""
    if "colour" not in text:  # to a selector a label is a string, and no selector says that it was an enum
        assert compile_etcl(back).matches(event) is match


# Event types --------------------------------------------------------------------------------------------------------------

patterns = st.text("ab*_%!", max_size=4) | st.sampled_from(["", "*", "%ALL", "%ANY"])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(patterns, patterns), max_size=3), st.text("ab_%!", max_size=4), st.text("ab_%!", max_size=4))
def test_event_types_as_a_selector(types: list[tuple[str, str]], domain: str, type_: str) -> None:
    message = message_of(StructuredEvent(domain, type_, ""))
    selector = compile_selector(event_types_to_selector(types))
    assert selector.matches(message) is EventTypes(types).covers(domain, type_)
