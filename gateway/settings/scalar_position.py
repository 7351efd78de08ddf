"""Where in the file a character of a text stands: what a filter's own error points at, in the lines that its author sees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gateway.settings.findings import Place
from gateway.settings.nodes import Scalar, Style

_ESCAPE_LENGTHS: Final = {"x": 4, "u": 6, "U": 10}


def place_in_scalar(lines: list[str], scalar: Scalar, offset: int) -> Place | None:
    """The place, in the lines of the file, of one character of a scalar's text, or of its end; None where that cannot be told."""
    if scalar.place.line > len(lines) or not 0 <= offset <= len(scalar.text):
        return None
    return _FINDERS[scalar.style](lines, scalar, offset)


def _plain(lines: list[str], scalar: Scalar, offset: int) -> Place | None:
    line, column = scalar.place
    if lines[line - 1].startswith(scalar.text, column - 1):
        return Place(line, column + offset)
    return _folded_lines(lines, scalar.text, line, column, offset)


def _folded(lines: list[str], scalar: Scalar, offset: int) -> Place | None:
    return _folded_lines(lines, scalar.text.rstrip("\n"), scalar.place.line + 1, 1, offset)


def _folded_lines(lines: list[str], text: str, line: int, column: int, offset: int) -> Place | None:
    """In a text whose line breaks have become blanks; not where it has line breaks of its own."""
    passed = 0
    for number in range(line, len(lines) + 1):
        raw = lines[number - 1]
        begin = column - 1 if number == line and column > 1 else len(raw) - len(raw.lstrip(" \t"))
        piece = raw[begin:].rstrip(" \t")
        if piece.startswith(text[passed:]):
            piece = text[passed:]
        if not piece or not text.startswith(piece, passed):
            return None
        if offset <= passed + len(piece):
            return Place(number, begin + 1 + offset - passed)
        passed += len(piece)
        if text[passed : passed + 1] != " ":
            return None
        passed += 1
    return None


def _single_quoted(lines: list[str], scalar: Scalar, offset: int) -> Place | None:
    return _quoted(lines, scalar, offset, lambda raw, at: 2 if raw.startswith("''", at) else 1, "'")


def _double_quoted(lines: list[str], scalar: Scalar, offset: int) -> Place | None:
    def length(raw: str, at: int) -> int:
        return _ESCAPE_LENGTHS.get(raw[at + 1 : at + 2], 2) if raw[at] == "\\" else 1

    return _quoted(lines, scalar, offset, length, '"')


def _quoted(
    lines: list[str], scalar: Scalar, offset: int, length: Callable[[str, int], int], quote: str
) -> Place | None:
    """On one line only: every character of the text takes `length` characters of the file."""
    line, column = scalar.place
    raw = lines[line - 1]
    at = column  # after the quote
    for _ in range(offset):
        if at >= len(raw):
            return None
        if raw[at] == quote and length(raw, at) == 1:
            return None
        at += length(raw, at)
    return Place(line, at + 1) if at < len(raw) else None


def _literal(lines: list[str], scalar: Scalar, offset: int) -> Place | None:
    before = scalar.text[:offset].split("\n")
    wanted = scalar.text.split("\n")[len(before) - 1]
    number = scalar.place.line + len(before)
    if number > len(lines) or not lines[number - 1].endswith(wanted):
        return None
    return Place(number, len(lines[number - 1]) - len(wanted) + len(before[-1]) + 1)


_FINDERS: Final[dict[Style, Callable[[list[str], Scalar, int], Place | None]]] = {
    "plain": _plain,
    "single": _single_quoted,
    "double": _double_quoted,
    "literal": _literal,
    "folded": _folded,
}
