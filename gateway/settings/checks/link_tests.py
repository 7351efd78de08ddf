"""The `tests:` of a configuration: what they are given exists and fits their link."""

from __future__ import annotations

from typing import Final

from adapters.base import Form
from gateway.settings.checks.forms import forms_of
from gateway.settings.document import quoted
from gateway.settings.link_tests import LinkTest
from gateway.settings.nodes import Path
from gateway.settings.report import Report
from gateway.settings.settings import Settings

_OF_MESSAGES: Final = frozenset({"headers", "properties", "body"})
_OF_EVENTS: Final = frozenset(
    {"domain_name", "type_name", "event_name", "variable_header", "filterable_data", "remainder_of_body"}
)
_ENDINGS: Final = ("filtered", "expired", "error")


def check_link_tests(settings: Settings, report: Report) -> None:
    names: dict[str, int] = {}
    for index, test in enumerate(settings.tests):
        path = ("tests", index)
        first = names.setdefault(test.name, index)
        if first != index:
            line = report.document.place(("tests", first)).line
            message = f"the test in line {line} is called {report.document.shown((*path, 'name'))} too"
            report.warning("CFG-TEST-NAME", (*path, "name"), message, "give each test a name of its own")
        _given_file(report, (*path, "given", "file"), test)
        _ending(report, (*path, "expect"), test)
        link = settings.links.get(test.link)
        forms = forms_of(settings, link) if link is not None else None
        if forms is not None:
            _fits(report, path, test, *forms)


def _given_file(report: Report, path: Path, test: LinkTest) -> None:
    if test.given.file is None:
        return
    try:
        exists = (report.document.folder / test.given.file).is_file()
    except (OSError, ValueError):  # a path that no file system has
        exists = False
    if not exists:
        hint = f"relative paths start at the folder of the configuration, {report.document.folder.absolute()}"
        report.error("CFG-TEST-FILE", path, f"there is no file {report.document.shown(path)}", hint)


def _ending(report: Report, path: Path, test: LinkTest) -> None:
    """An event that does not pass makes nothing that could be looked at."""
    ended = [key for key in _ENDINGS if getattr(test.expect, key) not in (None, False)]
    others = test.expect.model_fields_set & (_OF_MESSAGES | _OF_EVENTS)
    if len(ended) > 1 or (ended and others):
        message = f"with {' and '.join(ended)}, nothing else can come of it"
        report.error("CFG-TEST-EXPECT", path, message, "expect one or the other", at=report.key(path))


def _fits(report: Report, path: Path, test: LinkTest, source: Form, sink: Form) -> None:
    other = "message" if source == "event" else "event"
    if getattr(test.given, other) is not None:
        at = (*path, "given", other)
        message, hint = f"link {quoted(test.link)} takes {source}s", f"write `{source}:` here"
        report.error("CFG-TEST-FORM", at, message, hint, at=report.key(at))
    for key in sorted(test.expect.model_fields_set & (_OF_EVENTS if sink == "message" else _OF_MESSAGES)):
        at = (*path, "expect", key)
        message = f"link {quoted(test.link)} makes {sink}s, which have no {key}"
        report.error("CFG-TEST-FORM", at, message, "expect parts of what it makes", at=report.key(at))
