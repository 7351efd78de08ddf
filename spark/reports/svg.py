"""Plots as SVG in the page: bars, and lines over time. No library, no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

WIDTH: Final = 860
LEFT: Final = 300
LINE_LEFT: Final = 80
HEIGHT: Final = 260  # of lines
BAR: Final = 22
COLOURS: Final = ("#2f6fb0", "#d0762b", "#3b8f5a", "#8f4fa8", "#b03a48", "#6b7683")
MOST_LINES: Final = len(COLOURS)


def bars(rows: Sequence[tuple[str, float]], title: str) -> str:
    """Longest first, as they come; nothing where there are none."""
    if not rows:
        return ""
    top = max(value for _, value in rows) or 1
    height = BAR * len(rows) + 34
    drawn = []
    for index, (name, value) in enumerate(rows):
        y = 30 + index * BAR
        width = (WIDTH - LEFT - 90) * value / top
        shown = name if len(name) <= 44 else name[:43] + "…"
        drawn.append(
            f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{escape(shown)}</text>'
            f'<rect x="{LEFT}" y="{y}" width="{max(width, 1):.1f}" height="{BAR - 6}" fill="{COLOURS[0]}"/>'
            f'<text x="{LEFT + width + 6:.1f}" y="{y + 12}">{_short(value)}</text>'
        )
    return _svg(height, title, "".join(drawn))


def lines(series: Mapping[str, Sequence[tuple[float, float]]], title: str, labels: Sequence[tuple[float, str]]) -> str:
    """Each a sequence of (x, y); `labels`: what to write under the axis. The axis begins at 0."""
    shown = dict(list(series.items())[:MOST_LINES])
    points = [point for values in shown.values() for point in values]
    if not points:
        return ""
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    top = max(y for _, y in points) or 1
    height, bottom = HEIGHT, 210

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - left) / (right - left) if right > left else 0.5
        return LINE_LEFT + across * (WIDTH - LINE_LEFT - 20), bottom - (bottom - 36) * y / top

    drawn = [
        f'<line x1="{LINE_LEFT}" y1="{bottom}" x2="{WIDTH - 20}" y2="{bottom}" stroke="#8894a2"/>',
        f'<text x="{LINE_LEFT - 6}" y="40" text-anchor="end">{_short(top)}</text>',
        f'<text x="{LINE_LEFT - 6}" y="{bottom}" text-anchor="end">0</text>',
    ]
    for x, label in labels:
        drawn.append(f'<text x="{place(x, 0)[0]:.1f}" y="{bottom + 16}" text-anchor="middle">{escape(label)}</text>')
    for index, (name, values) in enumerate(shown.items()):
        colour = COLOURS[index]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in sorted(values)))
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        drawn += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>'
            for x, y in (place(*point) for point in values)
        ]
        drawn.append(f'<text x="{LINE_LEFT + index * 130}" y="{height - 8}" fill="{colour}">{escape(name[:20])}</text>')
    left_out = f" (the first {MOST_LINES} of {len(series)})" if len(series) > MOST_LINES else ""
    return _svg(height, title + left_out, "".join(drawn))


def _svg(height: int, title: str, drawn: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" aria-label="{escape(title)}" '
        f'font-size="12" font-family="system-ui,sans-serif"><text x="4" y="16" font-weight="600">{escape(title)}</text>'
        f"{drawn}</svg>"
    )


def _short(value: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= size:
            return f"{value / (1e3 if unit == 'k' else size):,.1f}{unit}"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"
