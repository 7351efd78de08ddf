"""`isthmus graph FILE`: the event domain of a configuration as text that Mermaid or Graphviz draws."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.exit_codes import ExitCode
from gateway.domain.drawing import to_dot, to_mermaid
from gateway.settings import read
from gateway.settings.picture import picture_of


class Format(StrEnum):
    mermaid = "mermaid"
    dot = "dot"


def graph(
    file: Annotated[Path, typer.Argument(help="The configuration, a YAML file.", readable=False, show_default=False)],
    format_: Annotated[Format, typer.Option("--format", help="The language of the drawing.")] = Format.mermaid,
) -> None:
    """Draw channels and links as Mermaid or DOT text. With errors it is drawn as far as it can be read, and exits with 78."""
    reading = read(file, look_up_secrets=False)
    if reading.document is not None:
        drawing = picture_of(reading.document)
        print(to_dot(drawing) if format_ is Format.dot else to_mermaid(drawing), end="")
    errors = [finding for finding in reading.findings if finding.severity == "error"]
    for finding in errors:
        print(finding, file=sys.stderr)
    if errors:
        raise typer.Exit(ExitCode.CONFIGURATION)
