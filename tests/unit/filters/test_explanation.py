"""Why an event or a message passes or does not, condition by condition."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mappings.errors import FilterError
from mappings.filters import compile_etcl, compile_selector
from mappings.filters.etcl import UNIX_EPOCH
from mappings.filters.explanation import MOST_TEXT
from mappings.idl_types import DOUBLE, LONG, STRING, Enum, Sequence
from mappings.model import Any_, Headers, Message, MessageProperty, Property, StructuredEvent, UntypedEvent
from tests.unit.filters.etcl_strategies import expressions, some_events, text_of

EVENT = StructuredEvent(
    "Telecom",
    "Alarm",
    "los",
    (),
    (
        Property("Severity", LONG, 3),
        Property("Ports", Sequence(LONG), [1, 2]),
        Property("Many", Sequence(LONG), list(range(1000))),
        Property("Text", STRING, "x" * 500),
        Property("Ratio", DOUBLE, float("nan")),
        Property("State", Enum("IDL:S:1.0", "S", ("UP", "DOWN")), "UP"),
    ),
)
MESSAGE = Message(
    Headers(JMSPriority=6), (MessageProperty("Severity", "int", 3), MessageProperty("Name", "String", "a"))
)


def parts(text: str, event: Any = EVENT) -> list[dict[str, Any]]:
    return [part.to_json() for part in compile_etcl(text).explain(event)]


def test_each_condition_says_what_it_looked_at() -> None:
    assert parts("$type_name == 'Alarm' and not ($Severity > 2 or $domain_name == 'x')") == [
        {"part": "$type_name == 'Alarm'", "result": True, "values": {"$type_name": "Alarm"}},
        {"part": "$Severity > 2", "result": True, "values": {"$Severity": 3}},
        {"part": "$domain_name == 'x'", "result": False, "values": {"$domain_name": "Telecom"}},
    ]


def test_what_is_missing_is_said_though_the_filter_would_not_have_come_to_it() -> None:
    first, second = parts("$Severity == 9 and $absent.x + $Severity > 2")
    assert first["result"] is False
    assert second["result"] is None
    assert second["values"] == {"$Severity": 3}
    assert second["error"]["code"] == "FLT-MISSING"
    assert second["error"]["path"] == "$absent.x"


def test_values_are_shown_so_that_json_can_have_them() -> None:
    (ports,) = parts("1 in $Ports")
    assert ports["values"] == {"$Ports": [1, 2]}
    (many,) = parts("1 in $.filterable_data(Many)")
    assert many["values"] == {"$.filterable_data(Many)": "(a value of type sequence)"}
    (text,) = parts("'x' ~ $Text")
    assert text["values"] == {"$Text": "x" * MOST_TEXT + "…"}
    (ratio,) = parts("$Ratio > 1")
    assert ratio["values"] == {"$Ratio": "nan"}
    (state,) = parts("$State == UP")
    assert state == {"part": "$State == UP", "result": True, "values": {"$State": "UP"}}


def test_existence_has_a_result_and_a_value_where_there_is_one() -> None:
    assert parts("exist $Severity or exist $absent") == [
        {"part": "exist $Severity", "result": True, "values": {"$Severity": 3}},
        {"part": "exist $absent", "result": False},
    ]


def test_an_untyped_event_is_looked_at_as_such() -> None:
    assert parts("$ > 2", UntypedEvent(Any_(LONG, 3))) == [{"part": "$ > 2", "result": True, "values": {"$": 3}}]


def test_the_empty_filter_has_no_conditions() -> None:
    assert parts("") == []
    assert compile_selector("").explain(MESSAGE) == []


def test_selectors_say_unknown() -> None:
    said = [
        part.to_json()
        for part in compile_selector("Severity > 2 AND (JMSPriority = 4 OR x LIKE 'a%')").explain(MESSAGE)
    ]
    assert said == [
        {"part": "Severity > 2", "result": True, "values": {"Severity": 3}},
        {"part": "JMSPriority = 4", "result": False, "values": {"JMSPriority": 6}},
        {"part": "x LIKE 'a%'", "result": None},
    ]


@pytest.mark.parametrize(
    "text", ["Severity BETWEEN 1 AND Limit", "Name IN ('a', 'b')", "-Severity + 4 > 0", "Name IS NOT NULL"]
)
def test_every_kind_of_selector_condition_is_one_part(text: str) -> None:
    (part,) = compile_selector(text).explain(MESSAGE)
    assert compile_selector(part.text).evaluate(MESSAGE) == part.result


@given(st.data())
def test_parts_of_any_filter_have_the_result_that_they_have_alone(data: st.DataObject) -> None:
    event = data.draw(some_events)
    try:
        filter_ = compile_etcl(text_of(data.draw(expressions(event))), now=clock)
    except FilterError:
        return  # what can never be right
    results = []
    for part in filter_.explain(event):
        json.dumps(part.to_json(), allow_nan=False)
        match, error = compile_etcl(part.text, now=clock).evaluate(event)
        assert part.result == (None if error is not None else match)
        assert (part.error is None) == (error is None)
        results.append(part.result)
    match, error = filter_.evaluate(event)
    if error is not None:
        assert None in results, "some condition has no result"


def clock() -> int:
    return UNIX_EPOCH
