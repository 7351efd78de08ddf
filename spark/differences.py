"""What differs between two messages, or two events, in their JSON forms; and by whose doing.

change       of a message                                              of an event
added        a property that was not there                            a field
removed      a property that is not there any more                    a field
renamed      a property under another name, from the same place       -
retyped      another JMS type                                          another IDL type
value        another value; headers too                                another value
body-kind    a TextMessage became a BytesMessage …                     the remainder is of another type
body         another body of the same kind                             another remainder
route        another destination                                       -
metadata     `$se` alone differs: it follows from the mapping          -
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mappings.translate import Entry
from mappings.translate.names import METADATA, PROFILES


class Difference(NamedTuple):
    field: str
    change: str
    was: Any = None
    now: Any = None
    rule: str = ""


_METADATA_NAMES: Final = tuple(profile.root(METADATA) for profile in PROFILES.values())
_NOTHING: Final = object()


def message_differences(
    was: Mapping[str, Any], now: Mapping[str, Any], before: Sequence[Entry] = (), after: Sequence[Entry] = ()
) -> list[Difference]:
    """`before` and `after`: the explanations of the two, for the rules and for what was renamed."""
    found = [
        *_headers(was["headers"], now["headers"]),
        *_properties(was, now, before, after),
        *_body(was["body"], now["body"]),
    ]
    metadata = [one for one in found if _is_metadata(one.field)]
    others = [one for one in found if not _is_metadata(one.field)]
    if not others and metadata:
        return [Difference("properties.$se", "metadata", metadata[0].was, metadata[0].now, "OC-META-1")]
    return [one if one.rule else one._replace(rule=_rule(one.field, before, after)) for one in others]


def event_differences(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[Difference]:
    found = [
        Difference(name, "value", was[name], now[name])
        for name in ("domain_name", "type_name", "event_name")
        if was[name] != now[name]
    ]
    for part in ("variable_header", "filterable_data"):
        old, new = _by_name(was[part]), _by_name(now[part])
        found += _entries(part, old, new)
    rest, other = was["remainder_of_body"], now["remainder_of_body"]
    if rest["type"] != other["type"]:
        found.append(Difference("remainder_of_body", "body-kind", rest, other))
    elif rest["value"] != other["value"]:
        found.append(Difference("remainder_of_body", "body", rest["value"], other["value"]))
    return found


def _headers(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Difference]:
    for name in dict.fromkeys((*was, *now)):
        old, new = was.get(name), now.get(name)
        if old != new:
            yield Difference(f"headers.{name}", "route" if name == "JMSDestination" else "value", old, new)


def _properties(
    was: Mapping[str, Any], now: Mapping[str, Any], before: Sequence[Entry], after: Sequence[Entry]
) -> list[Difference]:
    found = _entries("properties", _by_name(was["properties"]), _by_name(now["properties"]))
    removed = {one.field: one for one in found if one.change == "removed"}
    added = {one.field: one for one in found if one.change == "added"}
    if not removed or not added:
        return found
    origins_before, origins_after = _origins(before), _origins(after)
    direct = {f"properties.{entry.to}": entry.source for entry in after if entry.rule == "LINK-RENAME"}
    came_from = {origins_before[name]: name for name in removed if name in origins_before}
    renamed = []
    for name, one in added.items():
        old = came_from.get(origins_after.get(name, ""), direct.get(name))
        if old in removed and removed[old].was["type"] == one.now["type"]:
            renamed.append(
                Difference(f"{old} → {name.removeprefix('properties.')}", "renamed", removed[old].was, one.now)
            )
            rule = _rule(name, after, ())
            renamed[-1] = renamed[-1]._replace(rule=rule or _rule(old, before, ()))
            del removed[old]
            added = {other: its for other, its in added.items() if other != name}
    gone = {*removed, *added}
    return [one for one in found if one.change not in ("added", "removed") or one.field in gone] + renamed


def _origins(entries: Sequence[Entry]) -> dict[str, str]:
    """By property: the place in the event that it comes from, through all renaming."""
    origins: dict[str, str] = {}
    for entry in entries:
        source = origins.pop(entry.source, None) if entry.source.startswith("properties.") else entry.source
        if entry.to and source:
            origins[f"properties.{entry.to}"] = source
    return origins


def _entries(part: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Difference]:
    found = []
    for name in dict.fromkeys((*old, *new)):
        was, now = old.get(name, _NOTHING), new.get(name, _NOTHING)
        if was is _NOTHING:
            found.append(Difference(f"{part}.{name}", "added", None, now))
        elif now is _NOTHING:
            found.append(Difference(f"{part}.{name}", "removed", was, None))
        elif was["type"] != now["type"]:
            found.append(Difference(f"{part}.{name}", "retyped", was, now))
        elif was["value"] != now["value"]:
            found.append(Difference(f"{part}.{name}", "value", was["value"], now["value"]))
    return found


def _by_name(items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A name that comes again gets its number: the order of properties means nothing, that of equal names does."""
    named: dict[str, Any] = {}
    for item in items:
        name = item["name"]
        count = 1
        while name in named:
            count += 1
            name = f"{item['name']}#{count}"
        named[name] = {"type": item["type"], "value": item["value"]}
    return named


def _body(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Difference]:
    if was["type"] != now["type"]:
        yield Difference("body", "body-kind", was["type"], now["type"])
    elif was["value"] != now["value"]:
        yield Difference("body", "body", was["value"], now["value"])


def _is_metadata(field: str) -> bool:
    name = field.removeprefix("properties.")
    return any(name == known or name.startswith((known + "#", known + ".")) for known in _METADATA_NAMES)


def _rule(field: str, *explanations: Sequence[Entry]) -> str:
    """The last rule that wrote there, now or before."""
    name = field.removeprefix("properties.")
    for entries in reversed(explanations):
        for entry in reversed(entries):
            if entry.to == name or (entry.rule == "LINK-DROP" and entry.source == field):
                return entry.rule
    return ""
