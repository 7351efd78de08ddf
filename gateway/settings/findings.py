"""What is wrong with a configuration, and where: the one form in which every check speaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from mappings.errors import IsthmusError

Severity = Literal["error", "warning", "note"]
"""error: the gateway does not start with it. warning: very likely not what was meant. note: good to know, nothing to mend."""


class Place(NamedTuple):
    """A position in a file, as editors count: both from 1, the column in characters."""

    line: int
    column: int


START: Final = Place(1, 1)
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")


class Finding(NamedTuple):
    """One thing that a person should look at."""

    code: str
    severity: Severity
    file: str
    line: int
    column: int
    message: str
    hint: str = ""

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{printable(self.file)}:{self.line}:{self.column}: {self.severity} {self.code}: {self.message}{hint}"

    def to_json(self) -> dict[str, str | int]:
        return self._asdict()


def printable(text: str) -> str:
    """On one line, and without characters that could play tricks on a terminal."""
    return "".join(character if character.isprintable() else f"\\u{ord(character):04x}" for character in text)


class SettingsError(IsthmusError):
    """A configuration that the gateway cannot start with; `findings` holds the errors, and any warnings and notes too."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        self.errors = tuple(finding for finding in findings if finding.severity == "error")
        count = "1 error" if len(self.errors) == 1 else f"{len(self.errors)} errors"
        super().__init__("CFG-INVALID", f"the configuration has {count}", hint="`isthmus lint` shows them all")

    def __str__(self) -> str:
        return "\n".join([f"{self.code}: {self.message}", *map(str, self.errors)])
