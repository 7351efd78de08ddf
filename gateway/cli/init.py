"""`isthmus init [PATH]`: an annotated configuration to start from, which runs as it is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.exit_codes import ExitCode
from gateway.settings.template import template_text


def init(
    path: Annotated[Path, typer.Argument(help="The file to write.")] = Path("isthmus.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if there is one.")] = False,
) -> None:
    """Write an annotated configuration to start from. It runs as it is, on services of the gateway's own."""
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(template_text())
    except FileExistsError:
        _refuse(f"{path} exists already (choose another name, or overwrite it with --force)")
    except OSError as error:
        _refuse(f"{path} cannot be written: {error.strerror} (choose a file in a folder that exists and is yours)")
    print(f"wrote {path}; next: isthmus lint {path}, then isthmus run {path}")


def _refuse(message: str) -> None:
    print(f"isthmus: {message}", file=sys.stderr)
    raise typer.Exit(ExitCode.FAILED)
