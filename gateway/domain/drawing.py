"""Draws channels and links as text for Mermaid or Graphviz. Any text may stand in a name: what means something there is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Vertex:
    name: str
    lines: tuple[str, ...] = ()  # more about it, below the name


@dataclass(frozen=True, slots=True)
class Group:
    """Channels that belong together; those without a title stand by themselves."""

    title: str
    vertices: tuple[Vertex, ...]


@dataclass(frozen=True, slots=True)
class Edge:
    source: str
    sink: str
    lines: tuple[str, ...]
    dashed: bool = False  # not in use
    thick: bool = False  # not ours


@dataclass(frozen=True, slots=True)
class Drawing:
    """Every edge joins two vertices, by name; names are unique over all groups."""

    groups: Sequence[Group]
    edges: Sequence[Edge]


_MERMAID_SPECIAL: Final = re.compile(r"[^\w \-.,:/=+*'?!@^~()→…]|_(?=_)")


def to_mermaid(drawing: Drawing) -> str:
    return "\n".join(_mermaid(drawing)) + "\n"


def to_dot(drawing: Drawing) -> str:
    return "\n".join(_dot(drawing)) + "\n"


def _mermaid(drawing: Drawing) -> Iterator[str]:
    ids = _ids(drawing)
    yield "flowchart LR"
    for number, group in enumerate(drawing.groups):
        indent = "  "
        if group.title:
            yield f'  subgraph group{number}["{_mermaid_text((group.title,))}"]'
            indent = "    "
        for vertex in group.vertices:
            yield f'{indent}{ids[vertex.name]}["{_mermaid_text((vertex.name, *vertex.lines))}"]'
        if group.title:
            yield "  end"
    for edge in drawing.edges:
        arrow = "-.->" if edge.dashed else "==>" if edge.thick else "-->"
        yield f'  {ids[edge.source]} {arrow}|"{_mermaid_text(edge.lines)}"| {ids[edge.sink]}'


def _dot(drawing: Drawing) -> Iterator[str]:
    ids = _ids(drawing)
    yield "digraph domain {"
    yield "  rankdir=LR"
    yield "  node [shape=box]"
    for number, group in enumerate(drawing.groups):
        indent = "  "
        if group.title:
            yield f"  subgraph cluster_{number} {{"
            yield f"    label={_dot_text((group.title,))}"
            indent = "    "
        for vertex in group.vertices:
            yield f"{indent}{ids[vertex.name]} [label={_dot_text((vertex.name, *vertex.lines))}]"
        if group.title:
            yield "  }"
    for edge in drawing.edges:
        style = " style=dashed" if edge.dashed else " style=bold" if edge.thick else ""
        yield f"  {ids[edge.source]} -> {ids[edge.sink]} [label={_dot_text(edge.lines)}{style}]"
    yield "}"


def _ids(drawing: Drawing) -> dict[str, str]:
    """Ids of our own making: a channel may be called `end`, or anything else that the languages keep for themselves."""
    names = [vertex.name for group in drawing.groups for vertex in group.vertices]
    return {name: f"channel{number}" for number, name in enumerate(names)}


def _mermaid_text(lines: Sequence[str]) -> str:
    return "<br/>".join(_MERMAID_SPECIAL.sub(lambda found: f"#{ord(found[0])};", line) for line in lines)


def _dot_text(lines: Sequence[str]) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for line in lines)
    return '"' + "\\n".join(escaped) + '"'
