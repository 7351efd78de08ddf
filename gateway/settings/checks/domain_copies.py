"""Where diamonds are allowed: how many copies of an event arrive, and by which routes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, pairwise
from typing import Final

from gateway.domain.copies import Copies, copies_of
from gateway.domain.graph import Graph, Route
from gateway.domain.routes import simple_routes
from gateway.domain.steps import OutOfSteps, Steps
from gateway.settings.checks.domain_words import RouteWords
from gateway.settings.document import quoted
from gateway.settings.report import Report

_MOST_NOTES: Final = 20
_MOST_ROUTES: Final = 4
_MOST_STEPS: Final = 100_000


def note_copies(graph: Graph, ways: Mapping[tuple[int, int], int], words: RouteWords, report: Report) -> None:
    """A note at each channel that gets an event more than once, as far as they are few enough to be read."""
    found = copies_of(graph, ways)
    for copies in found.copies[:_MOST_NOTES]:
        path = ("channels", words.members.names[copies.sink][0])
        report.note("DOM-COPIES", path, _message(copies, graph, ways, words), _HINT, at=report.key(path))
    left_out = len(found.copies) - _MOST_NOTES
    if left_out > 0 or not found.complete:
        count = f"{max(left_out, 0)} more channels" + ("" if found.complete else ", or even more,")
        report.note("DOM-COPIES", ("domain", "diamonds"), f"{count} get events more than once", _HINT)


_HINT: Final = "with domain.diamonds: forbid, this is an error"


def _message(copies: Copies, graph: Graph, ways: Mapping[tuple[int, int], int], words: RouteWords) -> str:
    sink, source = (quoted(words.name(member)) for member in (copies.sink, copies.source))
    if copies.number is None:
        return f"channel {sink} gets events again and again: a cycle is on the way from {source}"
    message = f"channel {sink} gets {copies.number} copies of every event from {source} that no filter stops"
    try:
        routes = list(islice(simple_routes(graph, copies.source, copies.sink, Steps(_MOST_STEPS)), _MOST_ROUTES + 1))
    except OutOfSteps:
        return message
    shown = "; ".join(_route(route, ways, words) for route in routes[:_MOST_ROUTES])
    return f"{message}: {shown}{'; …' if len(routes) > _MOST_ROUTES else ''}"


def _route(route: Route, ways: Mapping[tuple[int, int], int], words: RouteWords) -> str:
    copies = 1
    for step in pairwise(route):
        copies *= ways.get(step, 1)
    return words.route(route) + (f" ({copies} times)" if copies > 1 else "")
