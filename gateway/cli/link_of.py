"""The link that `--config FILE --link NAME` name, for commands that need no peer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from gateway.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from gateway.settings import Settings


def settings_with(link: str, config: Path, command: str) -> Settings:
    """Raises SettingsError. Secrets are not looked up: no peer is needed, and so no password."""
    from gateway.settings import SettingsError, read

    reading = read(config, look_up_secrets=False)
    if reading.settings is None or any(finding.severity == "error" for finding in reading.findings):
        raise SettingsError(reading.findings)
    if link not in reading.settings.links:
        known = ", ".join(reading.settings.links) or "none"
        print(f"isthmus {command}: {config} has no link {link!r} (there are: {known})", file=sys.stderr)
        raise typer.Exit(ExitCode.USAGE)
    return reading.settings
