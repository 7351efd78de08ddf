"""Which letters a command is about: by key, by link, by error code, by age."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.dead_letters.letters import DeadLettersError, Letter

_DURATION: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)([smhd])")
_UNIT_SECS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Every condition that is given must hold; without any, every letter is wanted."""

    keys: tuple[str, ...] = ()  # or the beginning of keys
    code: str = ""  # or the beginning of a code
    older_than_secs: float | None = None
    newer_than_secs: float | None = None

    @property
    def is_everything(self) -> bool:
        return self == Wanted()

    def matches(self, letter: Letter, now: float | None = None) -> bool:
        age = (time.time() if now is None else now) - letter.dead_lettered_at
        return (
            (not self.keys or any(letter.key.startswith(key) for key in self.keys))
            and letter.code.startswith(self.code)
            and (self.older_than_secs is None or age > self.older_than_secs)
            and (self.newer_than_secs is None or age < self.newer_than_secs)
        )

    def check_keys(self, letters: Iterable[Letter]) -> None:
        """Each key must lead to exactly one letter. Raises DeadLettersError."""
        known = [letter.key for letter in letters]
        for key in self.keys:
            found = [whole for whole in known if whole.startswith(key)]
            if not found:
                raise DeadLettersError(
                    "DLQ-NO-LETTER", f"there is no letter {key}", hint="`isthmus dlq list` shows those that are there"
                )
            if len(found) > 1:
                raise DeadLettersError(
                    "DLQ-AMBIGUOUS", f"{len(found)} letters begin with {key}", hint=f"for example {_some(found)}"
                )


def seconds(text: str) -> float:
    """`90s`, `15m`, `12h`, `7d`. Raises ValueError."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no duration: write a number and s, m, h or d, such as 7d")
    return float(match[1]) * _UNIT_SECS[match[2]]


def _some(keys: Sequence[str]) -> str:
    return ", ".join(keys[:3])
