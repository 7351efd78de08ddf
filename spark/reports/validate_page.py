"""Validation for people: do captures and mapping agree, and if not, which rule, which field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from spark.reports.html import findings, section, table
from spark.reports.html import page as html_page
from spark.reports.svg import bars


def page(result: Mapping[str, Any]) -> str:
    verdicts = result["verdicts"]
    kind = "good" if result["agrees"] else "bad"
    told = "Captures and mapping agree" if result["agrees"] else "Captures and mapping do not agree"
    verdict = f"{told}: of {result['events']:,} events {verdicts['differs']:,} differ, {verdicts['unreadable']:,} could not be read"
    by_rule: Counter[str] = Counter()
    by_field: Counter[str] = Counter()
    for one in result["differences"]:
        by_rule[one["rule"] or "(no rule)"] += one["count"]
        by_field[one["field"]] += one["count"]
    return html_page(
        "Validation of captured traffic",
        verdict,
        kind,
        [
            section("Differences by rule", bars(by_rule.most_common(30), "events")),
            section("Differences by field", bars(by_field.most_common(30), "events")),
            section(
                "Differences",
                table(
                    result["differences"],
                    {
                        "gateway": "gateway",
                        "link": "link",
                        "rule": "rule",
                        "field": "field",
                        "change": "change",
                        "count": "events",
                        "samples": "samples",
                    },
                ),
            ),
            section(
                "Events",
                table(
                    result["by_link"],
                    {"gateway": "gateway", "link": "link", "status": "status", "verdict": "verdict", "count": "events"},
                ),
                note="Not checked: what the source could not decode, what was stopped before, what was not captured.",
            ),
            section(
                "Rows that could not be read",
                table(
                    result["unreadable_rows"],
                    {
                        "gateway": "gateway",
                        "link": "link",
                        "code": "code",
                        "message": "what",
                        "count": "events",
                        "samples": "samples",
                    },
                ),
            ),
            findings(result["findings"]),
        ],
    )
