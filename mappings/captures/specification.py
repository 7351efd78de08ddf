"""The mapping in force on a link as JSON: saved beside the capture, and compiled again by whoever reads it.

    {"layout": 1, "engine": "0.1.0", "gateway": "nms-bridge", "link": "alarms",
     "source": {"channel": "ems-alarms", "address": "…"}, "sink": {…},
     "translation": {"source_form": "event", "sink_form": "message", "etcl": "…", "options": {…}, "rules": [{"rename": …}, …]}}

Rules have the form that they have in a configuration. The version of a mapping is a digest of all this, so that it is the same on
both sides of a restart, and another one as soon as anything that matters has changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from mappings.captures.errors import CaptureError
from mappings.captures.layout import LAYOUT_VERSION
from mappings.model import MessageProperty
from mappings.passage import Translation
from mappings.translate import Limits, Options
from mappings.translate.rules import ChooseBody, Constant, CopyHeader, Drop, Rename, Route, Rule

VERSION_CHARACTERS: Final = 12
_PLAIN: Final = tuple(field.name for field in fields(Options) if field.name not in ("limits", "rules"))
_TRANSLATION_PLAIN: Final = tuple(field.name for field in fields(Translation) if field.name != "options")


@dataclass(frozen=True, slots=True)
class End:
    """A channel of the configuration, and what names it at the far side; the same for every gateway that speaks of it."""

    channel: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class Specification:
    """What a capture tells of one link, as it was at the time."""

    gateway: str
    link: str
    source: End
    sink: End
    translation: Translation
    engine: str = ""

    @property
    def version(self) -> str:
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:VERSION_CHARACTERS]

    def to_json(self) -> dict[str, Any]:
        return {
            "layout": LAYOUT_VERSION,
            "engine": self.engine,
            "gateway": self.gateway,
            "link": self.link,
            "source": asdict(self.source),
            "sink": asdict(self.sink),
            "translation": translation_to_json(self.translation),
        }


def specification_from_json(form: Any) -> Specification:
    """Raises CaptureError (CAP-MAPPING)."""
    try:
        if form["layout"] != LAYOUT_VERSION:
            raise _unreadable(f"it is of layout {form['layout']!r}, and this version knows {LAYOUT_VERSION}")
        return Specification(
            form["gateway"],
            form["link"],
            End(**form["source"]),
            End(**form["sink"]),
            _translation_from_json(form["translation"]),
            form["engine"],
        )
    except (KeyError, TypeError, ValueError, AttributeError) as wrong:
        raise _unreadable(f"{type(wrong).__name__}: {wrong}") from None


def translation_to_json(translation: Translation) -> dict[str, Any]:
    options = translation.options
    form = {name: _plain(getattr(translation, name)) for name in _TRANSLATION_PLAIN}
    form["options"] = {**{name: getattr(options, name) for name in _PLAIN}, "limits": asdict(options.limits)}
    form["rules"] = [_rule_to_json(rule) for rule in options.rules]
    return form


def _plain(value: Any) -> Any:
    return list(map(_plain, value)) if isinstance(value, tuple) else value


def _frozen(value: Any) -> Any:
    """What JSON has made lists of."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _translation_from_json(form: Mapping[str, Any]) -> Translation:
    options = dict(form["options"])
    limits = Limits(**options.pop("limits"))
    rules = tuple(map(_rule_from_json, form["rules"]))
    rest = {name: _frozen(form[name]) for name in _TRANSLATION_PLAIN if name in form}
    return Translation(options=Options(**options, limits=limits, rules=rules), **rest)


def _rule_to_json(rule: Rule) -> dict[str, Any]:
    match rule:
        case Rename(name, to):
            return {"rename": name, "to": to}
        case Drop(name):
            return {"drop": name}
        case Constant(property_):
            return {"constant": property_.name, "type": property_.type, "value": property_.value}
        case CopyHeader(header, to):
            return {"copy_header": header, "to": to}
        case Route(destination, selector):
            return {"route": destination, "when": selector}
        case ChooseBody(body):
            return {"body": body}


def _rule_from_json(form: Mapping[str, Any]) -> Rule:
    match form:
        case {"rename": name, "to": to}:
            return Rename(name, to)
        case {"drop": name}:
            return Drop(name)
        case {"constant": name, "type": type_, "value": value}:
            return Constant(MessageProperty(name, type_, value))
        case {"copy_header": header, "to": to}:
            return CopyHeader(header, to)
        case {"route": destination, "when": selector}:
            return Route(destination, selector)
        case {"body": body}:
            return ChooseBody(body)
    raise ValueError(f"a rule of no known kind: {form!r}")


def specification_from_text(text: str | bytes) -> Specification:
    """Raises CaptureError (CAP-MAPPING)."""
    try:
        form = json.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise _unreadable(str(wrong)) from None
    return specification_from_json(form)


def _unreadable(why: str) -> CaptureError:
    return CaptureError(
        "CAP-MAPPING",
        f"a saved mapping cannot be read: {why}",
        hint="was it written by a later version, or changed by hand?",
    )
