"""The JSON Schema of the configuration, for editors: what may stand where, and what it means.

It is made from the models, so it knows what they know. What only `isthmus lint` can see (references between entries, filters,
cycles) is not in it.
"""

from __future__ import annotations

import json
from typing import Any, Final

from gateway.settings.settings import Settings

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
TITLE: Final = "Configuration of an Isthmus gateway"
REFERENCE: Final = r"\$\{(env|file):[^}]+\}"
"""What a secret must hold somewhere."""

_SUPERFLUOUS: Final = frozenset({"title", "discriminator"})
"""The key once more in other letters, and a word of OpenAPI's."""


def json_schema() -> dict[str, Any]:
    schema = _tidied(Settings.model_json_schema())
    return {"$schema": DIALECT, "title": TITLE, **schema}


def _tidied(part: dict[str, Any]) -> dict[str, Any]:
    """A schema without what pydantic adds and no editor needs, and with what it leaves out."""
    tidy = {key: _tidied_word(key, value) for key, value in part.items() if key not in _SUPERFLUOUS}
    if isinstance(tidy.get("default"), dict | list):
        del tidy["default"]  # its parts have their own
    if "patternProperties" in tidy:
        tidy["additionalProperties"] = False
    if tidy.get("format") == "password":
        tidy["pattern"] = REFERENCE
    return tidy


def _tidied_word(word: str, value: Any) -> Any:
    if word in ("properties", "patternProperties", "$defs"):
        return {name: _tidied(schema) for name, schema in value.items()}
    if word in ("anyOf", "oneOf"):
        return [_tidied(schema) for schema in value]
    if word == "items":
        return _tidied(value)
    return value


def schema_text() -> str:
    """As it is printed, and kept in config/."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
