"""`isthmus schema`: the JSON Schema of the configuration. A copy is in config/isthmus.schema.json, for editors."""

from __future__ import annotations

from gateway.settings.schema import schema_text


def schema() -> None:
    """Print the JSON Schema of the configuration, for editors and other tools."""
    print(schema_text(), end="")
