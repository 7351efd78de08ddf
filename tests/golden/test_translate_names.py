"""Names of properties (RULES.md 5.3 OC-NAME, SE-FIX-4, SE-PROP-1): legal where they go, kept apart, and read back."""

from __future__ import annotations

import re

import pytest

from adapters.stomp.codec import Decoder, Encoder
from adapters.stomp.flavours import FLAVOURS
from adapters.stomp.frames import FrameParser
from mappings.idl_types import LONG, SHORT, STRING, Alias, Member, Sequence, Struct
from mappings.known_types import NAME
from mappings.translate import Options, Translator
from tests.unit.translate.build import NOW_MS, event, fields, named, rules, sent

SELECTOR_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")  # JMS 3.8.1.1
MQ_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")  # XML name without `.`; RULES.md 9.3
KEYWORDS = {"NULL", "TRUE", "FALSE", "NOT", "AND", "OR", "BETWEEN", "LIKE", "IN", "IS", "ESCAPE"}
AB = Struct("IDL:AB:1.0", "AB", (Member("b", LONG),))


def test_the_paper_s_two_examples_are_spelt_as_printed() -> None:
    """OC-NAME-1, SE-PROP-6, SE-PROP-7."""
    alarm = Struct("IDL:Alarm:1.0", "Alarm", (Member("AlarmName", STRING), Member("Severity", LONG)))
    name = [{"id": "NC1", "kind": ""}]
    message = sent(event([("Fd1", alarm, {"AlarmName": "LOS", "Severity": 3})], [("Ohf1", NAME, name)]))
    assert {"$Fd1.AlarmName", "$Fd1.Severity", "$Ohf1.Name.1.id", "$Ohf1.Name.1.kind"} <= set(named(message))


def test_the_outermost_typedef_of_a_sequence_is_in_its_names_once_and_can_be_left_out() -> None:
    """OC-NAME-1."""
    inner = Alias("IDL:In:1.0", "In", Sequence(SHORT))
    outer = Alias("IDL:Out:1.0", "Out", inner)
    the_event = event([("x", outer, [4])])
    assert fields(sent(the_event)) == [("$x.Out._length", "int", 1), ("$x.Out.1", "short", 4)]
    without = sent(the_event, include_seq_alias=False)
    assert fields(without) == [("$x._length", "int", 1), ("$x.1", "short", 4)]


@pytest.mark.parametrize(("profile", "name"), [("borland", "$Fd1"), ("strict", "$Fd1"), ("mq", "_sFd1")])
def test_a_simple_field_has_the_prefix_too(profile: str, name: str) -> None:
    """OC-NAME-2."""
    assert fields(sent(event([("Fd1", LONG, 1)]), profile=profile)) == [(name, "int", 1)]


def test_the_first_of_a_name_keeps_it_and_every_later_one_is_numbered() -> None:
    """OC-NAME-3."""
    the_event = event([("x", LONG, 2), ("x", LONG, 3), ("y", LONG, 4)], [("x", LONG, 1)])
    assert fields(sent(the_event)) == [
        ("$x", "int", 1),
        ("$x.#2", "int", 2),
        ("$x.#3", "int", 3),
        ("$y", "int", 4),
    ]
    assert rules(the_event)["$x.#2"] == "OC-NAME-3"


def test_names_of_our_own_are_not_taken_by_fields() -> None:
    """OC-NAME-3."""
    names = ["domain_type", "type_name", "event_name", "se", "gid", "body", "body_type", "batch", "se.2", "se.rest"]
    message = sent(event([(name, STRING, f"mine:{name}") for name in names]))
    assert [name for name, _, _ in fields(message)] == [f"${name}.#2" for name in names]


@pytest.mark.parametrize("name", ["a b", "a-b", "1st", "", "Zürich", "a.b", "$x", "_y", "日本", "a$_b", "_d"])
@pytest.mark.parametrize("profile", ["strict", "mq"])
def test_any_name_becomes_a_legal_one_and_comes_back(name: str, profile: str) -> None:
    """OC-NAME-4, SE-FIX-4, SE-PROP-1."""
    message = sent(event([(name, AB, {"b": 1}), (name + "!", LONG, 2)]), profile=profile)
    legal = SELECTOR_IDENTIFIER if profile == "strict" else MQ_NAME
    for spelt in named(message):
        assert legal.fullmatch(spelt), spelt


def test_borland_passes_names_on_as_they_are() -> None:
    """OC-NAME-4: the empty name gives the property `$`."""
    assert fields(sent(event([("", LONG, 1), ("a b", LONG, 2)]))) == [("$", "int", 1), ("$a b", "int", 2)]


@pytest.mark.parametrize("profile", ["borland", "strict", "mq"])
@pytest.mark.parametrize("name", sorted(KEYWORDS | {"null", "JMSType", "JMSXGroupID", "JMS_IBM_x"}))
def test_keywords_and_reserved_prefixes_are_out_of_reach(name: str, profile: str) -> None:
    """OC-NAME-5, OC-NAME-6."""
    ((spelt, _, _),) = fields(sent(event([(name, LONG, 1)]), profile=profile))
    assert spelt.upper() not in KEYWORDS
    assert not spelt.startswith("JMS")


@pytest.mark.parametrize("dotted_first", [False, True])
def test_names_that_clash_after_flattening_are_numbered_in_the_order_of_the_fields(dotted_first: bool) -> None:
    """OC-NAME-7."""
    data = [("a", AB, {"b": 1}), ("a.b", LONG, 2)]
    expected = [("$a.b", "int", 1), ("$a.b.#2", "int", 2)]
    if dotted_first:
        data.reverse()
        expected = [("$a.b", "int", 2), ("$a.b.#2", "int", 1)]
    assert fields(sent(event(data))) == expected
    assert fields(sent(event(data), profile="strict")) == (
        [("$a$u00002eb", "int", 2), ("$a$_b", "int", 1)]
        if dotted_first
        else [("$a$_b", "int", 1), ("$a$u00002eb", "int", 2)]
    )


def test_names_and_values_with_stomp_s_own_characters_pass_through_stomp() -> None:
    """OC-NAME-8."""
    the_event = event([("a:b\\c\r\nd", STRING, "x:y\\z\r\n "), ("nul", STRING, "")])
    translator = Translator(Options())
    message = translator.forward(the_event, now_ms=NOW_MS)
    wire = Encoder(FLAVOURS["embedded"], "json").encode(message, "queue://q", "id-1", NOW_MS)
    (frame,) = FrameParser().feed(wire)
    arrived = Decoder(FLAVOURS["embedded"]).decode(frame)
    assert {p.type for p in arrived.properties} == {"String"}
    assert translator.reverse(arrived, now_ms=NOW_MS) == the_event
