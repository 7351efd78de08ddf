"""The catalogue for people: what flows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spark.reports.html import at, findings, section, table
from spark.reports.html import page as html_page
from spark.reports.svg import bars, lines


def page(result: Mapping[str, Any]) -> str:
    types = result["types"]
    parts = [
        section(
            "Event types",
            bars([(row["type"], row["events"]) for row in types[:30]], "events"),
            table(
                [{**row, "first": at(row["first_at"]), "last": at(row["last_at"])} for row in types],
                {
                    "link": "link",
                    "type": "event type",
                    "events": "events",
                    "per_second": "per second",
                    "busiest_second": "in the busiest second",
                    "first": "first",
                    "last": "last",
                },
            ),
        ),
        section("Volume over time", _volume(result)),
        section(
            "Drift",
            table(
                result["drift"],
                {
                    "link": "link",
                    "type": "event type",
                    "field": "field",
                    "what": "what",
                    "before": "before",
                    "after": "after",
                },
            ),
            note="What differs between the two periods.",
        ),
    ]
    for row in types:
        parts.append(
            section(
                f"{row['link']}: {row['type']}",
                table(
                    row["fields"],
                    {
                        "field": "field",
                        "type": "IDL type",
                        "events": "events",
                        "least": "least",
                        "most": "most",
                        "longest": "longest",
                        "values": "values",
                    },
                ),
            )
        )
    parts.append(findings(result["findings"]))
    return html_page(
        "Catalogue of captured traffic", f"{result['events']:,} events of {len(types)} types", "good", parts
    )


def _volume(result: Mapping[str, Any]) -> str:
    hours = sorted({row["hour"] for row in result["volume"]})
    labels = [(hour, at(hour)[5:16]) for hour in hours[:: max(1, len(hours) // 6)]]
    series: dict[str, list[tuple[float, float]]] = {}
    for row in result["volume"]:
        series.setdefault(row["type"], []).append((row["hour"], row["events"]))
    return lines(series, "events in an hour", labels)
