"""Each reason for which a pushed selector is so weak (RULES.md 8.4): an event that the plain translation would lose."""

from __future__ import annotations

from decimal import Decimal

import pytest

from mappings.filters import compile_etcl, compile_selector
from mappings.filters.push_down import etcl_to_selector, selector_to_etcl
from mappings.idl_types import BOOLEAN, LONG, SHORT, STRING, ULONGLONG, Alias, Enum, Fixed, Member, Sequence, Value
from mappings.known_types import TIME_T
from mappings.model import Any_, Property, StructuredEvent
from mappings.translate import Options, Translator
from tests.unit.filters.samples import struct, structured

translator = Translator(Options(profile="strict"))

INNER = struct("Inner", m=LONG)
VALUE = Value("IDL:V:1.0", "V", None, (Member("m", LONG),))
COLOUR = Enum("IDL:Colour:1.0", "Colour", ("RED", "GREEN"))

LOST_BY_THE_PLAIN_SELECTOR = {
    "a member of the body": ("$x == 1", structured(rem=Any_(struct("Body", x=LONG), {"x": 1}))),
    "a fixed is a String": ("$x > 2", structured(fd=(Property("x", Fixed(4, 2), Decimal("12.50")),))),
    "a large number is a String": ("$x > 2", structured(fd=(Property("x", ULONGLONG, 2**64 - 1),))),
    "a boolean counts as 1": ("$x == 1", structured(fd=(Property("x", BOOLEAN, True),))),
    "1 counts as a boolean": ("$x == TRUE", structured(fd=(Property("x", LONG, 1),))),
    "a valuetype goes as one property": ("$x.m == 1", structured(fd=(Property("x", VALUE, {"m": 1}),))),
    "and another field of its name does not": (
        "$x.m == 1",
        structured(fd=(Property("x", VALUE, {"m": 1}), Property("x", INNER, {"m": 2}))),
    ),
    "the header's field has the plain name": (
        "$.filterable_data(x) == 1",
        structured(vh=(Property("x", LONG, 2),), fd=(Property("x", LONG, 1),)),
    ),
    "a header field that is no property": (
        "$Timeout == 50000",
        structured(vh=(Property("Timeout", TIME_T, 50_000),), fd=(Property("Timeout", LONG, 2),)),
    ),
    "a priority beyond those of JMS": ("$Priority > 5", structured(vh=(Property("Priority", SHORT, 6),))),
    "a struct has no property of its own name": ("exist $x", structured(fd=(Property("x", INNER, {"m": 1}),))),
    "a typedef's name before the ordinal": (
        "$x[0] == 1",
        structured(fd=(Property("x", Alias("IDL:L:1.0", "L", Sequence(LONG)), [1]),)),
    ),
    "a text that is not sent as it is": ("'end' ~ $x", structured(fd=(Property("x", STRING, "x" * 70_000 + "end"),))),
    "a negation of what the body has": ("not ($x == 'a')", structured(rem=Any_(struct("B", x=STRING), {"x": "b"}))),
}


@pytest.mark.parametrize("reason", LOST_BY_THE_PLAIN_SELECTOR)
def test_a_selector_that_loses_nothing(reason: str) -> None:
    text, event = LOST_BY_THE_PLAIN_SELECTOR[reason]
    message = translator.forward(event, now_ms=0)
    arrived = translator.reverse(message, now_ms=0)
    assert compile_etcl(text).matches(arrived)
    plain = etcl_to_selector(text, simple_fields=True).text
    assert plain == "" or not compile_selector(plain).matches(message)
    pushed, residual = etcl_to_selector(text)
    assert compile_selector(pushed).matches(message)
    assert compile_etcl(residual).matches(arrived)


LOST_BY_THE_PLAIN_ETCL: dict[str, tuple[str, StructuredEvent]] = {
    "an enum is no string to ETCL": ("$x = 'RED'", structured(fd=(Property("x", COLOUR, "RED"),))),
    "a fixed neither": ("$x = '12.50'", structured(fd=(Property("x", Fixed(4, 2), Decimal("12.50")),))),
    "the first of the name is a struct": (
        "$x > 1",
        structured(vh=(Property("x", INNER, {"m": 1}),), fd=(Property("x", LONG, 2),)),
    ),
    "unlike types are FALSE, not an error": ("NOT ($x > 1)", structured(fd=(Property("x", STRING, "a"),))),
    "a struct is there, and is NULL": ("$x IS NULL", structured(fd=(Property("x", INNER, {"m": 1}),))),
}


@pytest.mark.parametrize("reason", LOST_BY_THE_PLAIN_ETCL)
def test_a_constraint_that_loses_nothing(reason: str) -> None:
    text, event = LOST_BY_THE_PLAIN_ETCL[reason]
    message = translator.forward(event, now_ms=0)
    assert compile_selector(text).matches(message)
    assert not compile_etcl(selector_to_etcl(text, simple_fields=True).text).matches(event)
    pushed, residual = selector_to_etcl(text)
    assert compile_etcl(pushed).matches(event)
    assert compile_selector(residual).matches(message)
