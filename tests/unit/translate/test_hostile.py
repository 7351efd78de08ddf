"""Hostile events and messages: bounded work, and a clear error where a limit is hit.

No test asserts a time; each would run into the suite's time-out, or out of memory, if work grew with what is claimed instead of
with what is there.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from mappings.errors import MappingError
from mappings.idl_types import (
    ANY,
    LONG,
    OBJECT,
    OCTET,
    STRING,
    Alias,
    Array,
    IdlType,
    Member,
    Recursive,
    Sequence,
    Struct,
)
from mappings.known_types import PROPERTY_SEQ
from mappings.model import Any_, Body, Message, MessageProperty, StreamElement
from mappings.translate import Limits, Options, Translator
from tests.unit.translate.build import NOW_MS, changed, event, fields, named

TREE = Struct("IDL:T:1.0", "T", (Member("n", LONG), Member("kids", Sequence(Recursive("IDL:T:1.0")))))


@pytest.mark.parametrize("element", [LONG, Struct("IDL:S:1.0", "S", (Member("a", LONG),)), OBJECT])
def test_a_million_elements_in_a_field_are_one_error(element: IdlType) -> None:
    value: Any = {"long": 7, "Object": None}.get(element.kind, {"a": 1})
    with pytest.raises(MappingError) as error:
        Translator().forward(event([("many", Sequence(element), [value] * 1_000_000)]), now_ms=NOW_MS)
    assert (error.value.code, error.value.path) == ("MAP-SIZE", "filterable_data[0].value")


def test_a_hundred_thousand_elements_in_a_field_go_as_cdr() -> None:
    translator = Translator()
    the_event = event([("many", Sequence(LONG), list(range(100_000)))])
    message = translator.forward(the_event, now_ms=NOW_MS)
    assert [name for name, _, _ in fields(message)] == ["$many", *(f"$many.{part}" for part in range(2, 10))]
    assert translator.reverse(message, now_ms=NOW_MS) == the_event


def test_a_million_elements_in_the_body_are_a_stream() -> None:
    translator = Translator()
    the_event = event(remainder=Any_(Sequence(LONG), list(range(1_000_000))))
    message = translator.forward(the_event, now_ms=NOW_MS)
    assert message.body.value[-1] == StreamElement("int", 999_999)
    assert translator.reverse(message, now_ms=NOW_MS) == the_event


def test_a_property_list_with_a_hundred_thousand_entries_goes_as_cdr() -> None:
    entries = [{"name": f"n{n}", "value": Any_(LONG, n)} for n in range(100_000)]
    translator = Translator()
    the_event = event(remainder=Any_(PROPERTY_SEQ, entries))
    message = translator.forward(the_event, now_ms=NOW_MS)
    assert named(message)["$body"] == ("String", "cdr-any")
    assert translator.reverse(message, now_ms=NOW_MS) == the_event


@pytest.mark.parametrize("where", ["field", "body"])
def test_ten_megabytes_of_text(where: str) -> None:
    translator = Translator()
    text = "x" * 10_000_000
    if where == "body":
        the_event = event(remainder=Any_(STRING, text))
        assert translator.reverse(translator.forward(the_event, now_ms=NOW_MS), now_ms=NOW_MS) == the_event
    else:
        with pytest.raises(MappingError) as error:
            translator.forward(event([("a", LONG, 1), ("big", STRING, text)]), now_ms=NOW_MS)
        assert (error.value.code, error.value.path) == ("MAP-SIZE", "filterable_data[1].value")
        assert "property_bytes" in error.value.hint
        wide = Translator(Options(limits=Limits(property_bytes=20_000_000)))
        assert named(wide.forward(event([("big", STRING, text)]), now_ms=NOW_MS))["$big"] == ("String", text)


def deep(levels: int, kind: str) -> tuple[IdlType, Any]:
    type_: IdlType = LONG
    value: Any = 7
    for _ in range(levels):
        match kind:
            case "sequences":
                type_, value = Sequence(type_), [value]
            case "anys":
                type_, value = ANY, Any_(type_, value)
            case "typedefs":
                type_ = Alias("IDL:A:1.0", "A", type_)
            case "structs":
                type_, value = Struct("IDL:S:1.0", "S", (Member("m", type_),)), {"m": value}
            case "tree":
                value = {"n": 1, "kids": [value] if isinstance(value, dict) else []}
                type_ = TREE
    return type_, value


@pytest.mark.parametrize("kind", ["sequences", "anys", "typedefs", "structs", "tree"])
@pytest.mark.parametrize("where", ["field", "body"])
@pytest.mark.parametrize("levels", [45, 1000])
def test_a_thousand_levels_of_nesting(kind: str, where: str, levels: int) -> None:
    type_, value = deep(levels, kind)
    the_event = event([("x", type_, value)]) if where == "field" else event(remainder=Any_(type_, value))
    translator = Translator()
    for _ in range(2):
        if levels < 1000:
            assert translator.reverse(translator.forward(the_event, now_ms=NOW_MS), now_ms=NOW_MS) == the_event
        else:
            with pytest.raises(MappingError, match="MAP-DEPTH"):
                translator.forward(the_event, now_ms=NOW_MS)


@pytest.mark.parametrize("profile", ["borland", "strict", "mq"])
def test_duplicate_names_by_the_thousand(profile: Any) -> None:
    translator = Translator(Options(profile=profile, limits=Limits(properties=10_000)))
    the_event = event([("x", LONG, n) for n in range(3_000)], [("x.#2", LONG, 0)])
    message = translator.forward(the_event, now_ms=NOW_MS)
    assert len(fields(message)) >= 3001
    assert len(named(message)) == len(message.properties)
    assert translator.reverse(message, now_ms=NOW_MS) == the_event


def test_fields_by_the_ten_thousand_are_one_error() -> None:
    with pytest.raises(MappingError) as error:
        Translator().forward(event([(f"field-{n}", LONG, n) for n in range(30_000)]), now_ms=NOW_MS)
    assert error.value.code == "MAP-SIZE"


def test_a_name_of_a_megabyte() -> None:
    with pytest.raises(MappingError) as error:
        Translator().forward(event([("n" * 1_000_000, LONG, 1)]), now_ms=NOW_MS)
    assert error.value.code == "MAP-SIZE"


def test_a_wide_and_deep_type_whose_values_are_empty() -> None:
    """A type of ten thousand members costs room in `$se`, so it goes with its value."""
    type_: IdlType = LONG
    for level in range(5):
        type_ = Struct(f"IDL:S{level}:1.0", "S", tuple(Member(f"m{n}", Sequence(type_)) for n in range(6)))
    translator = Translator()
    the_event = event([("x", Sequence(type_), [])])
    assert translator.reverse(translator.forward(the_event, now_ms=NOW_MS), now_ms=NOW_MS) == the_event


# Messages


def metadata(*types: Any, fields: list[Any]) -> str:
    return json.dumps({"v": 1, "p": "borland", "t": types, "h": [], "f": fields, "b": ["none", "null"]})


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        (metadata(["Q", "null"], fields=[["x", 0]]), {"$x._length": 2_000_000_000}),
        (metadata(["Q", "ior"], fields=[["x", 0]]), {"$x._length": 2_000_000_000}),
        (metadata(["A", "null", 2_000_000_000], fields=[["x", 0]]), {}),
        (metadata(["A", "l", 2_000_000_000], fields=[["x", 0]]), {"$x.1": 1}),
        (metadata(["S", "IDL:s:1.0", "s"], ["A", 0, 2**40], fields=[["x", 1]]), {}),
    ],
)
def test_lengths_that_nothing_stands_behind(text: str, properties: dict[str, Any]) -> None:
    translator = Translator()
    message = changed(translator.forward(event(), now_ms=NOW_MS), **{"$se": text, **properties})
    for _ in range(2):
        with pytest.raises(MappingError):
            translator.reverse(message, now_ms=NOW_MS)


def test_a_chain_of_types_as_long_as_the_text_allows() -> None:
    types: list[Any] = [["Q", "l"], *(["Q", n] for n in range(5_000))]
    translator = Translator()
    message = changed(translator.forward(event(), now_ms=NOW_MS), **{"$se": metadata(*types, fields=[["x", 5_000]])})
    with pytest.raises(MappingError, match="MAP-METADATA"):
        translator.reverse(message, now_ms=NOW_MS)


def test_a_recursion_that_never_ends() -> None:
    """A struct that holds itself without a sequence between has no finite value."""
    text = metadata(["R", "IDL:s:1.0"], ["S", "IDL:s:1.0", "s", "again", 0], fields=[["x", 1]])
    translator = Translator()
    message = changed(translator.forward(event(), now_ms=NOW_MS), **{"$se": text})
    with pytest.raises(MappingError):
        translator.reverse(message, now_ms=NOW_MS)


def test_messages_whose_metadata_is_always_another_are_read_without_filling_the_memory() -> None:
    translator = Translator()
    plain = translator.forward(event([("x", LONG, 1)]), now_ms=NOW_MS)
    for n in range(2_000):
        text = metadata(fields=[[f"x{n}", "l"]])
        back = translator.reverse(changed(plain, **{"$se": text, f"$x{n}": n, "$x": None}), now_ms=NOW_MS)
        assert back == event([(f"x{n}", LONG, n)])
    assert len(translator._reverse_plans._plans) <= 256
    assert len(translator._reverse._read) <= 256


def test_a_hundred_thousand_properties() -> None:
    properties = tuple(MessageProperty(f"p{n}", "String", "1") for n in range(100_000))
    translator = Translator()
    assert len(translator.reverse(Message(properties=properties), now_ms=NOW_MS).filterable_data) == 100_000
    with_metadata = translator.forward(event(), now_ms=NOW_MS)
    more = Message(with_metadata.headers, (*with_metadata.properties, *properties), Body())
    assert len(translator.reverse(more, now_ms=NOW_MS).filterable_data) == 100_000


@pytest.mark.parametrize("text", ["9" * 1_000_000, "1e999999999", "٣", "1_0", " 5", "0x5", ""])
def test_numbers_that_are_none(text: str) -> None:
    translator = Translator()
    message = changed(translator.forward(event([("x", LONG, 1)]), now_ms=NOW_MS), **{"$x": text or " "})
    with pytest.raises(MappingError, match="MAP-PROPERTY-VALUE"):
        translator.reverse(message, now_ms=NOW_MS)


@pytest.mark.parametrize("text", ["!", "A", "AQI", "AQI=AQI=", "é" * 100])
def test_base64_that_is_none(text: str) -> None:
    translator = Translator()
    message = changed(translator.forward(event([("x", Sequence(OCTET), b"\1")]), now_ms=NOW_MS), **{"$x": text})
    with pytest.raises(MappingError, match="MAP-PROPERTY-VALUE"):
        translator.reverse(message, now_ms=NOW_MS)


def test_arrays_of_octets_have_their_length() -> None:
    translator = Translator()
    message = translator.forward(event([("x", Array(OCTET, 2), b"\1\2")]), now_ms=NOW_MS)
    with pytest.raises(MappingError, match="MAP-PROPERTY-VALUE"):
        translator.reverse(changed(message, **{"$x": "AQ=="}), now_ms=NOW_MS)
