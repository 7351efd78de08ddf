"""`isthmus filter`: tries an ETCL filter on events, or a JMS selector on messages (FORMS.md section 5)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from gateway.cli.exit_codes import ExitCode
from gateway.cli.json_lines import read_json_lines, write_json_line
from mappings.errors import FilterError, IsthmusError, MappingError
from mappings.filters import compile_etcl, compile_selector
from mappings.filters.pointer import point_at


class Result(NamedTuple):
    match: bool
    error: IsthmusError | None = None
    explanation: list[Any] | None = None  # the parts, where they are asked for

    def to_json(self) -> dict[str, Any]:
        form: dict[str, Any] = {"match": self.match}
        if self.error is not None:
            form["error"] = self.error.to_json()
        if self.explanation is not None:
            form["explanation"] = [part.to_json() for part in self.explanation]
        return form


Evaluate = Callable[[Any], Result]


class Expression(NamedTuple):
    text: str
    is_etcl: bool


def filter_(
    etcl: Annotated[
        str | None, typer.Option("--etcl", metavar="EXPR", help="A filter in the Extended Trader Constraint Language.")
    ] = None,
    selector: Annotated[str | None, typer.Option("--selector", metavar="EXPR", help="A JMS message selector.")] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A configuration, for the filter of one of its links.", readable=False),
    ] = None,
    link: Annotated[str | None, typer.Option(metavar="NAME", help="The link in that configuration.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what each condition looked at, and what it made of that.")
    ] = False,
) -> None:
    """Try an ETCL filter on events, or a JMS selector on messages: JSON Lines in, {"match":…} out, in order.

    Exits with 2 when the expression does not parse, and with 1 when a line could not be read.
    """
    evaluate = _evaluator(_expression(etcl, selector, config, link), explain)
    unreadable = False
    for form in read_json_lines(sys.stdin.buffer):
        result = _result(evaluate, form)
        write_json_line(result.to_json())
        unreadable = unreadable or isinstance(result.error, MappingError)
    if unreadable:
        raise typer.Exit(ExitCode.FAILED)


def _expression(etcl: str | None, selector: str | None, config: Path | None, link: str | None) -> Expression:
    if (config is None) != (link is None):
        print("isthmus filter: --config FILE and --link NAME go together", file=sys.stderr)
        raise typer.Exit(ExitCode.USAGE)
    given = [each for each in (etcl, selector, config) if each is not None]
    if len(given) != 1:
        print("isthmus filter: give either --etcl EXPR or --selector EXPR, or a --link of a --config", file=sys.stderr)
        raise typer.Exit(ExitCode.USAGE)
    if config is not None and link is not None:
        return _of_link(config, link)
    return Expression(etcl, True) if etcl is not None else Expression(selector or "", False)


def _of_link(config: Path, link: str) -> Expression:
    """What a link asks of what its source gives; nothing passes everything. Raises SettingsError."""
    from gateway.cli.link_of import settings_with
    from gateway.settings.wires import capabilities_of

    settings = settings_with(link, config, "filter")
    its = settings.links[link]
    if capabilities_of(settings.channels[its.source]).form == "event":
        return Expression(its.filter or "", True)
    return Expression(its.selector or "", False)


def _evaluator(expression: Expression, explain: bool) -> Evaluate:
    try:
        return _for_events(expression.text, explain) if expression.is_etcl else _for_messages(expression.text, explain)
    except FilterError as error:
        pointed = _indented(point_at(expression.text, error.position))
        print(f"isthmus filter: {error}\n\n{pointed}", file=sys.stderr)
        raise typer.Exit(ExitCode.USAGE) from None


def _for_events(text: str, explain: bool) -> Evaluate:
    from mappings.forms.events import event_from_json

    filter_ = compile_etcl(text)

    def evaluate(form: Any) -> Result:
        event = event_from_json(form)
        return Result(*filter_.evaluate(event), filter_.explain(event) if explain else None)

    return evaluate


def _for_messages(text: str, explain: bool) -> Evaluate:
    from mappings.forms.messages import message_from_json

    selector = compile_selector(text)

    def evaluate(form: Any) -> Result:
        message = message_from_json(form)
        return Result(selector.matches(message), None, selector.explain(message) if explain else None)

    return evaluate


def _result(evaluate: Evaluate, form: Any) -> Result:
    if isinstance(form, MappingError):
        return Result(False, form)
    try:
        return evaluate(form)
    except MappingError as error:
        return Result(False, error)


def _indented(lines: str) -> str:
    return "\n".join(f"  {line}" for line in lines.splitlines())
