"""What flows: event types, their fields with IDL types and ranges, rates, drift between two periods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson

from mappings.captures.errors import CaptureError
from mappings.captures.payloads import UNWRITABLE
from mappings.errors import IsthmusError
from spark.tallies import Tally
from spark.translations import Cells
from spark.validate import add_finding, findings

COLUMNS: Final = ("link", "event_id", "received_at", "domain_name", "type_name", "source_form", "source", "codec")

SECOND: Final = 1_000_000
HOUR: Final = 3600 * SECOND
MOST_FIELDS: Final = 2000  # of one event type; what is beyond is counted together
OTHERS: Final = "(others)"
MOST_VALUES: Final = 12
LONGEST_VALUE: Final = 60
ALL: Final = 1_000_000
"""Samples of a tally: what was seen in a field is put together from every part."""

Period = int | None
"""0: before the split, 1: after it; None where the job has no split."""


class Field:
    """What was seen in one field."""

    __slots__ = ("count", "least", "longest", "most", "values")

    def __init__(self) -> None:
        self.count = 0
        self.least: float | None = None
        self.most: float | None = None
        self.longest: int | None = None
        self.values: dict[str, int] | None = {}  # None: too many different ones

    def see(self, value: Any) -> None:
        self.count += 1
        if isinstance(value, bool) or value is None:
            self._keep(str(value).lower())
        elif isinstance(value, int | float):
            self.least = value if self.least is None or value < self.least else self.least
            self.most = value if self.most is None or value > self.most else self.most
            self._keep(str(value))
        elif isinstance(value, str):
            self.longest = max(self.longest or 0, len(value))
            self._keep(value if len(value) <= LONGEST_VALUE else None)
        elif isinstance(value, list):
            self.longest = max(self.longest or 0, len(value))
            self.values = None
        else:
            self.values = None

    def _keep(self, value: str | None) -> None:
        if self.values is None:
            return
        if value is None or (value not in self.values and len(self.values) >= MOST_VALUES):
            self.values = None
        else:
            self.values[value] = self.values.get(value, 0) + 1

    def merge(self, other: Field) -> None:
        self.count += other.count
        self.least = min((n for n in (self.least, other.least) if n is not None), default=None)
        self.most = max((n for n in (self.most, other.most) if n is not None), default=None)
        self.longest = max((n for n in (self.longest, other.longest) if n is not None), default=None)
        if self.values is not None and other.values is not None:
            for value, count in other.values.items():
                self.values[value] = self.values.get(value, 0) + count
        else:
            self.values = None
        if self.values is not None and len(self.values) > MOST_VALUES:
            self.values = None

    def to_json(self) -> list[Any]:
        return [self.count, self.least, self.most, self.longest, self.values]

    @classmethod
    def from_json(cls, form: list[Any]) -> Field:
        field = cls()
        field.count, field.least, field.most, field.longest, field.values = form
        return field


class Catalogue:
    """Of the rows that one worker sees. What the tally holds:

    type      link, type, form, period
    sample    link, type                      an event
    second    link, type, second              for rates (and hours)
    field     link, type, period, place, IDL type      samples: what was seen, to be merged
    """

    def __init__(self, split: int | None, keys: Iterable[bytes] = ()) -> None:
        self._tally = Tally(ALL)
        self._split = split
        self._cells = Cells(tuple(keys))
        self._fields: dict[tuple[Any, ...], Field] = {}
        self._seconds: dict[tuple[Any, ...], int] = {}
        self._per_type: dict[tuple[Any, ...], int] = {}
        self._sampled: set[tuple[Any, ...]] = set()

    def report(self, finding: CaptureError) -> None:
        add_finding(self._tally, finding)

    def take(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for link, event_id, received_at, domain, type_name, form, source, codec in rows:
            if source is None:
                continue
            try:
                parsed = orjson.loads(self._cells.plain(source, codec, "source", event_id))
            except (IsthmusError, ValueError) as wrong:
                self._tally.add(("unreadable", link, str(wrong)[:200]), {"event": event_id})
                continue
            if UNWRITABLE in parsed:
                self._tally.add(("unreadable", link, "captured as text only"), {"event": event_id})
                continue
            kind = f"{domain}::{type_name}" if domain is not None else str(type_name)
            period: Period = None if self._split is None else int(received_at >= self._split)
            self._tally.add(("type", link, kind, form, period))
            if (link, kind) not in self._sampled:
                self._sampled.add((link, kind))
                self._tally.add(("sample", link, kind), parsed)
            key = (link, kind, received_at // SECOND)
            self._seconds[key] = self._seconds.get(key, 0) + 1
            for place, type_, value in places(form, parsed):
                self._see((link, kind, period), place, type_, value)

    def _see(self, of: tuple[Any, ...], place: str, type_: str, value: Any) -> None:
        key = (*of, place, type_)
        field = self._fields.get(key)
        if field is None:
            if self._per_type.get(of, 0) >= MOST_FIELDS:
                self._fields.setdefault((*of, OTHERS, ""), Field()).count += 1
                return
            self._per_type[of] = self._per_type.get(of, 0) + 1
            field = self._fields[key] = Field()
        field.see(value)

    def tallied(self) -> Tally:
        """Everything that was seen, in the form in which it travels."""
        for (link, kind, second), count in self._seconds.items():
            self._tally.counts["second", link, kind, second] += count
        for key, field in self._fields.items():
            self._tally.add(("field", *key), field.to_json(), field.count)
        self._seconds, self._fields = {}, {}
        return self._tally


def places(form: str, parsed: Mapping[str, Any]) -> Iterable[tuple[str, str, Any]]:
    """Place, type and value of everything that has a name; members of structs by themselves."""
    if form == "message":
        for one in parsed["properties"]:
            yield one["name"], one["type"], one["value"]
        yield "(body)", parsed["body"]["type"], None
        return
    for one in parsed["variable_header"]:
        yield from _inside(f"$.header.variable_header({one['name']})", one["type"], one["value"], 0)
    for one in parsed["filterable_data"]:
        yield from _inside(f"${one['name']}", one["type"], one["value"], 0)
    rest = parsed["remainder_of_body"]
    yield from _inside("(remainder)", rest["type"], rest["value"], 0)


def _inside(place: str, type_: Any, value: Any, depth: int) -> Iterable[tuple[str, str, Any]]:
    if isinstance(type_, dict):
        kind = type_["kind"]
        if kind == "alias":
            yield from _inside(place, type_["type"], value, depth)
            return
        if kind in ("struct", "exception") and isinstance(value, dict) and depth < 4:
            for member in type_["members"]:
                yield from _inside(f"{place}.{member['name']}", member["type"], value.get(member["name"]), depth + 1)
            return
    yield place, type_text(type_), value


def type_text(type_: Any) -> str:
    """An IDL type as IDL would write it, shortly."""
    if isinstance(type_, str):
        return type_
    kind = type_["kind"]
    if kind in ("string", "wstring"):
        return f"{kind}<{type_['bound']}>" if type_.get("bound") else kind
    if kind == "sequence":
        return f"sequence<{type_text(type_['element'])}>"
    if kind == "array":
        return f"{type_text(type_['element'])}[{type_['length']}]"
    if kind == "fixed":
        return f"fixed<{type_['digits']},{type_['scale']}>"
    return f"{kind} {type_.get('name', type_.get('id', ''))}"


def result(tally: Tally) -> dict[str, Any]:
    """What the job tells, as plain data."""
    seconds: dict[tuple[Any, ...], dict[int, int]] = {}
    for (link, kind, second), count, _ in tally.items("second"):
        seconds.setdefault((link, kind), {})[int(second or 0)] = count
    fields: dict[tuple[Any, ...], dict[Any, dict[tuple[str, str], Field]]] = {}
    for (link, kind, period, place, type_), _, seen in tally.items("field"):
        merged = Field()
        for one in seen:
            merged.merge(Field.from_json(one))
        fields.setdefault((link, kind), {}).setdefault(period, {})[str(place), str(type_)] = merged
    counts: dict[tuple[Any, ...], int] = {}
    forms: dict[tuple[Any, ...], Any] = {}
    for (link, kind, form, _), count, _ in tally.items("type"):
        counts[link, kind] = counts.get((link, kind), 0) + count
        forms[link, kind] = form
    samples = {(link, kind): seen for (link, kind), _, seen in tally.items("sample")}
    types = []
    for (link, kind), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        times = seconds.get((link, kind), {})
        span = max(times) - min(times) + 1 if times else 1
        types.append(
            {
                "link": link,
                "type": kind,
                "form": forms[link, kind],
                "events": count,
                "first_at": min(times) * SECOND if times else None,
                "last_at": max(times) * SECOND if times else None,
                "per_second": round(count / span, 3),
                "busiest_second": max(times.values(), default=0),
                "sample": next(iter(samples.get((link, kind), ())), None),
                "fields": _fields(fields.get((link, kind), {})),
            }
        )
    return {
        "job": "catalogue",
        "events": sum(counts.values()),
        "types": types,
        "volume": _volume(seconds),
        "drift": [row for of, periods in sorted(fields.items()) for row in _drift(of, periods)],
        "unreadable_rows": [
            {"link": link, "message": message, "count": count, "samples": samples[:5]}
            for (link, message), count, samples in tally.items("unreadable")
        ],
        "findings": findings(tally),
    }


def _fields(periods: Mapping[Any, Mapping[tuple[str, str], Field]]) -> list[dict[str, Any]]:
    merged: dict[tuple[str, str], Field] = {}
    for seen in periods.values():
        for key, field in seen.items():
            merged.setdefault(key, Field()).merge(field)
    return [
        {
            "field": place,
            "type": type_,
            "events": field.count,
            "least": field.least,
            "most": field.most,
            "longest": field.longest,
            "values": sorted(field.values) if field.values else [],
        }
        for (place, type_), field in sorted(merged.items())
    ]


def _volume(seconds: Mapping[tuple[Any, ...], Mapping[int, int]]) -> list[dict[str, Any]]:
    hours: dict[tuple[str, int], int] = {}
    for (_, kind), times in seconds.items():
        for second, count in times.items():
            hour = second * SECOND // HOUR * HOUR
            hours[kind, hour] = hours.get((kind, hour), 0) + count
    return [{"type": kind, "hour": hour, "events": count} for (kind, hour), count in sorted(hours.items())]


def _drift(of: tuple[Any, ...], periods: Mapping[Any, Mapping[tuple[str, str], Field]]) -> Iterable[dict[str, Any]]:
    """What differs between the two periods: event types, fields, their types, ranges and values."""
    if None in periods:
        return
    link, kind = of
    before, after = periods.get(0, {}), periods.get(1, {})

    def row(field: str, what: str, was: Any, now: Any) -> dict[str, Any]:
        return {"link": link, "type": kind, "field": field, "what": what, "before": was, "after": now}

    if not before or not after:
        yield row("", "event type", "" if not before else "there", "" if not after else "there")
        return
    types_before = _types_by_place(before)
    types_after = _types_by_place(after)
    for place in sorted({*types_before, *types_after}):
        was, now = types_before.get(place, []), types_after.get(place, [])
        if was != now:
            yield row(place, "IDL type" if was and now else "field", ", ".join(was), ", ".join(now))
    for key in sorted(before.keys() & after.keys()):
        old, new = before[key], after[key]
        if old.least is not None and new.least is not None and old.most is not None and new.most is not None:
            if new.least < old.least or new.most > old.most:
                yield row(key[0], "range", f"{old.least} to {old.most}", f"{new.least} to {new.most}")
        elif old.values and new.values and set(new.values) - set(old.values):
            yield row(
                key[0],
                "new values",
                ", ".join(sorted(old.values)),
                ", ".join(sorted(set(new.values) - set(old.values))),
            )


def _types_by_place(seen: Mapping[tuple[str, str], Field]) -> dict[str, list[str]]:
    types: dict[str, list[str]] = {}
    for place, type_ in sorted(seen):
        types.setdefault(place, []).append(type_)
    return types
