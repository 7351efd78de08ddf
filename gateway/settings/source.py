"""A configuration as bytes with a name, and as text that is fit to be parsed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

from gateway.settings.findings import START, Finding, Place

LARGEST_BYTES: Final = 2 * 1024 * 1024
"""Room for some 20 000 links; a larger file is a mistake, and is refused before any time is spent on it."""

_UNFIT: Final = re.compile("[^\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
"""Control characters and what YAML 1.1 takes for line breaks but editors do not: they would make our line numbers wrong."""

_LINE_END: Final = re.compile(r"\r\n|\r|\n")


class Source(NamedTuple):
    """A configuration before it is read. `${file:…}` and the files of tests are looked up from `folder`."""

    name: str
    data: bytes
    folder: Path

    @classmethod
    def of(cls, path: Path) -> Source:
        """Raises OSError; reads no more than it takes to know that a file is too large."""
        with path.open("rb") as file:
            return cls(str(path), file.read(LARGEST_BYTES + 1), path.parent)


def decode(source: Source) -> tuple[str, list[Finding]]:
    """The text of a configuration, and what makes it unfit to be parsed; the text is then not to be used."""
    if len(source.data) > LARGEST_BYTES:
        return "", [
            _error(
                source,
                "CFG-TOO-LARGE",
                START,
                f"the file is larger than {LARGEST_BYTES // 1024 // 1024} MiB",
                "is this the right file? a gateway of this size is better split into several",
            )
        ]
    try:
        text = source.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = source.data[: error.start].decode("utf-8", "replace")
        return "", [
            _error(
                source,
                "CFG-NOT-UTF8",
                place_of(before, len(before)),
                f"byte 0x{source.data[error.start]:02x} is not UTF-8",
                "save the file in the encoding UTF-8",
            )
        ]
    unfit = _UNFIT.search(text)
    if unfit:
        return text, [
            _error(
                source,
                "CFG-CHARACTER",
                place_of(text, unfit.start()),
                f"character U+{ord(unfit.group()):04X} must not stand in a configuration",
                f'remove it, or write it in double quotes as "\\u{ord(unfit.group()):04X}"',
            )
        ]
    if not text.strip():
        return text, [
            _error(source, "CFG-EMPTY", START, "the file is empty", "`isthmus init` writes one to start from")
        ]
    return text, []


def lines_of(text: str) -> list[str]:
    return _LINE_END.split(text)


def place_of(text: str, offset: int) -> Place:
    """Where the character at an offset stands."""
    lines = lines_of(text[:offset])
    return Place(len(lines), len(lines[-1]) + 1)


def _error(source: Source, code: str, place: Place, message: str, hint: str) -> Finding:
    return Finding(code, "error", source.name, place.line, place.column, message, hint)
