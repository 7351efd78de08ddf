"""Reads a configuration from end to end: bytes, text, tree, references, models, and the checks across them."""

from __future__ import annotations

import os
from collections.abc import Mapping as Environment
from dataclasses import dataclass
from pathlib import Path

from gateway.settings.checks import CHECKS
from gateway.settings.document import Document
from gateway.settings.findings import START, Finding, Place, SettingsError
from gateway.settings.nodes import Mapping, Node, Scalar
from gateway.settings.report import Report
from gateway.settings.secrets import check_syntax, resolve
from gateway.settings.settings import Settings
from gateway.settings.source import Source, decode, lines_of
from gateway.settings.validation import validate
from gateway.settings.yaml_reader import read_yaml


@dataclass(frozen=True, slots=True)
class Reading:
    """What there is to know about a configuration."""

    document: Document | None  # None where the file is no YAML mapping
    settings: Settings | None  # what of it is valid; to be run only where `runnable`
    findings: tuple[Finding, ...]  # in the order of the file
    runnable: bool


def load(path: str | os.PathLike[str]) -> Settings:
    """The configuration in a file. Raises SettingsError, which holds every finding; warnings and notes raise nothing."""
    reading = read(path)
    if not reading.runnable or reading.settings is None:
        raise SettingsError(reading.findings)
    return reading.settings


def check(source: Source | str | os.PathLike[str], *, look_up_secrets: bool = True) -> list[Finding]:
    """Every finding about a configuration, a file or a Source, in the order of its lines."""
    return list(read(source, look_up_secrets=look_up_secrets).findings)


def read(
    source: Source | str | os.PathLike[str],
    *,
    look_up_secrets: bool = True,
    environment: Environment[str, str] | None = None,
) -> Reading:
    """Read and check; raises nothing. Without looking up secrets, values with references are not checked, nor is anything
    runnable."""
    if not isinstance(source, Source):
        path = Path(source)
        try:
            source = Source.of(path)
        except (OSError, ValueError) as error:  # ValueError: a path that holds a NUL
            return _unreadable([_no_file(path, error)])
    text, findings = decode(source)
    if findings:
        return _unreadable(findings)
    top, findings = read_yaml(text, source.name)
    if not isinstance(top, Mapping):
        return _unreadable(findings or [_no_mapping(source, top)])
    report = Report(Document(source.name, source.folder, lines_of(text), top))
    for finding in findings:
        report.add(finding.severity, finding.code, Place(finding.line, finding.column), finding.message, finding.hint)
    if look_up_secrets:
        problems = resolve(top, source.folder, os.environ if environment is None else environment)
    else:
        problems = check_syntax(top)
    for scalar, problem in problems:
        report.add("error", problem.code, scalar.place, problem.message, problem.hint)
    validated = validate(report)
    if validated.settings is not None:
        for check_across in CHECKS:
            check_across(validated.settings, report)
    return Reading(
        report.document,
        validated.settings,
        _in_order(report),
        runnable=validated.whole and not report.has_errors and look_up_secrets,
    )


def _unreadable(findings: list[Finding]) -> Reading:
    return Reading(None, None, tuple(findings), runnable=False)


def _no_file(path: Path, error: OSError | ValueError) -> Finding:
    reason, hint = getattr(error, "strerror", None) or "not a path", "name a file that can be read"
    if isinstance(error, FileNotFoundError):
        hint = "check the path; `isthmus init` writes a configuration to start from"
    elif isinstance(error, IsADirectoryError):
        hint = "name the file itself, such as isthmus.yaml in this folder"
    return Finding("CFG-FILE", "error", str(path), *START, f"the file cannot be read: {reason}", hint)


def _no_mapping(source: Source, top: Node | None) -> Finding:
    if top is None or (isinstance(top, Scalar) and top.value is None):
        message, hint = "the file holds no value", "`isthmus init` writes a configuration to start from"
        return Finding("CFG-EMPTY", "error", source.name, *START, message, hint)
    message, hint = "the file is not a mapping of keys to values", "begin with a line such as `name: my-gateway`"
    return Finding("CFG-TYPE", "error", source.name, *top.place, message, hint)


def _in_order(report: Report) -> tuple[Finding, ...]:
    """In the order of the file; a note counts what was left out."""
    findings = sorted(report.findings, key=_by_place)
    if report.left_out:
        message, hint = f"{report.left_out} more findings are not shown", "mend these first"
        findings.append(findings[-1]._replace(code="CFG-MORE", severity="note", message=message, hint=hint))
    return tuple(findings)


def _by_place(finding: Finding) -> tuple[int, int]:
    return finding.line, finding.column
