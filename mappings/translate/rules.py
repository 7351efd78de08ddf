"""The rules of a link: small changes to the message that the mapping makes, in the order in which they stand.

Each shows in an explanation under an id of its own (LINK-RENAME …). What a rule of this kind hides from the way back is written
into `$se`: names that were changed (and are changed back), and properties that are no part of the event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from mappings.errors import MappingError
from mappings.model import Headers, Message, MessageProperty
from mappings.translate.explanation import Entry, Trace


@dataclass(frozen=True, slots=True)
class Rename:
    """LINK-RENAME: send a property under another name."""

    name: str
    to: str


@dataclass(frozen=True, slots=True)
class Drop:
    """LINK-DROP: leave a property out."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """LINK-CONSTANT: a property that is the same for every message; it takes the place of one of that name."""

    property: MessageProperty


@dataclass(frozen=True, slots=True)
class CopyHeader:
    """LINK-COPY-HEADER: send a header field as a property too; nothing where the field is not known."""

    header: str
    to: str


@dataclass(frozen=True, slots=True)
class Route:
    """LINK-ROUTE: another destination where the selector matches; the first match wins."""

    destination: str
    selector: str


@dataclass(frozen=True, slots=True)
class ChooseBody:
    """LINK-BODY: the kind of body, where the remainder can be put that way."""

    form: Literal["text", "bytes", "map", "stream"]


Rule: TypeAlias = Rename | Drop | Constant | CopyHeader | Route | ChooseBody

_HEADER_TYPES: Final = {
    "JMSPriority": "int",
    "JMSTimeToLive": "long",
    "JMSTimestamp": "long",
    "JMSExpiration": "long",
    "JMSRedelivered": "boolean",
}
_HEADERS: Final = frozenset(Headers.__slots__)


def chosen_body(rules: Sequence[Rule]) -> ChooseBody | None:
    """The last one counts."""
    return next((rule for rule in reversed(rules) if isinstance(rule, ChooseBody)), None)


def renames(rules: Sequence[Rule]) -> list[tuple[str, str]]:
    """Names that were changed, with what they were changed to."""
    return [(rule.name, rule.to) for rule in rules if isinstance(rule, Rename)]


def additions(rules: Sequence[Rule]) -> list[str]:
    """Names of properties that are no part of the event."""
    added = [rule.property.name for rule in rules if isinstance(rule, Constant)]
    return added + [rule.to for rule in rules if isinstance(rule, CopyHeader)]


Change: TypeAlias = Callable[[Message, Trace], Message]


def compile_rules(rules: Sequence[Rule]) -> Change | None:
    """One function that applies all of them; None where there is nothing to do. Raises FilterError for a selector."""
    routes = [rule for rule in rules if isinstance(rule, Route)]
    # Selectors see the message as it is sent, and whoever wants to see the destination, the one that it is sent to.
    last = [rule for rule in rules if isinstance(rule, CopyHeader) and rule.header == "JMSDestination"]
    changes = [change for rule in rules if rule not in last and (change := _compile(rule)) is not None]
    if routes:
        changes.append(_router(routes))
    changes += [_copier(rule.header, rule.to) for rule in last]
    if not changes:
        return None

    def apply(message: Message, trace: Trace) -> Message:
        for change in changes:
            message = change(message, trace)
        return message

    return apply


def _compile(rule: Rule) -> Change | None:
    match rule:
        case Rename(name, to):
            return _renamer(name, to)
        case Drop(name):
            return _dropper(name)
        case Constant(property_):
            return _adder(property_)
        case CopyHeader(header, to):
            return _copier(header, to)
        case _:
            return None


def _with(message: Message, properties: tuple[MessageProperty, ...]) -> Message:
    return Message(message.headers, properties, message.body)


def _renamer(name: str, to: str) -> Change:
    def rename(message: Message, trace: Trace) -> Message:
        renamed: list[MessageProperty] = []
        found: MessageProperty | None = None
        replaced = False
        for property_ in message.properties:
            if property_[0] == name:
                found = property_
                renamed.append(MessageProperty(to, property_[1], property_[2]))
            elif property_[0] == to:
                replaced = True
            else:
                renamed.append(property_)
        if found is None:
            return message
        if trace is not None:
            trace.append(Entry(f"properties.{name}", "LINK-RENAME", to, found.type, not replaced))
        return _with(message, tuple(renamed))

    return rename


def _dropper(name: str) -> Change:
    def drop(message: Message, trace: Trace) -> Message:
        kept = tuple(property_ for property_ in message.properties if property_[0] != name)
        if len(kept) == len(message.properties):
            return message
        if trace is not None:
            trace.append(Entry(f"properties.{name}", "LINK-DROP", "", "", False))
        return _with(message, kept)

    return drop


def _adder(added: MessageProperty) -> Change:
    def add(message: Message, trace: Trace) -> Message:
        if trace is not None:
            alone = all(property_[0] != added.name for property_ in message.properties)
            trace.append(Entry("", "LINK-CONSTANT", added.name, added.type, alone))
        return _with(message, _put(message.properties, added))

    return add


def _copier(header: str, to: str) -> Change:
    if header not in _HEADERS:
        raise MappingError("MAP-RULE", f"there is no header field {header!r} to copy", path=f"headers.{header}")
    type_ = _HEADER_TYPES.get(header, "String")

    def copy(message: Message, trace: Trace) -> Message:
        value: Any = getattr(message.headers, header)
        if value is None:
            return message
        if trace is not None:
            trace.append(Entry(f"headers.{header}", "LINK-COPY-HEADER", to, type_, True))
        return _with(message, _put(message.properties, MessageProperty(to, type_, value)))

    return copy


def _router(routes: Sequence[Route]) -> Change:
    from mappings.filters import compile_selector  # the grammar is read only where a rule needs it

    compiled = [(compile_selector(route.selector), route) for route in routes]

    def direct(message: Message, trace: Trace) -> Message:
        for selector, route in compiled:
            if selector.matches(message):
                if trace is not None:
                    trace.append(Entry(route.selector, "LINK-ROUTE", "headers.JMSDestination", "String", True))
                return replace(message, headers=replace(message.headers, JMSDestination=route.destination))
        return message

    return direct


def _put(properties: tuple[MessageProperty, ...], added: MessageProperty) -> tuple[MessageProperty, ...]:
    """With the property added, or in the place of the one that has its name."""
    for index, property_ in enumerate(properties):
        if property_[0] == added[0]:
            return (*properties[:index], added, *properties[index + 1 :])
    return (*properties, added)
