"""JMS selectors on subscriptions, by the project's own engine."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from adapters.embedded_broker.messages import StoredMessage
from adapters.stomp.codec import CodecError, Decoder
from adapters.stomp.flavours import FLAVOURS
from adapters.stomp.frames import Frame
from mappings.errors import FilterError
from mappings.model import Message, MessageProperty

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,18}")
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?|[+-]?[0-9]+[eE][+-]?[0-9]{1,3}")


class SelectorError(ValueError):
    """A selector that does not parse."""


def acceptor(text: str) -> Callable[[StoredMessage], bool]:
    """Whether a subscription with this selector takes a message.

    STOMP properties are text, and by the rules of JMS no text is ever greater than a number. As ActiveMQ does for its STOMP
    subscribers, a property that reads as a number or a boolean may count as one: the selector need match in one of the two views.
    """
    from mappings.filters import compile_selector  # the grammar is loaded where a selector is used

    try:
        selector = compile_selector(text)
    except FilterError as error:
        raise SelectorError(str(error)) from None
    decoder = Decoder(FLAVOURS["embedded"])

    def accepts(stored: StoredMessage) -> bool:
        try:
            message = decoder.decode(Frame(b"MESSAGE\nmessage-id:" + stored.id + stored.lines, b""))
        except CodecError:
            return False
        return bool(selector.matches(message)) or bool(selector.matches(_with_numbers(message)))

    return accepts


def _with_numbers(message: Message) -> Message:
    return Message(message.headers, tuple(_guessed(p) for p in message.properties), message.body)


def _guessed(field: MessageProperty) -> MessageProperty:
    name, type_, value = field
    if type_ == "String":
        if _INTEGER.fullmatch(value):
            return MessageProperty(name, "long", int(value))
        if _DECIMAL.fullmatch(value):
            return MessageProperty(name, "double", float(value))
        if value in ("true", "false"):
            return MessageProperty(name, "boolean", value == "true")
    return field
