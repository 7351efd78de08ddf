"""`isthmus lint FILE…`: every finding about configurations, without touching the network.

Findings go to standard output, one a line; the sum goes to standard error, so that scripts can read the one and people see both.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.exit_codes import ExitCode
from gateway.settings import Finding, check
from gateway.settings.findings import SEVERITIES


def lint(
    files: Annotated[
        list[Path], typer.Argument(help="Configurations, YAML files.", readable=False, show_default=False)
    ],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line, for scripts.")] = False,
    without_secrets: Annotated[
        bool,
        typer.Option(
            "--without-secrets",
            help="Look up neither ${env:…} nor ${file:…}: for machines that do not have them. What they bring is not checked.",
        ),
    ] = False,
) -> None:
    """Check configurations, offline; every finding at once. Exits with 78 when there are errors."""
    findings: list[Finding] = []
    for file in dict.fromkeys(files):
        findings += check(file, look_up_secrets=not without_secrets)
    for finding in findings:
        print(json.dumps(finding.to_json(), ensure_ascii=False) if as_json else finding)
    counts = Counter[str](finding.severity for finding in findings)
    if not as_json:
        print(_sum(len(dict.fromkeys(files)), counts), file=sys.stderr)
    if counts["error"]:
        raise typer.Exit(ExitCode.CONFIGURATION)


def _sum(files: int, counts: Counter[str]) -> str:
    found = [
        f"{counts[severity]} {severity}{'s'[: counts[severity] != 1]}" for severity in SEVERITIES if counts[severity]
    ]
    return f"{files} file{'s'[: files != 1]}: {', '.join(found) or 'nothing to say'}"
