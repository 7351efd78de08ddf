"""Messages as plain tuples, the form in which they cross to a worker and back. Imports no Java.

(headers in the order of HEADERS, ((name, type, value), …), body type, body value)
"""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import Any, Final, TypeAlias

from mappings.model import Body, Headers, Message, MessageProperty, StreamElement

Plain: TypeAlias = tuple[Any, ...]

HEADERS: Final = tuple(field.name for field in fields(Headers))
_header_values: Final = attrgetter(*HEADERS)
_make: Final = tuple.__new__  # half the time of calling the NamedTuple; there are dozens in every message


def to_plain(message: Message) -> Plain:
    body = message.body.value
    if isinstance(body, tuple):
        body = tuple([tuple(element) for element in body])
    properties = tuple([tuple(field) for field in message.properties])
    return _header_values(message.headers), properties, message.body.type, body


def from_plain(plain: Plain) -> Message:
    headers, properties, body_type, body = plain
    if body_type == "MapMessage":
        body = tuple([_make(MessageProperty, element) for element in body])
    elif body_type == "StreamMessage":
        body = tuple([_make(StreamElement, element) for element in body])
    return Message(
        Headers(*headers), tuple([_make(MessageProperty, field) for field in properties]), Body(body_type, body)
    )
