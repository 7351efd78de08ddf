"""The JSON Schema for editors, and the files that are made from the models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from gateway.settings import Settings
from gateway.settings.schema import json_schema
from tests.unit.settings.generated_files import GENERATED, ROOT
from tests.unit.settings.option_tables import all_models


@pytest.mark.parametrize("path", GENERATED, ids=str)
def test_generated_files_are_current(path: str) -> None:
    hint = "renew it with: python -m tests.unit.settings.generated_files"
    assert (ROOT / path).read_text(encoding="utf-8") == GENERATED[path](), hint


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object" and ("properties" in schema or "patternProperties" in schema):
            yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


def test_nothing_but_what_is_known_may_stand_anywhere() -> None:
    found = list(objects(json_schema()))
    assert len(found) > 20
    assert all(schema["additionalProperties"] is False for schema in found)


def test_every_option_and_every_part_is_described() -> None:
    for model in all_models(Settings):
        assert model.__doc__, model
        for name, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{name} says nothing about itself"
    for schema in objects(json_schema()):
        for name, option in schema.get("properties", {}).items():
            assert option.get("description"), name


def test_secrets_must_be_references_for_editors_too() -> None:
    password = json_schema()["$defs"]["StompEndpoint"]["properties"]["password"]
    assert {
        "type": "string",
        "format": "password",
        "writeOnly": True,
        "pattern": r"\$\{(env|file):[^}]+\}",
    } in password["anyOf"]


def test_every_reference_inside_leads_somewhere() -> None:
    schema = json_schema()
    text = json.dumps(schema)
    for name in schema["$defs"]:
        assert f'"#/$defs/{name}"' in text, f"{name} is used nowhere"
    for found in text.split('"$ref": "')[1:]:
        assert found.split('"')[0].removeprefix("#/$defs/") in schema["$defs"]


def test_the_keys_are_those_of_the_file_not_of_the_code() -> None:
    assert {"from", "to"} <= json_schema()["$defs"]["LinkSettings"]["properties"].keys()
