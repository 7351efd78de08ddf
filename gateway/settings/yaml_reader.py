"""Reads YAML strictly: text into a tree with places, and everything that would surprise somebody into findings.

Only PyYAML's parser is used, the stage that yields events; its resolver and constructors, where the surprises of YAML 1.1 and
the dangers of tags live, are not. What is not read: anchors, aliases and merge keys (a value would have two places, and a
few lines could grow without bound), tags, a second document, a key twice, a key that is no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

import yaml

from gateway.settings.findings import START, Finding, Place
from gateway.settings.nodes import Entry, Mapping, Node, Scalar, Sequence, Style, plain_value
from gateway.settings.source import lines_of

DEEPEST: Final = 64
MOST_NODES: Final = 300_000
ENGINE = yaml.CLoader if yaml.__with_libyaml__ else yaml.Loader
"""libyaml's parser where PyYAML was built with it: fifty times faster, same events."""

_STYLES: Final[dict[str | None, Style]] = {
    None: "plain", "": "plain", "'": "single", '"': "double", "|": "literal", ">": "folded",
}  # fmt: skip

_HINTS: Final = (
    ("mapping values are not allowed", 'put a text that holds ": " in quotes, and check the indentation'),
    ("cannot start any token", "put a text that begins with this character in quotes"),
    ("end of stream", "a quote or a bracket is opened here and never closed"),
    ("expected ':'", 'every key needs ": " after it; check the quotes and the indentation of the lines above'),
    ("escape", "in double quotes a backslash is written twice; in single quotes it stands for itself"),
)
_QUOTED: Final = re.compile(r"'(?!<)[^']{2,}'|\"(?!<)[^\"]{2,}\"|('[^']*'|\"[^\"]*\")")


class _Refused(Exception):
    """Reading cannot go on."""


def read_yaml(text: str, file: str) -> tuple[Node | None, list[Finding]]:
    """The top node, or None where the text cannot be read as a whole; with duplicate keys the first of each is kept."""
    composer = _Composer(file)
    try:
        for event in yaml.parse(text, Loader=ENGINE):
            composer.take(event)
    except _Refused:
        return None, composer.findings
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # PyYAML's own parser trips over \UFFFFFFFF
        composer.findings.append(_syntax_finding(error, text, file, composer.last))
        return None, composer.findings
    return composer.top, composer.findings


class _Composer:
    """Builds the tree from parser events without recursion, so that depth is ours to bound."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.findings: list[Finding] = []
        self.top: Node | None = None
        self.last = START
        self._open: list[Mapping | Sequence] = []
        self._keys: list[Scalar | None] = []  # for each open mapping: the key that waits for its value
        self._nodes = 0

    def take(self, event: yaml.Event) -> None:
        self.last = _place(event.start_mark)
        if isinstance(event, yaml.ScalarEvent):
            self._count(event)
            self._add(_scalar(event, self.last))
        elif isinstance(event, yaml.MappingStartEvent):
            self._count(event)
            self._enter(Mapping(self.last))
        elif isinstance(event, yaml.SequenceStartEvent):
            self._count(event)
            self._enter(Sequence(self.last))
        elif isinstance(event, yaml.CollectionEndEvent):
            self._open.pop()
            self._keys.pop()
        elif isinstance(event, yaml.AliasEvent):
            self._refuse("CFG-ALIAS", "aliases (*) are not read", "write the value out, or put it in quotes")
        elif isinstance(event, yaml.DocumentStartEvent) and self.top is not None:
            self._refuse("CFG-DOCUMENTS", "a second document begins here", "one file holds one configuration")

    def _count(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        # The anchor's or tag's own text is not shown: it may be a password that was not put in quotes.
        if event.anchor is not None:
            self._refuse("CFG-ALIAS", "anchors (&) are not read", "leave it out, or put the value in quotes")
        if event.tag not in (None, "!"):
            self._refuse("CFG-TAG", "tags (!) are not read", "leave it out, or put the value in quotes")
        self._nodes += 1
        if self._nodes > MOST_NODES:
            self._refuse("CFG-TOO-LARGE", f"there are more than {MOST_NODES} values", "is this the right file?")

    def _enter(self, node: Mapping | Sequence) -> None:
        if len(self._open) >= DEEPEST:
            self._refuse("CFG-NESTING", f"nested deeper than {DEEPEST} levels", "check the brackets and indentation")
        self._add(node)
        self._open.append(node)
        self._keys.append(None)

    def _add(self, node: Node) -> None:
        if not self._open:
            self.top = node
            return
        parent = self._open[-1]
        if isinstance(parent, Sequence):
            parent.items.append(node)
            return
        key = self._keys[-1]
        if key is None:
            self._keys[-1] = self._as_key(node)
            return
        self._keys[-1] = None
        first = parent.entries.get(key.text)
        if first is None:
            parent.entries[key.text] = Entry(key.place, node)
        else:
            self._report(
                "CFG-DUPLICATE-KEY",
                key.place,
                f'key "{key.text}" stands here a second time',
                f"the first is in line {first.key_place.line}; keep one of them",
            )

    def _as_key(self, node: Node) -> Scalar:
        if not isinstance(node, Scalar):
            self._refuse("CFG-KEY", "a list or a mapping cannot be a key", "put a text that holds brackets in quotes")
        if node.style == "plain" and node.text == "<<":
            self._refuse("CFG-ALIAS", "merge keys (<<) are not read", "write the entries out")
        return node

    def _refuse(self, code: str, message: str, hint: str) -> NoReturn:
        self._report(code, self.last, message, hint)
        raise _Refused

    def _report(self, code: str, place: Place, message: str, hint: str) -> None:
        self.findings.append(Finding(code, "error", self.file, place.line, place.column, message, hint))


def _scalar(event: yaml.ScalarEvent, place: Place) -> Scalar:
    style = _STYLES[event.style]
    value = plain_value(event.value) if style == "plain" else event.value
    return Scalar(place, event.value, style, value)


def _place(mark: Any) -> Place:  # libyaml's marks and PyYAML's own are two classes alike
    return Place(mark.line + 1, mark.column + 1)


def _syntax_finding(error: Exception, text: str, file: str, last: Place) -> Finding:
    place, problem = last, "a character escape is out of range"
    if isinstance(error, yaml.MarkedYAMLError):
        problem = error.problem or "it cannot be parsed"
        mark = error.problem_mark
        if "end of stream" in problem:
            mark = error.context_mark or mark  # where the quote was opened, not where the file ends
        if mark is not None:
            place = _place(mark)
    problem = _QUOTED.sub(
        lambda found: found[1] or "…", problem
    )  # what PyYAML quotes may be a password that was not put in quotes
    hint = _hint(problem, text, place)
    return Finding("CFG-NOT-YAML", "error", file, place.line, place.column, f"not YAML: {problem}", hint)


def _hint(problem: str, text: str, place: Place) -> str:
    if any(_indented_by_tab(line) for line in _around(text, place)):
        return "indent with spaces, never with tabs"
    return next((hint for part, hint in _HINTS if part in problem), "check this line and the one above it")


def _around(text: str, place: Place) -> Iterator[str]:
    lines = lines_of(text)
    yield from lines[max(0, place.line - 2) : place.line]


def _indented_by_tab(line: str) -> bool:
    return "\t" in line[: len(line) - len(line.lstrip())]
