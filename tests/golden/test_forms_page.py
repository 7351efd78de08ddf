"""docs/forms.md: every example is read, and written again as it stands there; the page knows every kind of type."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mappings.forms.events import event_from_json, event_to_json
from mappings.forms.messages import message_from_json, message_to_json
from mappings.forms.values import value_from_json, value_to_json
from mappings.idl_types import ANY, BASIC_KINDS
from mappings.limits import MAX_DEPTH

PAGE = (Path(__file__).parents[2] / "docs" / "forms.md").read_text(encoding="utf-8")


def examples(section: str) -> list[Any]:
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    lines = [line for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    assert lines, section
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("form", examples("Values"), ids=str)
def test_any(form: Any) -> None:
    assert value_to_json(ANY, value_from_json(ANY, form)) == form


@pytest.mark.parametrize("form", examples("Events"), ids=lambda form: next(iter(form)))
def test_event(form: Any) -> None:
    assert event_to_json(event_from_json(form)) == form


@pytest.mark.parametrize("form", examples("Messages"), ids=lambda form: str(form["body"]["type"]))
def test_message(form: Any) -> None:
    assert message_to_json(message_from_json(form)) == form


def test_every_kind_is_on_the_page() -> None:
    from mappings.forms.type_readers import KINDS

    types = PAGE.split("\n## IDL types\n")[1].split("\n## ")[0]
    assert {kind for kind in (*BASIC_KINDS, *KINDS) if f"`{kind}`" not in types} == set()


def test_the_depth_on_the_page() -> None:
    assert f"up to {MAX_DEPTH} levels" in PAGE
