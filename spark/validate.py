"""Translates captured events again with the mapping that was in force, and compares with what was sent.

Where the spelling is the same, octet for octet, nothing more is looked at; only where it differs the two are taken apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from mappings.captures.errors import CaptureError
from mappings.errors import IsthmusError
from mappings.forms.events import event_to_json
from mappings.forms.messages import message_to_json
from mappings.model import Payload, StructuredEvent
from spark.differences import Difference, event_differences, message_differences
from spark.tallies import Tally
from spark.translations import RESULT_SENT, Cells, LinkTranslation, Made, Translations

COLUMNS: Final = (
    "gateway", "link", "event_id", "source_id", "made_at", "elapsed_ms", "status", "error_code", "mapping_version",
    "source_form", "source", "sent_form", "sent", "codec",
)  # fmt: skip

_EXPECTED: Final = {"filtered": "filtered", "expired": "expired", "looped": "looped"}
_LONGEST_SAMPLE: Final = 400


class Validation:
    """Of the rows that one worker sees. What the tally holds:

    event       gateway, link, status, verdict                      every row; verdicts: agrees, differs, not-checked, unreadable
    difference  gateway, link, rule, field, change                  of those that differ, with samples
    """

    def __init__(self, mappings: Mapping[str, str], keys: Iterable[bytes] = (), samples: int = 5) -> None:
        self.tally = Tally(samples)
        self._translations = Translations(texts=mappings)
        self._cells = Cells(tuple(keys))

    def take(self, rows: Iterable[tuple[Any, ...]]) -> None:
        count = self.tally.counts
        for row in rows:
            gateway, link, status = row[0], row[1], row[6]
            verdict = self._verdict(row)
            count["event", gateway, link, status, verdict] += 1

    def tallied(self) -> Tally:
        return self.tally

    def report(self, finding: CaptureError) -> None:
        add_finding(self.tally, finding)

    def _verdict(self, row: tuple[Any, ...]) -> str:
        (
            gateway, link, event_id, source_id, made_at, elapsed_ms, status, error_code, version,
            source_form, source, sent_form, sent, codec,
        ) = row  # fmt: skip
        expected = _EXPECTED.get(status)
        if source is None or (sent is None and expected is None and not _is_ours(error_code)):
            return "not-checked"
        translation = self._translations.get(version)
        if isinstance(translation, CaptureError):
            self.report(translation)
            return "unreadable"
        cells = self._cells
        try:
            payload = cells.payload(source, codec, "source", event_id, source_form)
            made = translation.make(payload, source_id, made_at // 1000, elapsed_ms)
            if sent is None:
                if made.result == expected or (expected is None and made.code == error_code):
                    return "agrees"
                self._result(row, made, expected or f"failed {error_code}")
                return "differs"
            if made.result != RESULT_SENT or made.payload is None:
                self._result(row, made, RESULT_SENT)
                return "differs"
            plain = cells.plain(sent, codec, "sent", event_id)
            if cells.write(made.payload) == plain:
                return "agrees"
            was = cells.payload(sent, codec, "sent", event_id, sent_form)
        except IsthmusError as error:
            self.tally.add(("unreadable", gateway, link, error.code, error.message), {"event": event_id})
            return "unreadable"
        found = differences(was, made.payload, translation, payload, made_at // 1000)
        for one in found:
            self.tally.add(("difference", gateway, link, one.rule, one.field, one.change), sample(event_id, one))
        return "differs" if found else "agrees"

    def _result(self, row: tuple[Any, ...], made: Made, expected: str) -> None:
        now = f"{made.result} {made.code}".strip()
        one = Difference("(result)", "value", expected, now + (f": {made.message}" if made.message else ""))
        self.tally.add(("difference", row[0], row[1], "", one.field, one.change), sample(row[2], one))


def _is_ours(error_code: str | None) -> bool:
    """Whether a dead letter came from the mapping, so that the mapping can be asked again."""
    return error_code is not None and error_code.startswith(("MAP-", "LNK-TRANSLATION"))


def differences(
    was: Payload, now: Payload, translation: LinkTranslation, source: Payload, made_ms: int
) -> list[Difference]:
    explained = translation.explain(source, made_ms)
    return payload_differences(was, now, explained, explained)


def payload_differences(was: Payload, now: Payload, before: Any = (), after: Any = ()) -> list[Difference]:
    if isinstance(was, StructuredEvent) != isinstance(now, StructuredEvent):
        return [Difference("(form)", "value", type(was).__name__, type(now).__name__)]
    if isinstance(was, StructuredEvent) and isinstance(now, StructuredEvent):
        return event_differences(_plain(event_to_json(was)), _plain(event_to_json(now)))
    assert not isinstance(was, StructuredEvent)
    assert not isinstance(now, StructuredEvent)
    return message_differences(_plain(message_to_json(was)), _plain(message_to_json(now)), before, after)


def _plain(form: dict[str, Any]) -> Any:
    """Forms as JSON sees them: tuples are lists, and so on."""
    return json.loads(json.dumps(form))


def sample(event_id: str, one: Difference) -> dict[str, Any]:
    return {"event": event_id, "was": _cut(one.was), "now": _cut(one.now)}


def _cut(value: Any) -> Any:
    text = json.dumps(value, ensure_ascii=False)
    return value if len(text) <= _LONGEST_SAMPLE else text[:_LONGEST_SAMPLE] + "…"


def add_finding(tally: Tally, finding: CaptureError) -> None:
    tally.add(("finding", finding.code, finding.path, finding.message, finding.hint))


def result(tally: Tally) -> dict[str, Any]:
    """What the job tells, as plain data."""
    events = [
        {"gateway": gateway, "link": link, "status": status, "verdict": verdict, "count": count}
        for (gateway, link, status, verdict), count, _ in tally.items("event")
    ]
    found = [
        {
            "gateway": gateway,
            "link": link,
            "rule": rule,
            "field": field,
            "change": change,
            "count": count,
            "samples": samples,
        }
        for (gateway, link, rule, field, change), count, samples in tally.items("difference")
    ]
    unreadable = [
        {"gateway": gateway, "link": link, "code": code, "message": message, "count": count, "samples": samples}
        for (gateway, link, code, message), count, samples in tally.items("unreadable")
    ]
    verdicts = dict.fromkeys(VERDICTS, 0)
    for (_, _, _, verdict), count, _ in tally.items("event"):
        verdicts[str(verdict)] += count
    return {
        "job": "validate",
        "agrees": not (verdicts["differs"] or verdicts["unreadable"] or tally.total("finding")),
        "events": sum(verdicts.values()),
        "verdicts": verdicts,
        "by_link": events,
        "differences": found,
        "unreadable_rows": unreadable,
        "findings": findings(tally),
    }


VERDICTS: Final = ("agrees", "differs", "not-checked", "unreadable")


def findings(tally: Tally) -> list[dict[str, Any]]:
    """On files and mappings, with how often each was met."""
    return [
        {"code": code, "path": path, "message": message, "hint": hint, "count": count}
        for (code, path, message, hint), count, _ in tally.items("finding")
    ]
