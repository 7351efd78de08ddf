"""Short ways to say what the tests of the translation need: events, translations, and what comes of them."""

from __future__ import annotations

from typing import Any

from mappings.idl_types import NULL, IdlType
from mappings.model import Any_, Message, MessageProperty, Property, StructuredEvent
from mappings.translate import Options, Translator

NOW_MS = 1_795_000_000_000
UTC_OF_NOW = 122_192_928_000_000_000 + NOW_MS * 10_000  # UtcT counts 100 ns from 1582-10-15

Field = tuple[str, IdlType, Any]


def event(
    data: list[Field] | None = None, header: list[Field] | None = None, remainder: Any_ | None = None
) -> StructuredEvent:
    return StructuredEvent(
        "Telecom",
        "Alarm",
        "a1",
        tuple(Property(*field) for field in header or []),
        tuple(Property(*field) for field in data or []),
        remainder or Any_(NULL, None),
    )


def sent(the_event: StructuredEvent, **options: Any) -> Message:
    """The message, made by the walk and again by the plan; the event must come back from it by both ways back."""
    translator = Translator(Options(**options))
    message = translator.forward(the_event, now_ms=NOW_MS)
    assert translator.forward(the_event, now_ms=NOW_MS) == message, "the plan says something else than the walk"
    if translator.options.metadata:
        assert translator.reverse(message, now_ms=NOW_MS) == the_event
        assert translator.reverse(message, now_ms=NOW_MS) == the_event
        assert Translator(Options(**options)).explain(the_event, now_ms=NOW_MS).lossless
    return message


def fields(message: Message, *hidden: str) -> list[tuple[str, str, Any]]:
    """The properties after the three of the fixed header, without `$se` (and those named)."""
    left_out = {"$se", "_sse", *hidden}
    return [tuple(p) for p in message.properties[3:] if p.name not in left_out]  # type: ignore[misc]


def named(message: Message) -> dict[str, tuple[str, Any]]:
    """Type and value of every property, by name."""
    assert len({p.name for p in message.properties}) == len(message.properties)
    return {p.name: (p.type, p.value) for p in message.properties}


def changed(message: Message, **values: Any) -> Message:
    """With other values for some properties; those that are None are taken out, new ones added."""
    kept = [
        p._replace(value=values.pop(p.name)) if values.get(p.name) is not None else p
        for p in message.properties
        if values.get(p.name, ...) is not None
    ]
    added = [MessageProperty(name, _type(value), value) for name, value in values.items() if value is not None]
    return Message(message.headers, (*kept, *added), message.body)


def _type(value: Any) -> str:
    return {bool: "boolean", int: "int", float: "double", str: "String"}[type(value)]


def as_text(value: Any) -> str:
    """As a wire that knows only text sends it."""
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else repr(value)


def all_text(message: Message) -> Message:
    """As STOMP delivers it: every property a String."""
    properties = tuple(MessageProperty(name, "String", as_text(value)) for name, _, value in message.properties)
    return Message(message.headers, properties, message.body)


def rules(the_event: StructuredEvent, **options: Any) -> dict[str, str]:
    """Which rule made each part of the message, by what it made."""
    translator = Translator(Options(**options))
    entries = translator.explain(the_event, now_ms=NOW_MS).entries
    assert translator.explain(the_event, now_ms=NOW_MS).entries == entries, "the plan explains otherwise than the walk"
    return {entry.to or entry.source: entry.rule for entry in entries}
