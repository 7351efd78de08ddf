"""Rules of a link (LINK-…): what each does to the message, what it says of itself, and that the event still comes back."""

from __future__ import annotations

from typing import Any

import pytest

from mappings.errors import FilterError, MappingError
from mappings.idl_types import LONG, SHORT, STRING
from mappings.model import Message, MessageProperty, StructuredEvent
from mappings.translate import Entry, Options, Translator
from mappings.translate.rules import Constant, CopyHeader, Drop, Rename, Route, Rule
from tests.unit.translate.build import NOW_MS, event, fields, named

ALARM = event([("Severity", LONG, 3), ("Name", STRING, "ne1")], [("Priority", SHORT, 1)])


def by(*rules: Rule, **options: Any) -> tuple[Message, list[Entry], StructuredEvent]:
    """The message by the plan and by the walk, the lines about rules, and what comes back."""
    translator = Translator(Options(rules=rules, **options))
    explained = translator.explain(ALARM, now_ms=NOW_MS, gid="g")
    message = translator.forward(ALARM, now_ms=NOW_MS, gid="g")
    assert explained.result == message == translator.forward(ALARM, now_ms=NOW_MS, gid="g")
    back = Translator().reverse(message, now_ms=NOW_MS)
    assert back == Translator().explain_reverse(message, now_ms=NOW_MS).result
    return message, [entry for entry in explained.entries if entry.rule.startswith("LINK-")], back


def test_rename() -> None:
    message, said, back = by(Rename("$Severity", "severity"))
    assert fields(message) == [("severity", "int", 3), ("$Name", "String", "ne1"), ("$gid", "String", "g")]
    assert said == [Entry("properties.$Severity", "LINK-RENAME", "severity", "int", True)]
    assert back == ALARM, "the name is changed back"


def test_renames_in_a_row_and_crosswise() -> None:
    message, _, back = by(Rename("$Severity", "x"), Rename("$Name", "$Severity"), Rename("x", "$Name"))
    assert fields(message, "$gid") == [("$Name", "int", 3), ("$Severity", "String", "ne1")]
    assert back == ALARM


def test_a_rename_onto_a_name_in_use_takes_its_place_and_says_that_something_is_lost() -> None:
    message, said, _ = by(Rename("$Severity", "$Name"))
    assert fields(message, "$gid") == [("$Name", "int", 3)]
    assert not said[0].lossless


def test_a_rename_of_what_is_not_there_does_nothing() -> None:
    message, said, back = by(Rename("$Nothing", "x"))
    assert (named(message).keys() & {"x"}, said, back) == (set(), [], ALARM)


def test_drop() -> None:
    message, said, back = by(Drop("$Severity"), Drop("$Nothing"))
    assert fields(message, "$gid") == [("$Name", "String", "ne1")]
    assert said == [Entry("properties.$Severity", "LINK-DROP", "", "", False)]
    assert back.filterable_data == ALARM.filterable_data[1:]


def test_constant() -> None:
    message, said, back = by(Constant(MessageProperty("origin", "String", "gw-1")))
    assert message.properties[-1] == ("origin", "String", "gw-1")
    assert said == [Entry("", "LINK-CONSTANT", "origin", "String", True)]
    assert back == ALARM, "a constant is no field"


def test_a_constant_in_the_place_of_a_field_says_that_something_is_lost() -> None:
    message, said, _ = by(Constant(MessageProperty("$Severity", "int", 9)))
    assert fields(message, "$gid") == [("$Severity", "int", 9), ("$Name", "String", "ne1")]
    assert not said[0].lossless


def test_copy_header() -> None:
    message, said, back = by(CopyHeader("JMSPriority", "prio"), CopyHeader("JMSCorrelationID", "none"))
    assert named(message)["prio"] == ("int", 5)
    assert "none" not in named(message), "what is not known is not copied"
    assert said == [Entry("headers.JMSPriority", "LINK-COPY-HEADER", "prio", "int", True)]
    assert back == ALARM


def test_there_are_only_the_headers_that_there_are() -> None:
    with pytest.raises(MappingError, match="MAP-RULE"):
        Translator(Options(rules=(CopyHeader("JMSNothing", "x"),)))


def test_the_first_route_that_matches_wins() -> None:
    routes = (
        Route("queue://urgent", "$Severity > 3"),
        Route("queue://normal", "$Severity > 2 AND JMSPriority = 5"),
        Route("queue://rest", "TRUE = TRUE"),
    )
    message, said, back = by(*routes, destination="topic://all")
    assert message.headers.JMSDestination == "queue://normal"
    assert [(entry.rule, entry.to) for entry in said] == [("LINK-ROUTE", "headers.JMSDestination")]
    assert back == ALARM


def test_where_no_route_matches_the_destination_stays() -> None:
    message, said, _ = by(Route("queue://urgent", "$Severity > 3"), destination="topic://all")
    assert (message.headers.JMSDestination, said) == ("topic://all", [])


def test_routes_see_the_message_as_it_is_sent() -> None:
    message, _, _ = by(Route("queue://x", "severity = 3"), Rename("$Severity", "severity"))
    assert message.headers.JMSDestination == "queue://x"


def test_a_copied_destination_is_the_one_that_the_route_chose() -> None:
    message, said, back = by(CopyHeader("JMSDestination", "to"), Route("queue://x", "$Severity = 3"))
    assert named(message)["to"] == ("String", "queue://x")
    assert [entry.rule for entry in said] == ["LINK-ROUTE", "LINK-COPY-HEADER"]
    assert back == ALARM


def test_a_selector_that_does_not_parse_is_found_at_once() -> None:
    with pytest.raises(FilterError):
        Translator(Options(rules=(Route("queue://x", "a = "),)))
