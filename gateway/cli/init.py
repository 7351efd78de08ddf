"""`isthmus init [PATH]`: an annotated configuration to start from, which runs as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gateway.settings.template import template_text
from mappings.errors import IsthmusError


def init(
    path: Annotated[Path, typer.Argument(help="The file to write.")] = Path("isthmus.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if there is one.")] = False,
) -> None:
    """Write an annotated configuration to start from. It runs as it is, on services of the gateway's own."""
    try:
        file = path.open("w" if force else "x", encoding="utf-8")
    except FileExistsError:
        hint = "choose another name, or overwrite it with --force"
        raise IsthmusError("CLI-EXISTS", "there is such a file already", path=str(path), hint=hint) from None
    except OSError as error:
        raise _not_written(path, error) from None
    try:
        with file:
            file.write(template_text())
    except OSError as error:
        path.unlink(missing_ok=True)  # half a configuration would only be in the way of the next try
        raise _not_written(path, error) from None
    print(f"wrote {path}; next: isthmus lint {path}, then isthmus run {path}")


def _not_written(path: Path, error: OSError) -> IsthmusError:
    hint = "choose a file in a folder that exists, is yours and has room"
    return IsthmusError("CLI-WRITE", f"the file cannot be written: {error.strerror}", path=str(path), hint=hint)
