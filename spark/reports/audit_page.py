"""The audit for people: is every accepted event accounted for, and how fast was it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spark.reports.html import at, findings, section, table
from spark.reports.html import page as html_page
from spark.reports.svg import lines


def page(result: Mapping[str, Any]) -> str:
    problems = {name.replace("_", " "): count for name, count in result["problems"].items() if count}
    told = ", ".join(f"{count:,} {name}" for name, count in problems.items())
    if result["clean"]:
        kind, verdict = (
            "good",
            "Proved: every accepted event arrived, or is dead-lettered, filtered or expired; once, and in order",
        )
    elif result["proved"]:
        kind, verdict = (
            "doubt",
            f"Proved: every accepted event arrived, or is dead-lettered, filtered or expired. Also seen: {told}",
        )
    else:
        kind, verdict = "bad", f"Not proved: {told}"
    links = [{**row, "first": at(row["first_at"]), "last": at(row["last_at"])} for row in result["links"]]
    hours = sorted({row["hour"] for row in result["latency"]})
    labels = [(hour, at(hour)[5:16]) for hour in hours[:: max(1, len(hours) // 6)]]
    names = list(dict.fromkeys(row["link"] for row in result["latency"]))

    def series(key: str, divisor: float) -> dict[str, list[tuple[float, float]]]:
        return {
            name: [
                (row["hour"], row[key] / divisor)
                for row in result["latency"]
                if row["link"] == name and row[key] is not None
            ]
            for name in names
        }

    columns = {
        "gateway": "gateway",
        "link": "link",
        "taken": "taken",
        "delivered": "delivered",
        "filtered": "filtered",
        "expired": "expired",
        "duplicate": "duplicate",
        "looped": "looped",
        "dropped": "dropped",
        "dead_lettered": "dead-lettered",
        "left": "left",
        "uncaptured": "not captured",
        "redelivered": "redelivered",
        "runs": "runs",
        "first": "first",
        "last": "last",
    }
    latency = [{**row, "hour": at(row["hour"])[:16]} for row in result["latency"]]
    return html_page(
        "Audit of captured traffic",
        verdict,
        kind,
        [
            section("Links", table(links, columns)),
            _listed(
                "Missing",
                result["missing"],
                {
                    "where": "link",
                    "run": "run",
                    "first": "first number",
                    "last": "last",
                    "after_event": "after event",
                    "before_event": "before event",
                },
                "A link took these, and nothing is known of what became of them.",
            ),
            _listed(
                "Duplicates",
                result["duplicates"],
                {"where": "link", "event_id": "event", "times": "times", "redelivered": "the source said so"},
                "Delivered more than once by the same link.",
            ),
            _listed(
                "Out of order",
                result["order"],
                {"where": "link", "run": "run", "seq": "number", "event_id": "event", "violation": "which"},
                "Delivered (or received) before one that came earlier.",
            ),
            _listed(
                "Repeated rows",
                result["repeated_rows"],
                {"where": "link", "run": "run", "seq": "number", "rows": "rows", "event_id": "event"},
                "The capture holds these more than once: it was copied or changed.",
            ),
            _listed(
                "Waiting at the source",
                result["waiting"],
                {"where": "link", "event_id": "event"},
                "Given back when a link ended, and not seen since.",
            ),
            _listed(
                "Damaged payloads",
                result["damaged_payloads"],
                {"where": "link", "run": "run", "seq": "number", "event_id": "event", "finding": "what is wrong"},
                "What became of these is known; what they were is not what the gateway wrote.",
            ),
            *(
                _listed(
                    f"Lost between {hop['from']} and {hop['to']}",
                    hop["lost"],
                    {"event_id": "event"},
                    f"{hop['sent']:,} were sent, {hop['taken']:,} were taken, {hop['on_the_way']:,} are on the way.",
                )
                for hop in result["between_gateways"]
            ),
            *(
                _listed(
                    f"Delivered by {one['link']} and not held by the broker",
                    one["missing"],
                    {"event_id": "event"},
                    f"{one['delivered']:,} were delivered, {one['held']:,} are held.",
                )
                for one in result["at_brokers"]
            ),
            section(
                "Latency over time",
                lines(series("p99", 1000), "99 of 100 events within … ms", labels),
                lines(series("p50", 1000), "half of the events within … ms", labels),
            ),
            section("Volume over time", lines(series("events", 1), "events in an hour", labels)),
            section(
                "Latency by link and hour",
                table(
                    latency,
                    {
                        "link": "link",
                        "hour": "hour",
                        "events": "events",
                        "delivered": "delivered",
                        "expired": "expired",
                        "p50": "p50 µs",
                        "p90": "p90 µs",
                        "p99": "p99 µs",
                        "longest": "longest µs",
                    },
                ),
            ),
            findings(result["findings"]),
        ],
    )


def _listed(title: str, found: Mapping[str, Any], columns: Mapping[str, str], note: str) -> str:
    if not found["count"]:
        return ""
    more = f" {found['count']:,} in all; the first of them:" if found["count"] > len(found["listed"]) else ""
    return section(f"{title}: {found['count']:,}", table(found["listed"], columns), note=note + more)
