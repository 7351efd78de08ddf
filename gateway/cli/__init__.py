"""The command line: `isthmus COMMAND …`.

    command_table.py   which commands there are; each is imported only when it is asked for
    streams.py         standard input and output, whatever they are
    guard.py           exceptions become a sentence and an exit status
    exit_codes.py      the statuses
    <command>.py       one file per command

Nothing here may import pydantic, yaml, rich or a wire library: `isthmus --help` and `isthmus translate` start without them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from gateway.cli import streams
from gateway.cli.command_table import COMMANDS, load
from gateway.cli.guard import guarded


def main() -> None:
    """The console script."""
    streams.prepare()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line and give its exit status; raises nothing."""
    return guarded(lambda: _command_line(arguments).main(list(arguments), prog_name="isthmus"))


def _command_line(arguments: Sequence[str]) -> Any:
    """The parser, with the one command that the arguments name imported, and stand-ins for the others."""
    app = typer.Typer(
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode=None,  # plain help: rich would triple the time of `isthmus --help`
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Gateway between CORBA Notification Service channels, JMS brokers and IBM MQ.",
    )
    app.callback()(_options)
    wanted = next((argument for argument in arguments if not argument.startswith("-")), None)
    for name, entry in COMMANDS.items():
        command = load(entry) if name == wanted else _not_loaded
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, short_help=entry.summary)
        else:
            app.command(name, short_help=entry.summary)(command)
    return typer.main.get_command(app)


def _not_loaded() -> None:
    """Stands in `isthmus --help` for a command that was not asked for."""


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"isthmus {version('isthmus')}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    del version  # its callback has done all there is to do
