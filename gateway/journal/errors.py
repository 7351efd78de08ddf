"""The errors of the journal, each with a stable code (docs/errors.md, JNL).

JournalError             the root; raised, or handed to the observer as a finding
├── JournalLocked        another process has it
├── JournalClosed        append or read after close()
├── JournalHeld          an append was not taken: the disk cannot keep up, or is full; nothing of it was queued
├── LinkBehind           an append for one link was not taken: another link cannot be told to pass over it
└── KeyMissing           records are encrypted, and none of the keys opens them
"""

from __future__ import annotations

from pathlib import Path

from mappings.errors import IsthmusError


class JournalError(IsthmusError):
    """Something about a journal that its owner must know."""


class JournalLocked(JournalError):
    """One process at a time may write."""


class JournalClosed(JournalError):
    """The journal, or this cursor, is closed."""

    def __init__(self) -> None:
        super().__init__("JNL-CLOSED", "the journal is closed", hint="open it again")


class JournalHeld(JournalError):
    """Nothing of this append was taken; the caller keeps its items and comes back when there is room."""


class LinkBehind(JournalError):
    """Settling far ahead of what a link has read is more than its cursor can hold."""

    def __init__(self, link: str, pending: int) -> None:
        super().__init__(
            "JNL-BEHIND", f"link {link} is {pending} events behind", path=link, hint="let it catch up first"
        )
        self.link = link
        self.pending = pending


class KeyMissing(JournalError):
    """Wrong or missing key: never taken for damage, since the records are whole."""


def not_a_journal(directory: Path) -> JournalError:
    return JournalError(
        "JNL-NOT-FOUND", "there is no journal here", path=str(directory), hint="name the folder of a journal"
    )


def torn(path: Path, offset: int, length: int) -> JournalError:
    return JournalError(
        "JNL-TORN",
        f"the last {length} bytes, from byte {offset} on, are no whole record: a write was cut short",
        path=str(path),
        hint="nothing to do: what was confirmed before them is whole",
    )


def damaged(path: Path, offset: int, length: int) -> JournalError:
    return JournalError(
        "JNL-DAMAGED",
        f"{length} bytes from byte {offset} on are damaged and skipped",
        path=str(path),
        hint="check the disk; `isthmus journal repair` writes the segment anew without them",
    )


def missing(path: Path, first: int, last: int) -> JournalError:
    return JournalError(
        "JNL-MISSING",
        f"{last - first + 1} records are missing: sequences {first} to {last}",
        path=str(path),
        hint="what was in them cannot be had from this journal; ask the source again if it can",
    )


def damaged_header(path: Path) -> JournalError:
    return JournalError(
        "JNL-HEADER",
        "the header of this segment is damaged; its records are read with the identity of the journal",
        path=str(path),
        hint="check the disk; `isthmus journal repair` writes the segment anew",
    )


def foreign(path: Path) -> JournalError:
    return JournalError(
        "JNL-FOREIGN",
        "this segment belongs to another journal and is left alone",
        path=str(path),
        hint="move it back to where it came from",
    )
