"""What cannot be translated names the rule that could not be followed: walked field by field, and by the plan of its shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from mappings.errors import Expired, MappingError
from mappings.idl_types import LONG, STRING, Member, Sequence, Struct
from mappings.known_types import TIME_T, UTC_T
from mappings.model import Any_, Body, MessageProperty, Property, StructuredEvent
from mappings.translate import Limits, Options, Translator
from tests.unit.translate.build import NOW_MS, event

PAIR = Struct("IDL:Test/Pair:1.0", "Pair", (Member("a", LONG), Member("b", STRING)))
LONG_AGO = {"time": 1, "inacclo": 0, "inacchi": 0, "tdf": 0}
SMALL = Options(limits=Limits(property_bytes=200))


def header(name: str, type_: Any, value: Any) -> StructuredEvent:
    return replace(event(), variable_header=(Property(name, type_, value),))


@pytest.mark.parametrize("planned", [False, True], ids=["walked", "planned"])
@pytest.mark.parametrize(
    ("good", "bad", "options", "code", "rule"),
    [
        (header("Timeout", TIME_T, 10**12), header("Timeout", TIME_T, 1), Options(), "MAP-EXPIRED", "OC-VAR-2"),
        (
            header("StopTime", UTC_T, {**LONG_AGO, "time": 2**62}),
            header("StopTime", UTC_T, LONG_AGO),
            Options(),
            "MAP-EXPIRED",
            "OC-VAR-3",
        ),
        (
            event([("text", STRING, "short")]),
            event([("text", STRING, "x" * 10_000)]),
            SMALL,
            "MAP-SIZE",
            "OC-TYPE-21",
        ),
        (
            event(remainder=Any_(PAIR, {"a": 1, "b": "text"})),
            event(remainder=Any_(PAIR, {"a": 2**40, "b": "text"})),
            Options(),
            "MAP-VALUE-RANGE",
            "OC-BODY-6",
        ),
    ],
)
def test_forward(
    good: StructuredEvent, bad: StructuredEvent, options: Options, code: str, rule: str, planned: bool
) -> None:
    translator = Translator(options)
    for _ in range(20 if planned else 0):
        translator.forward(good, now_ms=NOW_MS)
    with pytest.raises(MappingError) as caught:
        translator.forward(bad, now_ms=NOW_MS, elapsed_ms=1000)
    assert (caught.value.code, caught.value.rule) == (code, rule)
    assert isinstance(caught.value, Expired) == (code == "MAP-EXPIRED")


def without(name: str) -> Callable[[MessageProperty], MessageProperty | None]:
    return lambda its: None if its.name == name else its


def valued(name: str, value: Any) -> Callable[[MessageProperty], MessageProperty | None]:
    return lambda its: MessageProperty(name, its.type, value) if its.name == name else its


@pytest.mark.parametrize(
    ("change", "code", "rule"),
    [
        (valued("$number", "no number"), "MAP-PROPERTY-VALUE", "OC-META-1"),
        (without("$pair.a"), "MAP-PROPERTY-MISSING", "OC-META-1"),
        (valued("$se", "{"), "MAP-METADATA", "OC-META-1"),
        (valued("$large", "AAAA"), "MAP-CDR-END", "OC-TYPE-20"),
    ],
)
def test_reverse(change: Callable[[MessageProperty], MessageProperty | None], code: str, rule: str) -> None:
    fields = [("number", LONG, 1), ("pair", PAIR, {"a": 1, "b": "x"}), ("large", Sequence(LONG), [1] * 300)]
    translator = Translator()
    message = translator.forward(event(fields), now_ms=NOW_MS)
    kept = tuple(new for its in message.properties if (new := change(its)) is not None)
    assert kept != message.properties
    with pytest.raises(MappingError) as caught:
        translator.reverse(replace(message, properties=kept), now_ms=NOW_MS)
    assert (caught.value.code, caught.value.rule) == (code, rule)


def test_a_body_that_is_not_whole() -> None:
    translator = Translator()
    message = translator.forward(event(remainder=Any_(PAIR, {"a": 1, "b": "x"})), now_ms=NOW_MS)
    cut = replace(message, body=Body("BytesMessage", message.body.value[:-4]))
    with pytest.raises(MappingError) as caught:
        translator.reverse(cut, now_ms=NOW_MS)
    assert (caught.value.code, caught.value.rule) == ("MAP-CDR-END", "OC-BODY-6")
