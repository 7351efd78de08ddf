"""Secrets stand in the file by reference only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, SecretStr

from gateway.settings.nodes import Path, Scalar
from gateway.settings.report import Report
from gateway.settings.secrets import holds_reference
from gateway.settings.settings import Settings


def check_secrets(settings: Settings, report: Report) -> None:
    for path in _secrets(settings, ()):
        node = report.document.node(path)
        if isinstance(node, Scalar) and not holds_reference(node.text):
            report.error(
                "CFG-SECRET-PLAIN",
                path,
                f"{path[-1]} stands in the file as it is",
                "write ${env:NAME} or ${file:PATH}, and change the secret: it may have been seen",
            )


def _secrets(value: Any, path: Path) -> Iterator[Path]:
    if isinstance(value, SecretStr):
        yield path
    elif isinstance(value, BaseModel):
        for name in value.model_fields_set:  # what is not given is no secret
            key = type(value).model_fields[name].alias or name
            yield from _secrets(getattr(value, name), (*path, key))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _secrets(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _secrets(item, (*path, index))
