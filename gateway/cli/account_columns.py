"""Which columns of the accounts a terminal shows: those that are mostly zero only where they are not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

RARE: Final = frozenset({"looped", "expired", "duplicate", "dropped", "lost"})


def shown(columns: Sequence[str], counts: Iterable[Mapping[str, int]]) -> list[str]:
    rows = list(counts)
    return [column for column in columns if column not in RARE or any(row[column] for row in rows)]
