"""What an operator sees of a journal."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.journal.errors import JournalError
from gateway.journal.options import Policy


@dataclass(frozen=True, slots=True)
class LinkPlace:
    """Where a link stands. What was appended since it joined is the sum of what is settled and what is pending."""

    link: str
    policy: Policy
    base: int  # it joined behind this sequence
    position: int  # everything up to here is settled
    pending: int
    settled: dict[str, int]  # by outcome


@dataclass(frozen=True, slots=True)
class JournalStatus:
    first: int  # the oldest sequence on disk
    last: int  # the newest that links can read
    segments: int
    size_bytes: int
    queued_bytes: int  # taken, and not written yet
    held: JournalError | None
    links: list[LinkPlace]
