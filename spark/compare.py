"""The shadow run: translates captured events with two configurations, and tells what would change for consumers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from mappings.captures.errors import CaptureError
from mappings.errors import IsthmusError
from mappings.filters import compile_etcl, compile_selector
from mappings.model import Message, Payload, StructuredEvent
from spark.differences import Difference
from spark.tallies import Tally
from spark.translations import RESULT_SENT, Cells, LinkTranslation, Made, Translations
from spark.validate import add_finding, findings, payload_differences, sample

COLUMNS: Final = (
    "link", "event_id", "source_id", "made_at", "elapsed_ms", "domain_name", "type_name", "source_form", "source", "codec",
)  # fmt: skip

TRANSITIONS: Final = {
    ("sent", "failed"): "newly-failing",
    ("sent", "filtered"): "newly-filtered",
    ("sent", "expired"): "newly-expired",
    ("failed", "sent"): "newly-passing",
    ("filtered", "sent"): "newly-admitted",
    ("expired", "sent"): "newly-in-time",
}
COMPATIBLE: Final = frozenset({"added", "metadata", "newly-passing"})
"""Changes that no consumer can stumble over who takes only what he knows."""

Matches = Callable[[Payload], bool]


class Comparison:
    """Of the rows that one worker sees. What the tally holds:

    event       link, type, same or changed
    difference  link, type, rule, field, change                   with samples
    selector    name, link, `match → no match` or the reverse     with samples
    """

    def __init__(
        self,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
        selectors: Sequence[Mapping[str, str]] = (),
        keys: Iterable[bytes] = (),
        samples: int = 5,
    ) -> None:
        self.tally = Tally(samples)
        self._old, self._new = Translations(forms=old), Translations(forms=new)
        self._both = old.keys() & new.keys()
        self._cells = Cells(tuple(keys))
        self._selectors: dict[str, list[tuple[str, Matches]]] = {}
        for one in selectors:
            self._selectors.setdefault(one.get("link", ""), []).append((one["name"], matcher(one)))

    def tallied(self) -> Tally:
        return self.tally

    def report(self, finding: CaptureError) -> None:
        add_finding(self.tally, finding)

    def take(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for link, event_id, source_id, made_at, elapsed_ms, domain, type_name, form, source, codec in rows:
            if source is None or link not in self._both:
                self.tally.counts["event", link, "", "not-compared"] += 1
                continue
            kind = f"{domain}::{type_name}" if domain is not None else str(type_name)
            old, new = self._old.get(link), self._new.get(link)
            if isinstance(old, CaptureError) or isinstance(new, CaptureError):
                self.report(old if isinstance(old, CaptureError) else new)  # type: ignore[arg-type]
                self.tally.counts["event", link, kind, "not-compared"] += 1
                continue
            try:
                payload = self._cells.payload(source, codec, "source", event_id, form)
            except IsthmusError as error:
                self.tally.add(("unreadable", link, error.code, error.message), {"event": event_id})
                self.tally.counts["event", link, kind, "unreadable"] += 1
                continue
            before = old.make(payload, source_id, made_at // 1000, elapsed_ms)
            after = new.make(payload, source_id, made_at // 1000, elapsed_ms)
            found = self._differences(before, after, old, new, payload, made_at // 1000)
            for one in found:
                self.tally.add(("difference", link, kind, one.rule, one.field, one.change), sample(event_id, one))
            self.tally.counts["event", link, kind, "changed" if found else "same"] += 1
            if found:
                self._select(link, event_id, before, after)

    def _differences(
        self, before: Made, after: Made, old: LinkTranslation, new: LinkTranslation, payload: Payload, made_ms: int
    ) -> list[Difference]:
        if before.payload is not None and after.payload is not None:
            if self._cells.write(before.payload) == self._cells.write(after.payload):
                return []
            explained = old.explain(payload, made_ms), new.explain(payload, made_ms)
            return payload_differences(before.payload, after.payload, *explained)
        if (before.result, before.code) == (after.result, after.code):
            return []
        change = TRANSITIONS.get((before.result, after.result), "result")
        return [Difference("(result)", change, _told(before), _told(after))]

    def _select(self, link: str, event_id: str, before: Made, after: Made) -> None:
        for name, matches in (*self._selectors.get(link, ()), *self._selectors.get("", ())):
            was, now = (made.payload is not None and matches(made.payload) for made in (before, after))
            if was != now:
                change = "match → no match" if was else "no match → match"
                self.tally.add(("selector", name, link, change), {"event": event_id})


def matcher(one: Mapping[str, str]) -> Matches:
    """Raises FilterError."""
    if "etcl" in one:
        etcl = compile_etcl(one["etcl"])
        return lambda payload: isinstance(payload, StructuredEvent) and etcl.matches(payload)
    selector = compile_selector(one["selector"])
    return lambda payload: isinstance(payload, Message) and selector.matches(payload)


def _told(made: Made) -> str:
    return RESULT_SENT if made.payload is not None else f"{made.result} {made.code} {made.message}".strip()


def result(tally: Tally, old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """What the job tells, as plain data. `verdict`: no-change, compatible, breaking, or unknown where nothing could be compared."""
    by_type: dict[tuple[Any, ...], dict[str, Any]] = {}
    for (link, kind, verdict), count, _ in tally.items("event"):
        row = by_type.setdefault((link, kind), {"link": link, "type": kind, "events": 0, "changed": 0})
        row["events"] += count
        row[str(verdict)] = count
    events = sorted(by_type.values(), key=lambda row: (str(row["link"]), str(row["type"])))
    for row in events:
        row["changed_percent"] = round(100 * row["changed"] / row["events"], 3)
    found = [
        {
            "link": link, "type": kind, "rule": rule, "field": field, "change": change, "count": count,
            "percent": round(100 * count / by_type[link, kind]["events"], 3), "samples": samples,
        }
        for (link, kind, rule, field, change), count, samples in tally.items("difference")
    ]  # fmt: skip
    selectors = [
        {"name": name, "link": link, "change": change, "count": count, "samples": samples}
        for (name, link, change), count, samples in tally.items("selector")
    ]
    unreadable = tally.total("unreadable") + tally.total("finding")
    compared = sum(row.get("same", 0) + row["changed"] for row in events)
    removed = any(row["link"] in old and row["link"] not in new for row in events)
    return {
        "job": "compare",
        "verdict": _verdict({one["change"] for one in found}, bool(selectors), compared, removed),
        "complete": not unreadable,
        "events": sum(row["events"] for row in events),
        "compared": compared,
        "changed": sum(row["changed"] for row in events),
        "links_added": sorted(new.keys() - old.keys()),
        "links_removed": sorted(old.keys() - new.keys()),
        "by_type": events,
        "differences": found,
        "selectors": selectors,
        "unreadable_rows": [
            {"link": link, "code": code, "message": message, "count": count, "samples": samples}
            for (link, code, message), count, samples in tally.items("unreadable")
        ],
        "findings": findings(tally),
    }


def _verdict(changes: set[str], selectors_change: bool, compared: int, removed: bool) -> str:
    if removed:
        return "breaking"  # a link with traffic is gone
    if not compared:
        return "unknown"
    if not changes:
        return "no-change"
    return "compatible" if changes <= COMPATIBLE and not selectors_change else "breaking"
