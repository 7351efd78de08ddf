"""Whether what a link made of an event is what a test expects, and where it is not.

Values are compared as their type reads them: `18446744073709551615` and its text, `1` and `1.0` for a double, and a type by its
repository id or written out, are the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, Literal, NamedTuple

from gateway.settings.link_tests import Expectation
from mappings.errors import MappingError
from mappings.forms.messages import message_from_json, message_to_json
from mappings.forms.types import type_from_json, type_to_json
from mappings.forms.values import value_from_json, value_to_json
from mappings.idl_types import IdlType
from mappings.model import Message, StructuredEvent

ABSENT: Final = "nothing of that name"
LONGEST_SHOWN: Final = 300


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an event or message."""

    ending: Literal["passed", "filtered", "expired", "error"]
    made: Message | StructuredEvent | None = None
    error: MappingError | None = None

    def __str__(self) -> str:
        if self.error is not None:
            return f"error {self.error}"
        if self.ending == "passed":
            return f"{'a message' if isinstance(self.made, Message) else 'an event'}, which is sent"
        return self.ending


class Difference(NamedTuple):
    expected_at: tuple[str, ...]  # path inside `expect`
    expected: str
    got: str
    hint: str = ""

    @property
    def what(self) -> str:
        return ".".join(self.expected_at)

    def to_json(self) -> dict[str, str]:
        form = {"what": self.what, "expected": self.expected, "got": self.got}
        return form | {"hint": self.hint} if self.hint else form


def differences(expectation: Expectation, outcome: Outcome) -> list[Difference]:
    """None where everything is as expected."""
    return list(_endings(expectation, outcome) or _parts(expectation, outcome))


def _endings(expectation: Expectation, outcome: Outcome) -> list[Difference]:
    found = []
    for key in ("filtered", "expired"):
        wanted = getattr(expectation, key)
        if wanted is not None and wanted != (outcome.ending == key):
            found.append(Difference((key,), f"{'' if wanted else 'not '}{key}", str(outcome)))
    if expectation.error is not None and (outcome.error is None or outcome.error.code != expectation.error):
        found.append(Difference(("error",), expectation.error, str(outcome)))
    parts = expectation.model_fields_set - {"filtered", "expired", "error"}
    unforeseen = outcome.error is not None and expectation.error is None
    if not found and (unforeseen or (parts and outcome.made is None)):
        first = next(key for key in type(expectation).model_fields if key in expectation.model_fields_set)
        found.append(Difference((first,), "something that is sent", str(outcome)))
    return found


def _parts(expectation: Expectation, outcome: Outcome) -> Iterator[Difference]:
    if isinstance(outcome.made, Message):
        yield from _message(expectation, outcome.made)
    elif isinstance(outcome.made, StructuredEvent):
        yield from _event(expectation, outcome.made)


def _message(expectation: Expectation, message: Message) -> Iterator[Difference]:
    form = message_to_json(message)
    for name, wanted in (expectation.headers or {}).items():
        got = form["headers"].get(name)
        if got != wanted:
            yield Difference(("headers", name), _shown(wanted), _shown(got))
    found = {p["name"]: _Typed(p["type"], p["value"], _read_property(p["type"])) for p in form["properties"]}
    yield from _named("properties", expectation.properties, found)
    if expectation.body is not None:
        body = form["body"]
        got_body = _Typed(body["type"], body["value"], _read_body(body["type"]))
        yield from _typed(("body",), expectation.body, got_body)


def _event(expectation: Expectation, event: StructuredEvent) -> Iterator[Difference]:
    for key in ("domain_name", "type_name", "event_name"):
        wanted, got = getattr(expectation, key), getattr(event, key)
        if wanted is not None and wanted != got:
            yield Difference((key,), _shown(wanted), _shown(got))
    for section in ("variable_header", "filterable_data"):
        found: dict[str, _Typed] = {}
        for name, type_, value in getattr(event, section):
            found.setdefault(name, _idl(type_, value))
        yield from _named(section, getattr(expectation, section), found)
    if expectation.remainder_of_body is not None:
        remainder = event.remainder_of_body
        yield from _typed(("remainder_of_body",), expectation.remainder_of_body, _idl(remainder.type, remainder.value))


class _Typed(NamedTuple):
    """A typed value in its JSON form; `read` brings an expected value into the form that it would have if it were right."""

    type: Any
    value: Any
    read: Callable[[Any], Any]
    read_type: Callable[[Any], Any] = lambda form: form


def _named(section: str, wanted: Mapping[str, Any] | None, found: Mapping[str, _Typed]) -> Iterator[Difference]:
    for name, expected in (wanted or {}).items():
        path = (section, name)
        got = found.get(name)
        if got is None:
            if expected is not None:
                yield Difference(path, _shown(expected), ABSENT, _nearest(name, list(found)))
        elif expected is None:
            yield Difference(path, ABSENT, f"{_shown(got.value)}, {_shown(got.type)}")
        elif isinstance(expected, dict) and expected and expected.keys() <= {"type", "value"}:
            yield from _typed(path, expected, got)
        else:
            yield from _typed(path, {"value": expected}, got, shorthand=True)


def _typed(
    path: tuple[str, ...], expected: Mapping[str, Any], got: _Typed, *, shorthand: bool = False
) -> Iterator[Difference]:
    if "type" in expected and got.read_type(expected["type"]) != got.read_type(got.type):
        yield Difference((*path, "type"), _shown(expected["type"]), f"{_shown(got.type)} (value {_shown(got.value)})")
    elif "value" in expected and got.read(expected["value"]) != got.value:
        at = path if shorthand else (*path, "value")
        yield Difference(at, _shown(expected["value"]), f"{_shown(got.value)} (type {_shown(got.type)})")


def _idl(type_: IdlType, value: Any) -> _Typed:
    def read(form: Any) -> Any:
        try:
            return value_to_json(type_, value_from_json(type_, form))
        except MappingError:
            return _Unreadable

    def read_type(form: Any) -> Any:
        try:
            return type_from_json(form)
        except MappingError:
            return form

    return _Typed(type_to_json(type_), value_to_json(type_, value), read, read_type)


def _read_property(type_: str) -> Callable[[Any], Any]:
    def read(form: Any) -> Any:
        try:
            message = message_from_json({"properties": [{"name": "x", "type": type_, "value": form}]})
        except MappingError:
            return _Unreadable
        return message_to_json(message)["properties"][0]["value"]

    return read


def _read_body(type_: str) -> Callable[[Any], Any]:
    def read(form: Any) -> Any:
        try:
            message = message_from_json({"body": {"type": type_, "value": form}})
        except MappingError:
            return _Unreadable
        return message_to_json(message)["body"]["value"]

    return read


class _Unreadable:
    """No value of the type that was found: equal to none."""


def _shown(form: Any) -> str:
    text = json.dumps(form, ensure_ascii=False)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def _nearest(name: str, names: Sequence[str]) -> str:
    near = get_close_matches(name, names, n=3, cutoff=0.5) or names[:8]
    return f"there are: {', '.join(near)}" if near else "there are none"
