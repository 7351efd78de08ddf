"""Shows where in an expression an error is."""

from __future__ import annotations

from typing import Final

WIDTH: Final = 100


def point_at(text: str, position: int, width: int = WIDTH) -> str:
    """Two lines: the line of the text that holds the position, cut to the width around it, and a caret below the place.

    Characters that would not stay in their column (tabs, control characters) are shown as blanks.
    """
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[start : end if end >= 0 else len(text)]
    column = position - start
    left = max(0, min(column - width // 2, len(line) - width))
    shown = line[left : left + width]
    before, after = "…" if left else "", "…" if left + width < len(line) else ""
    visible = "".join(character if character.isprintable() else " " for character in shown)
    return f"{before}{visible}{after}\n{' ' * (len(before) + column - left)}^"
