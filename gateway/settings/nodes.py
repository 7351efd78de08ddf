"""A YAML document as a tree that remembers where everything stands.

Values are what they look like: `true`, `false`, `null` and JSON's numbers are themselves, everything else is text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from gateway.settings.findings import Place

Value = str | int | float | bool | None
Style = Literal["plain", "single", "double", "literal", "folded"]
Path = tuple[str | int, ...]
"""Keys and indices from the top of the document to a node."""


@dataclass(slots=True)
class Scalar:
    place: Place
    text: str  # as YAML reads it, before any substitution: what may be shown
    style: Style
    value: Value  # after substitution: never to be shown where `substituted`
    substituted: bool = False  # the text holds references
    unresolved: bool = False  # and they have brought nothing (yet): the value is no subject for checks


class Entry(NamedTuple):
    key_place: Place
    node: Node


@dataclass(slots=True)
class Mapping:
    place: Place
    entries: dict[str, Entry] = field(default_factory=dict)


@dataclass(slots=True)
class Sequence:
    place: Place
    items: list[Node] = field(default_factory=list)


Node = Scalar | Mapping | Sequence

_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS: Final[dict[str, Value]] = {"": None, "null": None, "true": True, "false": False}
_LONGEST_NUMBER: Final = 100
"""Characters; longer runs of digits are text, so that no file can make Python compute for long."""


def plain_value(text: str) -> Value:
    """What an unquoted scalar means: the words and numbers of JSON, and text for all else (`no`, `010`, `12:30`, `~`)."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > _LONGEST_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text


def to_data(node: Node) -> Any:
    """The tree as Python's dicts, lists and values, with secrets resolved."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Mapping):
        return {key: to_data(entry.node) for key, entry in node.entries.items()}
    return [to_data(item) for item in node.items]


def child(node: Node, step: str | int) -> Node | None:
    if isinstance(node, Mapping) and isinstance(step, str):
        entry = node.entries.get(step)
        return entry.node if entry else None
    if isinstance(node, Sequence) and isinstance(step, int) and 0 <= step < len(node.items):
        return node.items[step]
    return None


def scalars(node: Node) -> Iterator[Scalar]:
    """Every scalar value of the tree (no keys), in the order of the file."""
    if isinstance(node, Scalar):
        yield node
    elif isinstance(node, Mapping):
        for entry in node.entries.values():
            yield from scalars(entry.node)
    else:
        for item in node.items:
            yield from scalars(item)
