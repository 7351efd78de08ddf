"""docs/mapping.md: its examples are true, and its tables name what there is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mappings.forms.events import event_from_json, event_to_json
from mappings.forms.messages import message_from_json, message_to_json
from mappings.model import StructuredEvent
from mappings.translate import Limits, Options, Translator
from mappings.translate.names import PROFILES
from tests.unit.translate.build import NOW_MS

PAGE = (Path(__file__).parents[3] / "docs" / "mapping.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```json ([^\n]+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def pairs() -> list[tuple[str, Any, str, Any]]:
    """Each example with what must come of it."""
    assert len(BLOCKS) % 2 == 0
    blocks = [(kind, json.loads(text)) for kind, text in BLOCKS]
    return [(*blocks[at], *blocks[at + 1]) for at in range(0, len(blocks), 2)]


@pytest.mark.parametrize(("kind", "given", "made_kind", "made"), pairs())
def test_every_example_comes_out_as_shown(kind: str, given: Any, made_kind: str, made: Any) -> None:
    if kind == "native":
        assert made_kind == "event of it"
        event = Translator().reverse(message_from_json(given), now_ms=NOW_MS)
        assert event_to_json(event) == made
        return
    assert kind == "event"
    profile: Any = made_kind.removeprefix("message").strip() or "borland"
    translator = Translator(Options(profile=profile))
    event_given = event_from_json(given)
    assert isinstance(event_given, StructuredEvent)
    message = translator.forward(event_given, now_ms=NOW_MS)
    form = message_to_json(message)
    assert form["properties"] == made["properties"]
    assert form["body"] == made["body"]
    assert form["headers"].items() >= made.get("headers", {}).items()
    assert translator.reverse(message, now_ms=NOW_MS) == event_given


def test_there_are_three_examples() -> None:
    assert len(pairs()) == 3


def test_the_names_in_the_table_are_those_of_the_profiles() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(.*?)` \| `(.*?)` \| `(.*?)` \|", PAGE, re.MULTILINE)
    assert [row[0] for row in rows] == list(PROFILES)
    for profile_name, *spelt in rows:
        encode = PROFILES[profile_name].encode
        assert spelt == [encode(path) for path in (("Fd1", "AlarmName"), ("domain_type",), ("Managed Object",))]


def test_the_limits_are_the_defaults() -> None:
    limits = Limits()
    assert f"deeper than {limits.depth} levels" in PAGE
    assert f"beyond {limits.properties} properties" in PAGE
    assert f"over {limits.property_bytes // 1024} KiB" in PAGE


def test_every_rule_of_a_link_is_on_the_page() -> None:
    source = (Path(__file__).parents[3] / "mappings" / "translate" / "rules.py").read_text(encoding="utf-8")
    ids = set(re.findall(r"LINK-[A-Z]+(?:-[A-Z]+)*", source))
    assert ids == {"LINK-RENAME", "LINK-DROP", "LINK-CONSTANT", "LINK-COPY-HEADER", "LINK-ROUTE", "LINK-BODY"}
    assert ids <= set(re.findall(r"LINK-[A-Z-]+[A-Z]", PAGE))
