"""What `explain` tells: for every part of an event or message, the rule that moved it, where to, and whether it can come back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from mappings.model import Message, StructuredEvent


class Entry(NamedTuple):
    """One line of an explanation (FORMS.md section 5)."""

    source: str  # path in the event (or message) that came
    rule: str
    to: str  # name or path in what was made; "" where nothing was
    type: str  # type there
    lossless: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "from": self.source,
            "rule": self.rule,
            "to": self.to,
            "type": self.type,
            "lossless": self.lossless,
        }


Trace: TypeAlias = "list[Entry] | None"
"""Where entries are collected; None where nobody asked, and then nothing is spent on them."""


@dataclass(frozen=True, slots=True)
class Explained:
    """A translation with its explanation."""

    result: Message | StructuredEvent
    entries: tuple[Entry, ...]

    @property
    def lossless(self) -> bool:
        return all(entry.lossless for entry in self.entries)
