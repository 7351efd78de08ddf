"""From a tree to models: whatever is valid becomes a `Settings`, whatever is not becomes findings.

A mistake in one entry must not hide the mistakes in others, so an invalid entry is taken out and the rest is tried again: the
checks that look at several entries at once then work on what is left. Only a configuration that is whole is ever run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gateway.settings.model_findings import report_errors, report_no_mapping
from gateway.settings.nodes import Path, to_data
from gateway.settings.report import Report
from gateway.settings.rules import RULES, word_of
from gateway.settings.settings import Settings
from gateway.settings.wires import NOT_YET, WIRES, Wire

M = TypeVar("M", bound=BaseModel)

_NO_NAME: Final = "unnamed"
"""Stands for the name of a gateway that has none, so that its other parts can be checked."""


class Validated(NamedTuple):
    settings: Settings | None  # what is valid; None where nothing is
    whole: bool  # whether that is everything


def validate(report: Report) -> Validated:
    """Everything that single models can see is reported."""
    data: dict[str, Any] = to_data(report.document.top)
    whole = _put_in_place(data, "endpoints", report, _endpoint)
    whole &= _put_in_place(data, "channels", report, _channel)
    for link, entry in _entries(data, "links").items():
        whole &= _rules(entry, ("links", link, "rules"), report)
    settings, rest = _salvage(Settings, data, (), report)
    if settings is None:
        settings, _ = _salvage(Settings, {**data, "name": _NO_NAME}, (), report, silent=True)
    return Validated(settings, whole and rest)


def wire_of_endpoint(report: Report, endpoint: object) -> Wire | None:
    """The wire that an endpoint names; None where there is no such endpoint or wire."""
    if not isinstance(endpoint, str):
        return None
    kind = report.document.value(("endpoints", endpoint, "type"))
    return WIRES.get(kind) if isinstance(kind, str) else None


def _put_in_place(data: dict[str, Any], section: str, report: Report, make: Any) -> bool:
    """Replace the entries of a section by models, and take out those that are none."""
    whole = True
    entries = _entries(data, section)
    for id_ in list(entries):
        model, complete = make(entries[id_], (section, id_), report)
        whole &= complete
        if model is None:
            del entries[id_]
        else:
            entries[id_] = model
    return whole


def _endpoint(entry: Any, path: Path, report: Report) -> tuple[BaseModel | None, bool]:
    if not _is_mapping(entry, path, report):
        return None, False
    kind = entry.get("type")
    if "type" not in entry:
        report.error(
            "CFG-MISSING", path, '"type" is missing', f"which wire is it? {', '.join(WIRES)}", at=report.key(path)
        )
    elif isinstance(kind, str) and kind in NOT_YET and not report.document.substituted((*path, "type")):
        report.error(
            "CFG-NOT-YET",
            (*path, "type"),
            f"endpoints of type {kind} are not in this version",
            f"this version has {', '.join(WIRES)}",
        )
    elif not isinstance(kind, str) or kind not in WIRES:
        at = (*path, "type")
        shown = report.document.shown(at)
        report.error("CFG-VALUE", at, f"type: {shown} is no wire", report.suggestion(at, WIRES, "wire"))
    else:
        return _salvage(WIRES[kind].endpoint, entry, path, report)
    return None, False


def _channel(entry: Any, path: Path, report: Report) -> tuple[BaseModel | None, bool]:
    if not _is_mapping(entry, path, report):
        return None, False
    at = (*path, "endpoint")
    if "endpoint" not in entry:
        hint = report.known(report.document.keys(("endpoints",)), "endpoint")
        report.error("CFG-MISSING", path, '"endpoint" is missing', hint, at=report.key(path))
        return None, False
    known = report.document.keys(("endpoints",))
    if entry["endpoint"] not in known:
        shown = report.document.shown(at)
        report.error(
            "CFG-UNKNOWN-ENDPOINT", at, f"there is no endpoint {shown}", report.suggestion(at, known, "endpoint")
        )
        return None, False
    wire = wire_of_endpoint(report, entry["endpoint"])
    if wire is None:
        return None, False  # the endpoint has its finding
    return _salvage(wire.channel, entry, path, report)


def _rules(link: Any, path: Path, report: Report) -> bool:
    """Replace the rules of a link by models."""
    rules = link.get("rules") if isinstance(link, dict) else None
    if not isinstance(rules, list):
        return True
    whole = True
    made: dict[int, BaseModel] = {}
    for index, entry in enumerate(rules):
        model, complete = _rule(entry, (*path, index), report)
        whole &= complete
        if model is not None:
            made[index] = model
    link["rules"] = list(made.values())
    report.document.kept[path] = list(made)
    return whole


def _rule(entry: Any, path: Path, report: Report) -> tuple[BaseModel | None, bool]:
    if not _is_mapping(entry, path, report):
        return None, False
    word = word_of(entry)
    if word is None:
        hint = f"write one of: {', '.join(RULES)}"
        report.error("CFG-RULE", path, "a rule must hold exactly one of the words that tell rules apart", hint)
        return None, False
    return _salvage(RULES[word], entry, path, report)


def _is_mapping(entry: Any, path: Path, report: Report) -> bool:
    if isinstance(entry, dict):
        return True
    report_no_mapping(report, path)
    return False


def _entries(data: Any, section: str) -> dict[str, Any]:
    entries = data.get(section)
    return entries if isinstance(entries, dict) else {}


def _salvage(model: type[M], data: Any, path: Path, report: Report, *, silent: bool = False) -> tuple[M | None, bool]:
    """A model of what is valid in the data, and whether that is all of it. Takes what is invalid out of the data."""
    whole = True
    while True:
        try:
            return model.model_validate(data), whole
        except ValidationError as error:
            errors = error.errors(include_url=False, include_input=False)
        if whole and not silent:
            report_errors(report, model, path, errors)
        whole = False
        if not _prune(data, errors, path, report.document.kept):
            return None, False


def _prune(data: Any, errors: Sequence[ErrorDetails], base: Path, kept: dict[Path, list[int]]) -> bool:
    """Take out the smallest parts that make the data invalid; False where that would be all of it."""
    wrong = {_existing(data, _culprit(error)) for error in errors}
    if () in wrong:
        return False
    for path in sorted(wrong, key=_order, reverse=True):  # items of a list from its end: indices stay right
        parent, last = data, path[-1]
        for step in path[:-1]:
            parent = parent[step]
        if isinstance(parent, list) and isinstance(last, int):
            where = (*base, *path[:-1])
            if where not in kept:
                kept[where] = list(range(len(parent)))
            del kept[where][last]
        del parent[last]
    return True


def _culprit(error: ErrorDetails) -> Path:
    loc = error["loc"]
    return loc[:-1] if error["type"] == "missing" or loc[-1:] == ("[key]",) else loc


def _existing(data: Any, path: Path) -> Path:
    """The longest part of a path that exists: pydantic adds steps of its own, such as the members of a union."""
    for depth, step in enumerate(path):
        steps = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
        if step not in steps:
            return path[:depth]
        data = data[step]
    return path


def _order(path: Path) -> list[tuple[int, str]]:
    return [(step, "") if isinstance(step, int) else (-1, step) for step in path]
