"""What a job needs of YAML files: the mappings of a configuration's links, and what consumers select."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from gateway.capture.specifying import specification_of
from gateway.settings import SettingsError, read
from gateway.settings.settings import Settings
from mappings.captures.errors import CaptureError
from mappings.errors import FilterError
from mappings.filters import compile_etcl, compile_selector


def settings_of(config: Path, *, look_up_secrets: bool = False) -> Settings:
    """Raises SettingsError."""
    reading = read(config, look_up_secrets=look_up_secrets)
    if reading.settings is None or any(finding.severity == "error" for finding in reading.findings):
        raise SettingsError(reading.findings)
    return reading.settings


def specifications(config: Path) -> dict[str, Any]:
    """By link. Secrets are not looked up: no peer is needed. Raises SettingsError."""
    settings = settings_of(config)
    return {link: specification_of(settings, link).to_json() for link, its in settings.links.items() if its.enabled}


def consumers(path: Path) -> list[dict[str, str]]:
    """Raises CaptureError (CAP-SELECTORS)."""
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as trouble:
        raise _wrong(path, trouble.strerror or str(trouble)) from None
    except (yaml.YAMLError, UnicodeDecodeError) as wrong:
        raise _wrong(path, " ".join(str(wrong).split())) from None
    if not isinstance(entries, list):
        raise _wrong(path, "it is no list")
    return [_consumer(entry, f"{path}, entry {number}") for number, entry in enumerate(entries, 1)]


def _consumer(entry: Any, place: str) -> dict[str, str]:
    kinds = [kind for kind in ("selector", "etcl") if isinstance(entry, dict) and kind in entry]
    if (
        not isinstance(entry, dict)
        or len(kinds) != 1
        or not {"name", *kinds} <= entry.keys() <= {"name", "link", *kinds}
    ):
        raise _wrong(place, "an entry has a name, a link or none, and either a selector or an etcl")
    if not all(isinstance(value, str) for value in entry.values()):
        raise _wrong(place, "every value is text")
    try:
        (compile_selector if kinds == ["selector"] else compile_etcl)(entry[kinds[0]])
    except FilterError as wrong:
        raise _wrong(place, str(wrong)) from None
    return {str(key): value for key, value in entry.items()}


def _wrong(place: object, why: str) -> CaptureError:
    return CaptureError(
        "CAP-SELECTORS",
        f"this is no list of consumers: {why}",
        path=str(place),
        hint='for example: [{name: nms, link: alarms, selector: "$Severity > 3"}]',
    )
