"""Links on which properties lose their types, because one of their ends carries nothing but text; and the way out."""

from __future__ import annotations

from typing import Final, Literal

from gateway.settings.document import quoted
from gateway.settings.report import Report
from gateway.settings.settings import Settings
from gateway.settings.wires import capabilities_of

MOST_NAMED: Final = 5  # links, in one note

_MESSAGES: Final = {
    "to": "properties arrive there as text: a consumer's selector such as `$Severity > 2` does not match",
    "from": "properties that JMS applications send come from there as text, whatever their types were",
}
_HINTS: Final = {
    "to": "an endpoint of type jms keeps them; or compare with text, `$Severity = '3'`, or filter in the link",
    "from": "an endpoint of type jms keeps them; what a gateway sent is restored from `$se` where the link goes to events",
}


def check_property_types(settings: Settings, report: Report) -> None:
    """Said once for each channel that loses the types, at the first of its links; the others are named."""
    losing: dict[tuple[Literal["from", "to"], str], list[str]] = {}
    for id_, link in settings.links.items():
        source, sink = settings.channels.get(link.source), settings.channels.get(link.sink)
        if source is None or sink is None:
            continue
        typed = [capabilities_of(end).typed_properties for end in (source, sink)]
        if typed == [True, False]:
            losing.setdefault(("to", link.sink), []).append(id_)
        elif typed == [False, True]:
            losing.setdefault(("from", link.source), []).append(id_)
    for (end, _), links in losing.items():
        more = _named(links[1:])
        report.note("CFG-TYPES-LOST", ("links", links[0], end), _MESSAGES[end] + more, _HINTS[end])


def _named(others: list[str]) -> str:
    if not others:
        return ""
    named = ", ".join(quoted(id_) for id_ in others[:MOST_NAMED])
    left = len(others) - MOST_NAMED
    return f" (also: {named}{f' and {left} more' if left > 0 else ''})"
