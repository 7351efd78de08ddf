"""What pydantic finds, in words for the people who write configurations. Values are shown as they were written, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from gateway.settings.document import quoted_key
from gateway.settings.model_fields import description_at, keys_at
from gateway.settings.nodes import Node, Path, Scalar
from gateway.settings.report import Report
from gateway.settings.settings import ID_PATTERN

NOT_YET_KEYS: Final = (("links", "*", "dead_letter", "queue"),)
"""Parts that the documents speak of and this version does not have; `*` stands for any id."""

ID_FORM: Final = "an id begins with a letter and goes on with letters, digits, _ . -"

_KINDS: Final[dict[str, tuple[str, str]]] = {
    # error of pydantic: what the value is not, and what to do about it
    "string_type": ("text", "put it in quotes"),
    "int_type": ("a whole number", "write it in digits alone, without quotes"),
    "int_from_float": ("a whole number", "write it in digits alone"),
    "float_type": ("a number", "write it without quotes"),
    "bool_type": ("true or false", "write true or false, without quotes"),
    "list_type": ("a list", "write [a, b], or one entry a line, each after a dash"),
    "dict_type": ("a mapping", "write {key: value}, or one key a line, indented"),
    "model_type": ("a mapping", "write {key: value}, or one key a line, indented"),
}
_BOUNDS: Final = {
    "greater_than_equal": ("ge", "at least"),
    "less_than_equal": ("le", "at most"),
    "greater_than": ("gt", "more than"),
    "less_than": ("lt", "less than"),
}


def report_errors(report: Report, model: type[BaseModel], base: Path, errors: Sequence[ErrorDetails]) -> None:
    """Report what is wrong with the data at the path `base`, which should have been those of a model."""
    seen: set[Path] = set()
    for number, error in enumerate(errors):
        if report.leave_out_errors(len(errors) - number):
            return
        loc, kind = error["loc"], error["type"]
        if loc[-1:] == ("[key]",):
            _bad_id(report, (*base, *loc[:-1]))
        elif kind == "missing":
            _missing(report, model, base, loc)
        elif kind == "extra_forbidden":
            _unknown_key(report, model, base, loc)
        else:
            path, node = report.document.nearest((*base, *loc))
            if path not in seen:  # a union has an error for each of its members
                seen.add(path)
                kind = "union" if len(path) < len(base) + len(loc) else kind
                description = description_at(model, path[len(base) :])
                _bad_value(report, path, node, kind, error.get("ctx", {}), description)


def report_no_mapping(report: Report, path: Path) -> None:
    """Report that what stands at a path is not the mapping that it should be."""
    _bad_value(report, path, report.document.nearest(path)[1], "dict_type", {}, "")


def _missing(report: Report, model: type[BaseModel], base: Path, loc: Path) -> None:
    owner = (*base, *loc[:-1])
    hint = _hint(description_at(model, loc))
    report.error("CFG-MISSING", owner, f'"{loc[-1]}" is missing', hint, at=report.key(owner))


def _unknown_key(report: Report, model: type[BaseModel], base: Path, loc: Path) -> None:
    path = (*base, *loc)
    shown = quoted_key(str(loc[-1]))
    if any(_matches(path, pattern) for pattern in NOT_YET_KEYS):
        report.error("CFG-NOT-YET", path[:-1], f"{shown} is not in this version", "leave it out", at=report.key(path))
    else:
        hint = report.did_you_mean(str(loc[-1]), keys_at(model, loc[:-1]), "key")
        report.error("CFG-UNKNOWN-KEY", path[:-1], f"unknown key {shown}", hint, at=report.key(path))


def _bad_id(report: Report, path: Path) -> None:
    report.error("CFG-ID", path[:-1], f"{quoted_key(str(path[-1]))} cannot be an id", ID_FORM, at=report.key(path))


def _bad_value(report: Report, path: Path, node: Node, kind: str, context: dict[str, Any], description: str) -> None:
    name, shown, hint = _name(path), report.document.shown(path), _hint(description)
    if isinstance(node, Scalar) and node.value is None:
        report.error("CFG-TYPE", path, f"{name} has no value", hint or "write one, or leave the key out")
    elif kind in _KINDS:
        what, remedy = _KINDS[kind]
        report.error("CFG-TYPE", path, f"{name}: {shown} is not {what}", _surprise(kind, node) or remedy)
    elif kind == "literal_error":
        known = [word.strip("'") for word in context["expected"].replace(" or ", ", ").split(", ")]
        hint = report.suggestion(path, known, "value")
        report.error("CFG-VALUE", path, f"{name}: {shown} is not among the values that it can have", hint)
    elif kind in _BOUNDS:
        bound, words = _BOUNDS[kind]
        report.error("CFG-VALUE", path, f"{name} must be {words} {context[bound]}", hint)
    elif kind in ("string_too_short", "too_short"):
        report.error("CFG-VALUE", path, f"{name} is empty", hint or "write a value")
    elif kind == "string_pattern_mismatch" and context["pattern"] == ID_PATTERN:
        report.error("CFG-ID", path, f"{name}: {shown} cannot be an id", ID_FORM)
    elif kind == "value_error":
        report.error("CFG-VALUE", path, str(context["error"]), hint)
    else:
        report.error("CFG-VALUE", path, f"{name}: {shown} does not have the right form", hint)


def _surprise(kind: str, node: Node) -> str:
    """A better hint for what other readers of YAML would have taken for something else."""
    if not isinstance(node, Scalar):
        return ""
    if kind == "list_type":
        return "put it in brackets: [ ]"
    text = node.text.lower()
    if kind == "bool_type" and text in ("yes", "on", "y", "1", "true"):
        return "write true"
    if kind == "bool_type" and text in ("no", "off", "n", "0", "false"):
        return "write false"
    return ""


def _name(path: Path) -> str:
    """The last key of a path, with the indices after it: `hosts[1]`."""
    indices = ""
    for step in reversed(path):
        if isinstance(step, str):
            return quoted_key(step)[1:-1] + indices
        indices = f"[{step}]{indices}"
    return "the configuration"


def _hint(description: str) -> str:
    """A description of the models as a hint: within brackets, a sentence has no full stop."""
    return description.removesuffix(".")


def _matches(path: Path, pattern: tuple[str, ...]) -> bool:
    return len(path) == len(pattern) and all(wanted in ("*", step) for step, wanted in zip(path, pattern, strict=True))
