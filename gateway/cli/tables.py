"""Tables for people, whole at any width: an id or a count that is cut to `crit…` is worse than a line that wraps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDEST: Final = 10_000


def print_whole(console: Console, table: Table) -> None:
    """A pipe has no width, and a narrow terminal wraps lines by itself."""
    from rich.measure import Measurement

    for column in table.columns:
        column.no_wrap = True
    needed = Measurement.get(console, console.options.update(max_width=WIDEST), table).maximum
    width, console.width = console.width, max(console.width, needed)
    try:
        console.print(table)
    finally:
        console.width = width
