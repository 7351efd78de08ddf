"""Where checks put what they find: turns a path in the configuration into a place in the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from typing import Final

from gateway.settings.document import Document, quoted
from gateway.settings.findings import Finding, Place, Severity
from gateway.settings.nodes import Path, Scalar

_MOST_COMPARISONS: Final = 50_000
_MOST_NAMED: Final = 8
_LONGEST_COMPARED: Final = 100

MOST_FINDINGS: Final = 1_000
"""Of each severity. More help nobody, and a file that is all wrong must not take minutes."""


class Report:
    """Findings of one configuration.

    Nothing is reported about a value whose reference brought nothing: that is the one finding about it.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.findings: list[Finding] = []
        self.left_out = 0  # findings that are counted only
        self._counts: Counter[Severity] = Counter()
        self._comparisons = 0

    @property
    def has_errors(self) -> bool:
        return self._counts["error"] > 0

    def leave_out_errors(self, count: int) -> bool:
        """Whether there are so many errors that these need not be put into words; they are then counted."""
        if self._counts["error"] < MOST_FINDINGS:
            return False
        self._counts["error"] += count
        self.left_out += count
        return True

    def error(self, code: str, path: Path, message: str, hint: str = "", *, at: Place | None = None) -> None:
        """About the value at a path; `at` where the place is known better than by the path."""
        self._put("error", code, path, at, message, hint)

    def warning(self, code: str, path: Path, message: str, hint: str = "", *, at: Place | None = None) -> None:
        self._put("warning", code, path, at, message, hint)

    def note(self, code: str, path: Path, message: str, hint: str = "", *, at: Place | None = None) -> None:
        self._put("note", code, path, at, message, hint)

    def key(self, path: Path) -> Place:
        """The place of a key, for findings about an entry as a whole."""
        return self.document.key_place(path)

    def suggestion(self, path: Path, known: Iterable[str], what: str) -> str:
        """A hint for the text at a path, which is not among the known ones."""
        node = self.document.node(path)
        if isinstance(node, Scalar) and not node.substituted:
            return self.did_you_mean(node.text, known, what)
        return self.known(known, what)

    def did_you_mean(self, word: str, known: Iterable[str], what: str) -> str:
        """The closest of the known words, or some of them. Comparing is bounded: a broken file of ten thousand links gets its
        findings in time, if not a guess for each."""
        names = list(known)
        self._comparisons += len(names)
        close = (
            get_close_matches(word[:_LONGEST_COMPARED], names, n=1) if self._comparisons <= _MOST_COMPARISONS else []
        )
        return f"did you mean {quoted(close[0])}?" if close else self.known(names, what)

    def known(self, names: Iterable[str], what: str) -> str:
        shown = [quoted(name)[1:-1] for name in islice(names, _MOST_NAMED + 1)]
        if not shown:
            return f"there is no {what} at all"
        return f"known: {', '.join(shown[:_MOST_NAMED])}{' …' if len(shown) > _MOST_NAMED else ''}"

    def _put(self, severity: Severity, code: str, path: Path, at: Place | None, message: str, hint: str) -> None:
        if self.document.unresolved(path):
            return
        self.add(severity, code, at or self.document.place(path), message, hint)

    def add(self, severity: Severity, code: str, place: Place, message: str, hint: str = "") -> None:
        """A finding about a place in the file, whatever stands there."""
        self._counts[severity] += 1
        if self._counts[severity] > MOST_FINDINGS:
            self.left_out += 1
            return
        self.findings.append(Finding(code, severity, self.document.file, place.line, place.column, message, hint))
