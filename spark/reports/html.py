"""A page: head, tables, notes. Everything that comes from traffic is escaped; nothing is loaded from anywhere."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final

STYLE: Final = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1c2530;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem;border-bottom:1px solid #d5dae0}
table{border-collapse:collapse;margin:.6rem 0;font-size:.9rem}th,td{padding:.25rem .7rem;text-align:left;vertical-align:top}
th{border-bottom:2px solid #8894a2}td{border-bottom:1px solid #e4e8ec}td.n{text-align:right;font-variant-numeric:tabular-nums}
code{font-size:.85em;background:#f1f3f5;padding:.05rem .25rem;overflow-wrap:anywhere}
.verdict{padding:.6rem 1rem;border-radius:6px;font-weight:600}
.good{background:#dff3e4}.bad{background:#fbe3e0}.doubt{background:#fdf3d3}details{margin:.2rem 0}svg{max-width:100%;height:auto}
@media(prefers-color-scheme:dark){body{background:#14181d;color:#e3e8ee}code{background:#252c34}.good{background:#1d4a2b}.bad{background:#5c241d}
.doubt{background:#54460f}td{border-color:#2c333b}svg text{fill:#e3e8ee}}
"""


def page(title: str, verdict: str, kind: str, parts: Iterable[str]) -> str:
    """`kind`: good, bad or doubt."""
    body = "\n".join(part for part in parts if part)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>\n'
        f'<h1>{escape(title)}</h1>\n<p class="verdict {kind}">{escape(verdict)}</p>\n{body}\n</body></html>\n'
    )


def section(title: str, *parts: str, note: str = "") -> str:
    if not any(parts):
        return ""
    explanation = f"<p>{escape(note)}</p>" if note else ""
    return f"<h2>{escape(title)}</h2>{explanation}{''.join(parts)}"


def table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> str:
    """`columns`: from the key in a row to the heading. Nothing where there are no rows."""
    if not rows:
        return ""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in columns.values())
    body = "".join("<tr>" + "".join(_cell(row.get(key)) for key in columns) + "</tr>\n" for row in rows)
    return f"<table><tr>{head}</tr>\n{body}</table>"


def _cell(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return f"<td>{'' if value is None else 'yes' if value else 'no'}</td>"
    if isinstance(value, int | float):
        return f'<td class="n">{value:,}</td>'
    if isinstance(value, list):
        return f"<td>{_samples(value)}</td>"
    return f"<td>{escape(str(value))}</td>"


def _samples(values: Sequence[Any]) -> str:
    if not values:
        return ""
    lines = "".join(f"<div><code>{escape(json.dumps(value, ensure_ascii=False))}</code></div>" for value in values)
    return f"<details><summary>{len(values)}</summary>{lines}</details>"


def findings(found: Sequence[Mapping[str, Any]]) -> str:
    columns = {"code": "code", "path": "where", "message": "what", "hint": "what to do", "count": "times"}
    return section("What could not be read", table(found, columns), note="Everything else was.")


def at(micros: int | None) -> str:
    """A time for people."""
    if micros is None:
        return ""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(micros / 1_000_000))
