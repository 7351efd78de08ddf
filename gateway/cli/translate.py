"""`isthmus translate`: events to messages and back, as JSON Lines (FORMS.md section 5).

Needs no ORB, no broker and no network, and starts fast: the settings are imported only for --config, a grammar only for a rule
that routes by a selector, CDR only for a value that needs it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from gateway.cli.exit_codes import ExitCode
from gateway.cli.json_lines import read_json_lines, write_json_line
from mappings.errors import Expired, MappingError
from mappings.translate import Explained, Options, Translator

Answer = Callable[[Any], dict[str, Any]]
"""Takes the form of an event or a message, gives the line that answers it; raises MappingError."""


class ProfileName(StrEnum):
    borland = "borland"
    strict = "strict"
    mq = "mq"


def translate(
    profile: Annotated[
        ProfileName | None,
        typer.Option(help="How property names are spelt.  [default: borland; with --link, that of its channel]"),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A configuration, for the rules of one of its links.", readable=False),
    ] = None,
    link: Annotated[str | None, typer.Option(metavar="NAME", help="The link in that configuration.")] = None,
    reverse: Annotated[bool, typer.Option("--reverse", help="Messages to events.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say for every part which rule moved it where.")] = False,
) -> None:
    """Translate events to messages, or back: JSON Lines in, one JSON line out for each, in order.

    A line that cannot be read or translated gives {"error":…} in its place, and the exit status is 1.
    """
    translator = Translator(_options(profile, config, link))
    answer = _backward(translator, explain) if reverse else _forward(translator, explain)
    failed = False
    for form in read_json_lines(sys.stdin.buffer, blank_lines=True):
        line = _answered(answer, form)
        failed = failed or "error" in line
        write_json_line(line)
    if failed:
        raise typer.Exit(ExitCode.FAILED)


def _options(profile: ProfileName | None, config: Path | None, link: str | None) -> Options:
    if (config is None) != (link is None):
        print("isthmus translate: --config FILE and --link NAME go together", file=sys.stderr)
        raise typer.Exit(ExitCode.USAGE)
    if config is None or link is None:
        return Options() if profile is None else Options(profile=_name(profile))
    options = _options_of_link(config, link)
    return options if profile is None else replace(options, profile=_name(profile))


def _name(profile: ProfileName) -> Literal["borland", "strict", "mq"]:
    return profile.value


def _options_of_link(config: Path, link: str) -> Options:
    """Raises SettingsError."""
    from gateway.cli.link_of import settings_with
    from gateway.links.translation import translation_of

    return translation_of(settings_with(link, config, "translate"), link).options


def _forward(translator: Translator, explain: bool) -> Answer:
    from mappings.event_forms import to_structured
    from mappings.forms.events import event_from_json
    from mappings.forms.messages import message_to_json

    def answer(form: Any) -> dict[str, Any]:
        event = to_structured(event_from_json(form))
        if explain:
            explained = translator.explain(event, now_ms=_now_ms())
            return {"message": message_to_json(explained.result), **_explanation(explained)}  # type: ignore[arg-type]
        return message_to_json(translator.forward(event, now_ms=_now_ms()))

    return answer


def _backward(translator: Translator, explain: bool) -> Answer:
    from mappings.forms.events import event_to_json
    from mappings.forms.messages import message_from_json

    def answer(form: Any) -> dict[str, Any]:
        message = message_from_json(form)
        if explain:
            explained = translator.explain_reverse(message, now_ms=_now_ms())
            return {"event": event_to_json(explained.result), **_explanation(explained)}  # type: ignore[arg-type]
        return event_to_json(translator.reverse(message, now_ms=_now_ms()))

    return answer


def _explanation(explained: Explained) -> dict[str, Any]:
    return {"explanation": [entry.to_json() for entry in explained.entries], "lossless": explained.lossless}


def _answered(answer: Answer, form: Any) -> dict[str, Any]:
    """The line for one line of input, whatever it holds."""
    try:
        if isinstance(form, MappingError):
            raise form
        return answer(form)
    except Expired as expired:
        return {"dropped": {"code": expired.code, "reason": "expired"}}
    except MappingError as error:
        return {"error": error.to_json()}
    except (RecursionError, MemoryError):
        return {"error": MappingError("MAP-DEPTH", "too deep or too large to be translated").to_json()}


def _now_ms() -> int:
    return int(time.time() * 1000)
