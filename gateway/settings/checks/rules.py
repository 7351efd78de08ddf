"""The rules of links: names that may be given to properties, values that fit their types, and rules that undo each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gateway.settings.links import LinkSettings
from gateway.settings.nodes import Path
from gateway.settings.report import Report
from gateway.settings.rules import BodyRule, ConstantRule, CopyHeaderRule, DropRule, RenameRule, Rule
from gateway.settings.settings import Settings

_NAME_FORMS: Final = {
    "strict": (re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*"), "letters, digits, _ and $, not beginning with a digit"),
    "mq": (re.compile(r"[A-Za-z_][A-Za-z0-9_]*"), "letters, digits and _, not beginning with a digit"),
}
"""By profile (RULES.md 5.3); borland takes any name."""

_OWN: Final = frozenset(
    prefix + name for prefix in ("$", "_s") for name in ("se", "gid", "body", "body_type", "body__type", "batch")
)
"""Properties that the gateway makes and reads for its own purposes (OC-META-1, OC-ID-1, OC-BODY-6, OC-SEQ-1)."""

_KEYWORDS: Final = frozenset(["NULL", "TRUE", "FALSE", "NOT", "AND", "OR", "BETWEEN", "LIKE", "IN", "IS", "ESCAPE"])
_MAY_BE_SET: Final = frozenset({"JMSXGroupID", "JMSXGroupSeq"})

_WHOLE: Final = {"byte": 8, "short": 16, "int": 32, "long": 64}
_LARGEST_FLOAT: Final = 3.4028235677973366e38
"""Half a step above the largest Java float: from here on it rounds to infinity."""


def check_rules(settings: Settings, report: Report) -> None:
    for id_, link in settings.links.items():
        path = ("links", id_, "rules")
        profile = getattr(settings.channels.get(link.sink), "profile", "borland")
        for index, rule in enumerate(link.rules):
            for key, name in _new_names(rule):
                _new_name(report, (*path, index, key), name, profile)
            if isinstance(rule, RenameRule | DropRule):
                key = "rename" if isinstance(rule, RenameRule) else "drop"
                _old_name(report, (*path, index, key), rule.rename if isinstance(rule, RenameRule) else rule.drop)
            if isinstance(rule, ConstantRule):
                _constant(report, (*path, index, "value"), rule)
        _undone(report, path, link)
    _event_names(settings, report)


def _new_names(rule: Rule) -> Iterator[tuple[str, str]]:
    """The properties that a rule puts into the message, with the key of the rule that names them."""
    if isinstance(rule, RenameRule | CopyHeaderRule):
        yield "to", rule.to
    elif isinstance(rule, ConstantRule):
        yield "constant", rule.constant


def _new_name(report: Report, path: Path, name: str, profile: str) -> None:
    shown = report.document.shown(path)
    if name in _OWN:
        hint = "choose another name"
        report.error("CFG-RULE-NAME", path, f"{shown} is a property of the gateway's own", hint)
    elif name.startswith("JMS") and name not in _MAY_BE_SET:
        hint = "names that begin with JMS belong to JMS and its providers (OC-NAME-6): choose another"
        report.error("CFG-RULE-NAME", path, f"{shown} cannot be the name of a property", hint)
    elif name.upper() in _KEYWORDS:
        hint = "it is a word of the selector language (OC-NAME-5): choose another"
        report.error("CFG-RULE-NAME", path, f"{shown} cannot be the name of a property", hint)
    elif profile in _NAME_FORMS and not _NAME_FORMS[profile][0].fullmatch(name):
        hint = f"use {_NAME_FORMS[profile][1]}"
        report.error("CFG-RULE-NAME", path, f"{shown} is no name of profile {profile}", hint)


def _old_name(report: Report, path: Path, name: str) -> None:
    if name in _OWN:
        report.error(
            "CFG-RULE-NAME",
            path,
            f"{report.document.shown(path)} is a property of the gateway's own, which reads it on the way back",
            "leave it; mapping.metadata: false switches $se off" if name.endswith("se") else "leave it",
        )


def _constant(report: Report, path: Path, rule: ConstantRule) -> None:
    value = rule.value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match rule.type:
        case "boolean":
            fits = isinstance(value, bool)
        case "String":
            fits = isinstance(value, str)
        case "float":
            fits = number and abs(value) < _LARGEST_FLOAT  # type: ignore[arg-type]  # a number, as `number` says
        case "double":
            fits = number
        case whole:
            bound = 1 << (_WHOLE[whole] - 1)
            fits = isinstance(value, int) and number and -bound <= value < bound
    if not fits:
        hint = "put text in quotes, write numbers without; or name another type"
        report.error("CFG-RULE-VALUE", path, f"{report.document.shown(path)} is no {rule.type}", hint)


def _undone(report: Report, path: Path, link: LinkSettings) -> None:
    """Rules that take away what an earlier one has made or already taken, and choices that are made twice."""
    gone: dict[str, int] = {}
    made: dict[str, int] = {}
    body: int | None = None
    for index, rule in enumerate(link.rules):
        for key, name in _new_names(rule):
            if name in made:
                first = report.document.place((*path, made[name])).line
                message = f"the rule in line {first} makes property {report.document.shown((*path, index, key))} too"
                report.error("CFG-RULE-TWICE", (*path, index, key), message, "keep one of them")
            made.setdefault(name, index)
            gone.pop(name, None)
        if isinstance(rule, RenameRule | DropRule):
            key, name = ("rename", rule.rename) if isinstance(rule, RenameRule) else ("drop", rule.drop)
            if name in gone:
                first = report.document.place((*path, gone[name])).line
                message = (
                    f"the rule in line {first} has already taken property {report.document.shown((*path, index, key))}"
                )
                report.warning("CFG-NO-EFFECT", (*path, index, key), message, "remove this rule, or put it first")
            gone.setdefault(name, index)
            made.pop(name, None)
        if isinstance(rule, BodyRule):
            if body is not None:
                first = report.document.place((*path, body)).line
                message = f"the rule in line {first} chooses the body too"
                report.error("CFG-RULE-TWICE", (*path, index), message, "keep one of them")
            body = index


def _event_names(settings: Settings, report: Report) -> None:
    for id_, link in settings.links.items():
        name = link.mapping.event_name_from
        if name is not None and name.startswith("JMS") and name != "JMSMessageID" and not name.startswith("JMSX"):
            path = ("links", id_, "mapping", "event_name_from")
            hint = "write JMSMessageID, or the name of a property"
            report.error("CFG-VALUE", path, f"event_name_from: {report.document.shown(path)} cannot be taken", hint)
