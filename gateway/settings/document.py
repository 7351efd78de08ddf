"""A configuration that was read: the tree, its file, and how its values may be shown to people."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Final

from gateway.settings.findings import Place, printable
from gateway.settings.nodes import Mapping, Node, Path, Scalar, Sequence, Value, child
from gateway.settings.secrets import is_secret_key

LONGEST_SHOWN: Final = 60


@dataclass(slots=True)
class Document:
    file: str
    folder: FilePath  # where relative paths of the configuration start
    lines: list[str]
    top: Mapping
    kept: dict[Path, list[int]] = field(default_factory=dict)
    """Lists that invalid items were taken out of: where the items that are left stood. Paths count the items that are left."""

    def node(self, path: Path) -> Node | None:
        """The node at a path; None where there is none."""
        found, node = self.nearest(path)
        return node if found == path else None

    def value(self, path: Path) -> Value:
        """The scalar value at a path, with secrets resolved: never to be shown; None where there is none."""
        node = self.node(path)
        return node.value if isinstance(node, Scalar) else None

    def nearest(self, path: Path) -> tuple[Path, Node]:
        """The node at a path, or at the longest part of it that exists."""
        node: Node = self.top
        for depth, step in enumerate(path):
            below = child(node, self._index_in_file(path[:depth], step))
            if below is None:
                return path[:depth], node
            node = below
        return path, node

    def _index_in_file(self, path: Path, step: str | int) -> str | int:
        if not isinstance(step, int) or path not in self.kept:
            return step
        indices = self.kept[path]
        return indices[step] if step < len(indices) else -1

    def place(self, path: Path) -> Place:
        return self.nearest(path)[1].place

    def key_place(self, path: Path) -> Place:
        """Where the key of an entry stands; for an item of a list, where the item stands."""
        parent = self.node(path[:-1]) if path else None
        if isinstance(parent, Mapping) and isinstance(path[-1], str) and path[-1] in parent.entries:
            return parent.entries[path[-1]].key_place
        return self.place(path)

    def unresolved(self, path: Path) -> bool:
        """Whether the value is not known, because a reference in it has brought nothing."""
        node = self.node(path)
        return isinstance(node, Scalar) and node.unresolved

    def substituted(self, path: Path) -> bool:
        """Whether the value, or one inside it, came from a reference: texts about it must not quote it."""
        node = self.node(path)
        return node is not None and _holds_reference(node)

    def shown(self, path: Path) -> str:
        """The value as it was written, quoted and shortened; secrets by reference only, and never under a secret's key."""
        node = self.node(path)
        if node is None:
            return "nothing"
        if any(map(is_secret_key, path)):
            return "what stands here"
        if isinstance(node, Mapping):
            return "a mapping"
        if isinstance(node, Sequence):
            return "a list"
        if node.style == "plain" and not isinstance(node.value, str):
            return node.text or "nothing"
        return quoted(node.text)

    def written(self, path: Path) -> str | None:
        """The scalar at a path as it is written, references unresolved; None where there is none, or a secret's."""
        node = self.node(path)
        return node.text if isinstance(node, Scalar) and not any(map(is_secret_key, path)) else None

    def keys(self, path: Path) -> list[str]:
        """The keys of the mapping at a path; none where there is no mapping."""
        node = self.node(path)
        return list(node.entries) if isinstance(node, Mapping) else []


def quoted(text: str) -> str:
    """A text in quotes, on one line, of bearable length, without characters that could play tricks on a terminal."""
    short = text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"
    return f'"{printable(short)}"'


def quoted_key(key: str) -> str:
    """A key in quotes. `{password:x}` lacks a blank and makes one key of both: what may be a secret in it is left out."""
    word = re.split(r"[:=\s]", key, maxsplit=1)[0]
    return quoted(f"{word} …") if word != key and is_secret_key(key) else quoted(key)


def _holds_reference(node: Node) -> bool:
    if isinstance(node, Scalar):
        return node.substituted
    below = [entry.node for entry in node.entries.values()] if isinstance(node, Mapping) else node.items
    return any(map(_holds_reference, below))
