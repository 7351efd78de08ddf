"""The shadow run for people: what would change for consumers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from spark.reports.html import findings, section, table
from spark.reports.html import page as html_page
from spark.reports.svg import bars

VERDICTS: Final = {
    "no-change": ("good", "Nothing changes for consumers"),
    "compatible": ("doubt", "Compatible: consumers see more than before, and nothing else"),
    "breaking": ("bad", "Breaking: consumers see something else than before"),
    "unknown": ("bad", "Unknown: nothing could be compared"),
}


def page(result: Mapping[str, Any]) -> str:
    kind, told = VERDICTS[result["verdict"]]
    if not result["complete"]:
        kind, told = "bad", f"{told}; but not everything could be read"
    by_change: Counter[str] = Counter()
    by_rule: Counter[str] = Counter()
    for one in result["differences"]:
        by_change[one["change"]] += one["count"]
        by_rule[one["rule"] or "(no rule)"] += one["count"]
    links = [{"link": link, "what": "only in the new configuration"} for link in result["links_added"]]
    links += [{"link": link, "what": "only in the old configuration"} for link in result["links_removed"]]
    return html_page(
        "What a new mapping would change",
        f"{told}: {result['changed']:,} of {result['compared']:,} events change",
        kind,
        [
            section("By kind of change", bars(by_change.most_common(), "events")),
            section("By rule", bars(by_rule.most_common(30), "events")),
            section(
                "Consumers whose selection changes",
                table(
                    result["selectors"],
                    {"name": "consumer", "link": "link", "change": "change", "count": "events", "samples": "samples"},
                ),
            ),
            section(
                "Changes",
                table(
                    result["differences"],
                    {
                        "link": "link",
                        "type": "event type",
                        "rule": "rule",
                        "field": "field",
                        "change": "change",
                        "count": "events",
                        "percent": "%",
                        "samples": "samples",
                    },
                ),
            ),
            section(
                "Event types",
                table(
                    result["by_type"],
                    {
                        "link": "link",
                        "type": "event type",
                        "events": "events",
                        "changed": "changed",
                        "changed_percent": "%",
                    },
                ),
            ),
            section("Links", table(links, {"link": "link", "what": ""})),
            section(
                "Rows that could not be read",
                table(
                    result["unreadable_rows"],
                    {"link": "link", "code": "code", "message": "what", "count": "events", "samples": "samples"},
                ),
            ),
            findings(result["findings"]),
        ],
    )
