"""The configuration that `isthmus init` writes. The file in config/ is a copy of it, for readers and for the container image."""

from __future__ import annotations

from importlib.resources import files


def template_text() -> str:
    return files("gateway.settings").joinpath("template.yaml").read_text(encoding="utf-8")
