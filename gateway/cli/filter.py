"""`isthmus filter`: tries an ETCL filter on events, or a JMS selector on messages (FORMS.md section 5)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from gateway.cli.exit_codes import ExitCode
from gateway.cli.json_lines import read_json_lines, write_json_line
from mappings.errors import FilterError, IsthmusError, MappingError
from mappings.filters import compile_etcl, compile_selector
from mappings.filters.pointer import point_at

Result = tuple[bool, IsthmusError | None]


def filter_(
    etcl: Annotated[
        str | None, typer.Option("--etcl", metavar="EXPR", help="A filter in the Extended Trader Constraint Language.")
    ] = None,
    selector: Annotated[str | None, typer.Option("--selector", metavar="EXPR", help="A JMS message selector.")] = None,
) -> None:
    """Try an ETCL filter on events, or a JMS selector on messages: JSON Lines in, {"match":…} out, in order.

    Exits with 2 when the expression does not parse, and with 1 when a line could not be read.
    """
    evaluate = _evaluator(etcl, selector)
    unreadable = False
    for form in read_json_lines(sys.stdin.buffer):
        match, error = _result(evaluate, form)
        write_json_line({"match": match} if error is None else {"match": match, "error": error.to_json()})
        unreadable = unreadable or isinstance(error, MappingError)
    if unreadable:
        raise typer.Exit(ExitCode.FAILED)


def _evaluator(etcl: str | None, selector: str | None) -> Callable[[Any], Result]:
    if (etcl is None) == (selector is None):
        print("isthmus filter: give either --etcl EXPR or --selector EXPR", file=sys.stderr)
        raise typer.Exit(ExitCode.USAGE)
    text = etcl if etcl is not None else selector or ""
    try:
        return _for_events(text) if etcl is not None else _for_messages(text)
    except FilterError as error:
        print(f"isthmus filter: {error}\n\n{_indented(point_at(text, error.position))}", file=sys.stderr)
        raise typer.Exit(ExitCode.USAGE) from None


def _for_events(text: str) -> Callable[[Any], Result]:
    from mappings.forms.events import event_from_json

    filter_ = compile_etcl(text)
    return lambda form: filter_.evaluate(event_from_json(form))


def _for_messages(text: str) -> Callable[[Any], Result]:
    from mappings.forms.messages import message_from_json

    selector = compile_selector(text)
    return lambda form: (selector.matches(message_from_json(form)), None)


def _result(evaluate: Callable[[Any], Result], form: Any) -> Result:
    if isinstance(form, MappingError):
        return False, form
    try:
        return evaluate(form)
    except MappingError as error:
        return False, error


def _indented(lines: str) -> str:
    return "\n".join(f"  {line}" for line in lines.splitlines())
