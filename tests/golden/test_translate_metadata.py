"""The `$se` property (OC-META-1): what it says, what it brings back, what is left without it, and whose word counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mappings.errors import MappingError
from mappings.idl_types import (
    ANY,
    BOOLEAN,
    LONG,
    LONGLONG,
    OCTET,
    SHORT,
    STRING,
    USHORT,
    WSTRING,
    IdlType,
    Member,
    Sequence,
    Struct,
)
from mappings.known_types import NAME, OCTET_SEQ, TIME_T
from mappings.model import Any_, Message, MessageProperty, Property
from mappings.translate import Options, Translator
from tests.unit.translate.build import NOW_MS, Field, all_text, changed, event, fields, named, sent

POINT = Struct("IDL:M/P:1.0", "P", (Member("n", STRING), Member("v", LONG)))


def test_the_text_is_compact_json_in_the_order_of_the_event() -> None:
    """OC-META-1."""
    message = sent(
        event(
            [("Severity", LONG, 3), ("p", POINT, {"n": "x", "v": 1}), ("where", NAME, []), ("ps", Sequence(POINT), [])],
            [("Priority", SHORT, 100), ("x", USHORT, 1)],
            Any_(STRING, "hi"),
        )
    )
    assert named(message)["$se"] == (
        "String",
        '{"v":1,"p":"borland",'
        '"t":[["S","IDL:M/P:1.0","P","n","st","v","l"],["Q",0]],'
        '"h":[["Priority","s","hdr",1],["x","us"]],'
        '"f":[["Severity","l"],["p",0],["where","IDL:omg.org/CosNaming/Name:1.0"],["ps",1]],'
        '"b":["text","st"]}',
    )


def test_what_belongs_to_one_event_comes_last() -> None:
    """OC-META-1: an exact Timeout, the types inside anys, and those types' own numbers."""
    message = sent(event([("x", ANY, Any_(POINT, {"n": "", "v": 0}))], [("Timeout", TIME_T, 1)]))
    assert named(message)["$se"][1].endswith(
        '"b":["none","null"],"d":[1,{"$x":0},[["S","IDL:M/P:1.0","P","n","st","v","l"]]]}'
    )


@pytest.mark.parametrize(("profile", "name"), [("borland", "$se"), ("strict", "$se"), ("mq", "_sse")])
def test_any_translator_reads_the_metadata_of_any_profile(profile: Any, name: str) -> None:
    """OC-META-1."""
    the_event = event([("a.b", POINT, {"n": "x", "v": 1})])
    message = sent(the_event, profile=profile)
    assert json.loads(named(message)[name][1])["p"] == profile
    for reader in ("borland", "strict", "mq"):
        assert Translator(Options(profile=reader)).reverse(message, now_ms=NOW_MS) == the_event


def test_a_long_text_is_sent_in_parts() -> None:
    """OC-META-1: each short enough for brokers that limit a header to 10 KB."""
    the_event = event([(f"field with a rather long name, number {n}", LONG, n) for n in range(256)])
    message = sent(the_event)
    parts = [p for p in message.properties if p.name == "$se" or p.name.startswith("$se.")]
    assert [p.name for p in parts] == ["$se", "$se.2"]
    assert all(len(p.value) <= 8192 for p in parts)


def test_types_too_large_for_the_metadata_go_with_their_values() -> None:
    """OC-META-1, OC-TYPE-21."""
    wide = Struct("IDL:W:1.0", "W", tuple(Member(f"member_{n:05}", LONG) for n in range(9000)))
    message = sent(event([("many", Sequence(wide), []), ("plain", LONG, 1), ("p", POINT, {"n": "x", "v": 1})]))
    *many, plain, point = (name for name, _, _ in fields(message))
    assert many == ["$many", *(f"$many.{part}" for part in range(2, len(many) + 1))]
    assert (plain, point) == ("$plain", "$p")
    assert len(named(message)["$se"][1]) < 200


@pytest.mark.parametrize("profile", ["borland", "strict", "mq"])
def test_a_wire_that_makes_everything_text_loses_nothing(profile: Any) -> None:
    """OC-META-1: STOMP."""
    translator = Translator(Options(profile=profile))
    the_event = event(
        [("b", BOOLEAN, False), ("o", OCTET, 200), ("s", Sequence(SHORT), [1, -2]), ("l", LONGLONG, 2**62)],
        [("Priority", SHORT, 100)],
    )
    message = all_text(translator.forward(the_event, now_ms=NOW_MS))
    assert translator.reverse(message, now_ms=NOW_MS) == the_event


# What an application changed on the way


def test_values_come_from_the_properties_types_and_order_from_the_metadata() -> None:
    translator = Translator()
    message = translator.forward(event([("a", USHORT, 1), ("b", WSTRING, "x"), ("c", LONG, 2)]), now_ms=NOW_MS)
    shuffled = Message(message.headers, tuple(reversed(message.properties)), message.body)
    back = translator.reverse(changed(shuffled, **{"$a": 7, "$b": "y", "$c": None, "$d": True, "e": 5}), now_ms=NOW_MS)
    assert back.filterable_data == (
        Property("a", USHORT, 7),
        Property("b", WSTRING, "y"),
        Property("d", BOOLEAN, True),
        Property("e", LONG, 5),
    )


@pytest.mark.parametrize("value", [70_000, -1, "many", True, 1.5])
def test_a_value_that_does_not_fit_its_type_is_an_error_that_names_the_property(value: Any) -> None:
    translator = Translator()
    message = translator.forward(event([("a", USHORT, 1)]), now_ms=NOW_MS)
    with pytest.raises(MappingError) as error:
        translator.reverse(changed(message, **{"$a": value}), now_ms=NOW_MS)
    assert (error.value.code, error.value.path) == ("MAP-PROPERTY-VALUE", "properties.$a")


def test_a_sequence_may_be_made_longer_and_shorter() -> None:
    translator = Translator()
    message = translator.forward(event([("l", Sequence(SHORT), [1, 2])]), now_ms=NOW_MS)
    longer = changed(message, **{"$l._length": 3, "$l.3": 9})
    assert translator.reverse(longer, now_ms=NOW_MS) == event([("l", Sequence(SHORT), [1, 2, 9])])
    shorter = changed(message, **{"$l._length": 1})
    assert translator.reverse(shorter, now_ms=NOW_MS) == event([("l", Sequence(SHORT), [1])])


@pytest.mark.parametrize("length", [3, -1, 10**9, "many"])
def test_a_length_that_the_elements_belie_is_an_error(length: Any) -> None:
    translator = Translator()
    message = translator.forward(event([("l", Sequence(SHORT), [1, 2])]), now_ms=NOW_MS)
    with pytest.raises(MappingError) as error:
        translator.reverse(changed(message, **{"$l._length": length}), now_ms=NOW_MS)
    assert error.value.code in ("MAP-PROPERTY-VALUE", "MAP-PROPERTY-MISSING")
    assert error.value.path.startswith("properties.$l.")


def test_a_field_is_removed_as_a_whole_or_not_at_all() -> None:
    translator = Translator()
    message = translator.forward(event([("p", POINT, {"n": "x", "v": 1}), ("q", LONG, 2)]), now_ms=NOW_MS)
    without = changed(message, **{"$p.n": None, "$p.v": None})
    assert translator.reverse(without, now_ms=NOW_MS) == event([("q", LONG, 2)])
    with pytest.raises(MappingError) as error:
        translator.reverse(changed(message, **{"$p.v": None}), now_ms=NOW_MS)
    assert (error.value.code, error.value.path) == ("MAP-PROPERTY-MISSING", "properties.$p.v")


def test_properties_of_providers_and_gateways_are_no_fields() -> None:
    translator = Translator()
    message = translator.forward(event([("a", LONG, 1)]), now_ms=NOW_MS, gid="g")
    added = {"JMSXDeliveryCount": 2, "JMS_AMQP_x": "y", "$batch": 3, "AMQ_SCHEDULED_DELAY": 5}
    for _ in range(2):
        assert translator.reverse(changed(message, **added), now_ms=NOW_MS) == event([("a", LONG, 1)])


def test_text_with_nul_is_mended_and_counted_and_said() -> None:
    """OC-TYPE-10."""
    translator = Translator()
    message = translator.forward(event([("a", STRING, "x"), ("b", STRING, "y")]), now_ms=NOW_MS)
    broken = changed(message, **{"$a": "x\0y"})
    assert translator.reverse(broken, now_ms=NOW_MS) == event([("a", STRING, "x\ufffdy"), ("b", STRING, "y")])
    assert translator.counts["OC-TYPE-10"] == 1
    explained = translator.explain_reverse(broken, now_ms=NOW_MS)
    assert [entry.rule for entry in explained.entries if not entry.lossless] == ["OC-TYPE-10"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"v":2}',
        '{"v":1,"p":"none","h":[],"f":[],"b":["none"]}',
        '{"v":1,"p":"borland","f":[],"b":["none"]}',
        '{"v":1,"p":"borland","h":[],"f":[["x"]],"b":["none"]}',
        '{"v":1,"p":"borland","h":[],"f":[["x","zz"]],"b":["none"]}',
        '{"v":1,"p":"borland","h":[],"f":[["x",0]],"b":["none"]}',
        '{"v":1,"p":"borland","t":[["Q",0]],"h":[],"f":[["x",0]],"b":["none"]}',
        '{"v":1,"p":"borland","t":[["S","IDL:x:1.0"]],"h":[],"f":[["x",0]],"b":["none"]}',
        '{"v":1,"p":"borland","t":[["R","IDL:x:1.0"]],"h":[],"f":[["x",0]],"b":["none"]}',
        '{"v":1,"p":"borland","t":{},"h":[],"f":[],"b":["none"]}',
        '{"v":1,"p":"borland","h":[["x","st","hdr",0]],"f":[],"b":["none"]}',
        '{"v":1,"p":"borland","h":[],"f":[["x","st","what",0]],"b":["none"]}',
        '{"v":1,"p":"borland","h":[],"f":[],"b":["none"],"d":[-1,{}]}',
        '{"v":1,"p":"borland","h":[],"f":[],"b":["none"],"d":[1]}',
        "[" * 100_000,
    ],
)  # fmt: skip
def test_metadata_that_nobody_of_ours_wrote_is_an_error_that_says_so(text: str) -> None:
    """OC-META-1."""
    translator = Translator()
    message = changed(translator.forward(event(), now_ms=NOW_MS), **{"$se": text or "0"})
    for _ in range(2):
        with pytest.raises(MappingError) as error:
            translator.reverse(message, now_ms=NOW_MS)
        assert error.value.code == "MAP-METADATA"
        assert error.value.hint


def test_types_that_unfold_without_end_are_refused() -> None:
    """Each of fifty structs holds two of the one before: 2^50 members written out."""
    table: list[Any] = [["S", "IDL:x:1.0", "x", "a", "l"]]
    table += [["S", "IDL:x:1.0", "x", "a", n, "b", n] for n in range(50)]
    text = json.dumps({"v": 1, "p": "borland", "t": table, "h": [], "f": [["x", 50]], "b": ["none"]})
    translator = Translator()
    message = changed(translator.forward(event(), now_ms=NOW_MS), **{"$se": text})
    with pytest.raises(MappingError) as error:
        translator.reverse(message, now_ms=NOW_MS)
    assert error.value.code == "MAP-METADATA"


# Without metadata


@pytest.mark.parametrize(
    ("field", "comes_back", "lossless"),
    [
        (("a", LONG, 3), ("a", LONG, 3), True),
        (("a", STRING, "x"), ("a", STRING, "x"), True),
        (("a", BOOLEAN, True), ("a", BOOLEAN, True), True),
        (("a", USHORT, 3), ("a", LONG, 3), False),
        (("a", WSTRING, "x"), ("a", STRING, "x"), False),
        (("a", OCTET_SEQ, b"x"), ("a", STRING, "eA=="), False),
    ],
)
def test_without_metadata_only_plain_types_come_back(field: Field, comes_back: Field, lossless: bool) -> None:
    """OC-META-1, RULES.md 5.5 point 1."""
    translator = Translator(Options(metadata=False))
    explained = translator.explain(event([field]), now_ms=NOW_MS)
    assert explained.lossless is lossless
    message = explained.result
    assert isinstance(message, Message)
    assert "$se" not in named(message)
    assert translator.reverse(message, now_ms=NOW_MS) == event([comes_back])


@pytest.mark.parametrize("profile", ["borland", "strict", "mq"])
def test_without_metadata_names_are_read_back(profile: Any) -> None:
    """RULES.md 5.5 point 1."""
    translator = Translator(Options(metadata=False, profile=profile))
    message = translator.forward(
        event([("p q", POINT, {"n": "x", "v": 1}), ("a", LONG, 1), ("a", LONG, 2)]), now_ms=NOW_MS
    )
    back = translator.reverse(message, now_ms=NOW_MS)
    assert back == event([("p q.n", STRING, "x"), ("p q.v", LONG, 1), ("a", LONG, 1), ("a", LONG, 2)])


@pytest.mark.parametrize(
    ("type_", "value", "comes_back"),
    [
        (STRING, "hi", Any_(STRING, "hi")),
        (LONG, 7, Any_(LONG, 7)),
        (Sequence(LONG), [1, 2], Any_(Sequence(LONG), [1, 2])),
        (OCTET_SEQ, b"\0", Any_(OCTET_SEQ, b"\0")),
        (POINT, {"n": "x", "v": 1}, Any_(POINT, {"n": "x", "v": 1})),
        (NAME, [], Any_(NAME, [])),
        (USHORT, 7, Any_(LONG, 7)),
    ],
)
def test_without_metadata_the_body_is_read_by_its_mark(type_: IdlType, value: Any, comes_back: Any_) -> None:
    """OC-BODY-6, RULES.md 5.5 point 1."""
    translator = Translator(Options(metadata=False))
    message = translator.forward(event(remainder=Any_(type_, value)), now_ms=NOW_MS)
    assert translator.reverse(message, now_ms=NOW_MS).remainder_of_body == comes_back


def test_a_null_property_is_an_absent_one() -> None:
    """OC-TYPE-14: JMS null is absent."""
    translator = Translator()
    message = translator.forward(event([("a", STRING, "x"), ("b", LONG, 1)]), now_ms=NOW_MS)
    nulled = Message(
        message.headers,
        tuple(MessageProperty(p.name, p.type, None if p.name == "$a" else p.value) for p in message.properties),
        message.body,
    )
    assert translator.reverse(nulled, now_ms=NOW_MS) == event([("b", LONG, 1)])
