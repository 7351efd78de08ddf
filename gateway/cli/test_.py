"""`isthmus test CONFIG`: runs the `tests:` of a configuration. No peer is needed, and no secret.

Each test sends what it is given through the very step that the running link would take: filter, translation, rules, routes. What
does not come out as expected is shown with the line of the configuration that expected it.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from adapters.base import Delivery, Form
from gateway.cli.exit_codes import ExitCode
from gateway.cli.expectations import Difference, Outcome, differences
from gateway.links.step import Filtered, Step
from gateway.links.translation import compile_step, translation_of
from gateway.settings import Settings, SettingsError, read
from gateway.settings.document import Document
from gateway.settings.link_tests import LinkTest
from mappings.errors import Expired, MappingError
from mappings.event_forms import to_structured
from mappings.forms.events import event_from_json
from mappings.forms.messages import message_from_json
from mappings.model import Message, StructuredEvent


def test(
    config: Annotated[Path, typer.Argument(help="The configuration, a YAML file.", readable=False, show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line, for scripts.")] = False,  # noqa: PT028  a command, not a test of pytest's
) -> None:
    """Run the tests that a configuration holds for its links; no peer is needed. Exits with 1 when one fails."""
    reading = read(config, look_up_secrets=False)
    settings, document = reading.settings, reading.document
    if settings is None or document is None or any(finding.severity == "error" for finding in reading.findings):
        raise SettingsError(reading.findings)
    failed = 0
    tester = _Tester(settings, document.folder)
    for index, link_test in enumerate(settings.tests):
        found = differences(link_test.expect, tester.outcome(link_test))
        failed += bool(found)
        place = Place(document, index)
        print(_as_json(link_test, found, place) if as_json else _as_text(link_test, found, place))
    if not as_json:
        count = len(settings.tests)
        verdict = f"{failed} failed" if failed else "all passed" if count else f"{config} has no `tests:`"
        print(f"{count} test{'s'[: count != 1]}: {verdict}", file=sys.stderr)
    if failed:
        raise typer.Exit(ExitCode.FAILED)


class _Tester:
    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings = settings
        self._folder = folder
        self._steps: dict[str, tuple[Form, Step]] = {}

    def outcome(self, link_test: LinkTest) -> Outcome:
        form, step = self._step(link_test.link)
        try:
            payload = _payload(self._given(link_test), form)
            result = step(Delivery(payload, "test", time.time()))
        except Expired:
            return Outcome("expired")
        except MappingError as error:
            return Outcome("error", error=error)
        return Outcome("filtered") if isinstance(result, Filtered) else Outcome("passed", made=result.payload)

    def _step(self, link: str) -> tuple[Form, Step]:
        known = self._steps.get(link)
        if known is None:
            translation = replace(translation_of(self._settings, link), source_hop=None)  # no marks of ours to expect
            known = self._steps[link] = translation.source_form, compile_step(translation)
        return known

    def _given(self, link_test: LinkTest) -> Any:
        given = link_test.given
        if given.file is None:
            return given.event if given.event is not None else given.message
        try:
            return json.loads((self._folder / given.file).read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            reason = getattr(error, "strerror", None) or "it is not one JSON value in UTF-8"
            raise MappingError("MAP-JSON", f"{given.file} cannot be read: {reason}", path="given.file") from None


def _payload(form: Any, kind: Form) -> StructuredEvent | Message:
    return to_structured(event_from_json(form)) if kind == "event" else message_from_json(form)


class Place:
    """Where a test, and what it expects, stand in the file."""

    def __init__(self, document: Document, index: int) -> None:
        self._document = document
        self._path: tuple[str | int, ...] = ("tests", index)

    def __str__(self) -> str:
        return f"{self._document.file}:{self._document.place(self._path).line}"

    def of(self, difference: Difference) -> str:
        path = (*self._path, "expect", *difference.expected_at)
        line, column = self._document.key_place(path)
        return f"{self._document.file}:{line}:{column}"


def _as_text(link_test: LinkTest, found: list[Difference], place: Place) -> str:
    if not found:
        return f"ok    {link_test.name}"
    lines = [f"FAIL  {link_test.name} (link {link_test.link}, {place})"]
    for difference in found:
        lines.append(f"      {place.of(difference)}: {difference.what}")
        lines.append(f"        expected  {difference.expected}")
        lines.append(f"        got       {difference.got}")
        if difference.hint:
            lines.append(f"        ({difference.hint})")
    return "\n".join(lines)


def _as_json(link_test: LinkTest, found: list[Difference], place: Place) -> str:
    form = {
        "test": link_test.name,
        "link": link_test.link,
        "passed": not found,
        "differences": [{"place": place.of(difference), **difference.to_json()} for difference in found],
    }
    return json.dumps(form, ensure_ascii=False)
