"""Filters and selectors: of the kind that the source carries, and parsed, with the place of a mistake inside the text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from adapters.base import Form
from adapters.cosnotification.settings import CosNotificationChannel
from gateway.settings.nodes import Path, Scalar
from gateway.settings.report import Report
from gateway.settings.rules import RouteRule
from gateway.settings.scalar_position import place_in_scalar
from gateway.settings.settings import Settings
from gateway.settings.wires import capabilities_of
from mappings.errors import FilterError

_SELECTORS_AT_THE_BROKER: Final = "selector"
"""Key of a channel's own selector, on wires that have one."""


class _Expression(NamedTuple):
    path: Path
    text: str
    is_etcl: bool


def check_filters(settings: Settings, report: Report) -> None:
    for id_, link in settings.links.items():
        source = settings.channels.get(link.source)
        if source is None:
            continue
        form = capabilities_of(source).form
        if link.filter is not None and form == "message":
            _wrong_kind(report, ("links", id_, "filter"), "ETCL, for events", form, "selector")
        if link.selector is not None and form == "event":
            _wrong_kind(report, ("links", id_, "selector"), "a JMS selector, for messages", form, "filter")
    for expression in _expressions(settings):
        _parse(report, expression)


def _expressions(settings: Settings) -> Iterator[_Expression]:
    for id_, channel in settings.channels.items():
        selector = getattr(channel, _SELECTORS_AT_THE_BROKER, None)
        if isinstance(selector, str):
            yield _Expression(("channels", id_, _SELECTORS_AT_THE_BROKER), selector, is_etcl=False)
        if isinstance(channel, CosNotificationChannel) and channel.constraint is not None:
            yield _Expression(("channels", id_, "constraint"), channel.constraint, is_etcl=True)
    for id_, link in settings.links.items():
        if link.filter is not None:
            yield _Expression(("links", id_, "filter"), link.filter, is_etcl=True)
        if link.selector is not None:
            yield _Expression(("links", id_, "selector"), link.selector, is_etcl=False)
        for index, rule in enumerate(link.rules):
            if isinstance(rule, RouteRule):
                yield _Expression(("links", id_, "rules", index, "when"), rule.when, is_etcl=False)


def _wrong_kind(report: Report, path: Path, what: str, form: Form, other: str) -> None:
    key = path[-1]
    message = f"{key} is {what}, but the source of this link carries {form}s"
    report.error("CFG-FILTER-KIND", path, message, f"write it as `{other}:`", at=report.key(path))


def _parse(report: Report, expression: _Expression) -> None:
    try:
        _compile(expression)
    except FilterError as error:
        _does_not_parse(report, expression, error)


def _does_not_parse(report: Report, expression: _Expression, error: FilterError) -> None:
    node = report.document.node(expression.path)
    name = expression.path[-1]
    if not isinstance(node, Scalar) or node.substituted:
        # The words of the error may quote the text, and even a position would tell how long a secret is.
        report.error(error.code, expression.path, f"{name} does not parse", "`isthmus filter` shows where")
        return
    place = place_in_scalar(report.document.lines, node, error.position)
    where = "" if place else f", at character {error.position + 1} of its text"
    report.error(error.code, expression.path, f"{name}: {error.message}{where}", error.hint, at=place)


def _compile(expression: _Expression) -> None:
    """The parsers are imported when the first expression is met: grammars take time to load."""
    if expression.is_etcl:
        from mappings.filters import compile_etcl

        compile_etcl(expression.text)
    else:
        from mappings.filters import compile_selector

        compile_selector(expression.text)
