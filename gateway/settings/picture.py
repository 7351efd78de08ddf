"""The event domain of a configuration as a drawing: everything as it is written in the file, so no secret can be in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gateway.domain.drawing import Drawing, Edge, Group, Vertex
from gateway.settings.document import Document
from gateway.settings.findings import printable

LONGEST_TEXT: Final = 40
_ADDRESS_KEYS: Final = ("destination", "channel", "name", "queue")
"""Which channel of the far side it is, by wire."""


def picture_of(document: Document) -> Drawing:
    """Also of a configuration with errors: what a link names is drawn, whether it exists or not."""
    groups: dict[str, list[Vertex]] = {endpoint: [] for endpoint in document.keys(("endpoints",))}
    channels = document.keys(("channels",))
    places: dict[tuple[str, str], str] = {}  # channels by their endpoint and destination
    for channel in channels:
        endpoint = document.written(("channels", channel, "endpoint")) or ""
        groups.setdefault(endpoint, []).append(Vertex(channel, _address(document, channel)))
        places.setdefault((endpoint, document.written(("channels", channel, "destination")) or ""), channel)
    edges = [
        edge
        for section in ("links", "foreign_links")
        for link in document.keys((section,))
        if (edge := _edge(document, (section, link))) is not None
    ]
    for endpoint, destination, edge in _routes(document, places):
        if (endpoint, destination) not in places:
            groups.setdefault(endpoint, []).append(Vertex(destination, ("by a rule only",)))
            places[endpoint, destination] = destination
        edges.append(edge)
    known = frozenset((*channels, *places.values()))
    strangers = dict.fromkeys(name for edge in edges for name in (edge.source, edge.sink) if name not in known)
    drawn = [Group(_title(document, endpoint), tuple(members)) for endpoint, members in groups.items() if members]
    if strangers:
        drawn.append(Group("", tuple(Vertex(name, ("does not exist",)) for name in strangers)))
    return Drawing(drawn, edges)


def _title(document: Document, endpoint: str) -> str:
    kind = document.written(("endpoints", endpoint, "type"))
    return f"{_short(endpoint)} ({_short(kind)})" if kind else _short(endpoint)


def _address(document: Document, channel: str) -> tuple[str, ...]:
    for key in _ADDRESS_KEYS:
        text = document.written(("channels", channel, key))
        if text:
            return (_short(f"{key} {text}" if text.isdigit() else text),)
    return ()


def _edge(document: Document, path: tuple[str, str]) -> Edge | None:
    """Of a link; bridges that others run are drawn thick, with whoever runs them."""
    section, link = path
    source, sink = (document.written((*path, end)) for end in ("from", "to"))
    if not source or not sink:
        return None
    texts = (document.written((*path, key)) for key in ("filter", "selector", "operator"))
    lines = (_short(link), *(_short(text) for text in texts if text))
    dashed = document.value((*path, "enabled")) is False
    return Edge(source, sink, lines, dashed=dashed, thick=section == "foreign_links")


def _routes(document: Document, places: Mapping[tuple[str, str], str]) -> Iterator[tuple[str, str, Edge]]:
    """What the rules of links send elsewhere: the endpoint, the destination, and an edge to the channel that it is, else to the
    destination itself."""
    drawn: set[tuple[str, str]] = set()
    for link in document.keys(("links",)):
        source, sink = (document.written(("links", link, end)) for end in ("from", "to"))
        endpoint = document.written(("channels", sink or "", "endpoint")) or ""
        index = 0
        while document.node(("links", link, "rules", index)) is not None:
            rule = ("links", link, "rules", index)
            index += 1
            destination = document.written((*rule, "route"))
            if not source or not destination or (link, destination) in drawn:
                continue
            drawn.add((link, destination))
            when = document.written((*rule, "when"))
            lines = (_short(link), *([_short(f"when {when}")] if when else []))
            dashed = document.value(("links", link, "enabled")) is False
            target = places.get((endpoint, destination), destination)
            yield endpoint, destination, Edge(source, target, lines, dashed=dashed)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return printable(flat if len(flat) <= LONGEST_TEXT else flat[: LONGEST_TEXT - 1] + "…")
