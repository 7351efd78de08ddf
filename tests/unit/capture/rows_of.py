"""Reading a capture in tests, with pyarrow alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gateway.capture.inspection import rows, sealed_files


def rows_of(root: Path) -> list[dict[str, Any]]:
    """Every row, by link and number."""
    found = [row for path in sealed_files(root) for row in rows(path)]
    return sorted(found, key=lambda row: (row["link"], row["run"], row["seq"]))
