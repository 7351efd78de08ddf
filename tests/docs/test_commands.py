"""docs/commands.md names every command and every exit status, and no others."""

from __future__ import annotations

import re
from pathlib import Path

from gateway.cli.command_table import COMMANDS, load
from gateway.cli.exit_codes import ExitCode

PAGE = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")


def test_the_page_lists_every_command() -> None:
    table = PAGE.partition("## Signals")[0]
    assert re.findall(r"^\| `([a-z]+)[` ]", table, re.MULTILINE) == list(COMMANDS)


def test_every_command_can_be_loaded_and_says_what_it_does() -> None:
    for name, entry in COMMANDS.items():
        assert load(entry).__doc__, name


def test_the_page_lists_every_exit_status() -> None:
    statuses = re.findall(r"^\| ([0-9]+) \| ([A-Z]+) \|", PAGE, re.MULTILINE)
    assert [(int(number), name) for number, name in statuses] == [(code.value, code.name) for code in ExitCode]
