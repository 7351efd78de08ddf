"""A message that no gateway of ours made becomes an event (RULES.md 5.5, point 2).

domain_name       configured ("JMS")         type_name    JMSType, else the kind of message        event_name    ""
variable_header   EventReliability, Priority, Timeout; then what is known of JMSMessageID, JMSCorrelationID, JMSReplyTo,
                  JMSTimestamp, JMSDestination, JMSRedelivered
filterable_data   every property under its own name
remainder         text → string    bytes → OctetSeq    map → PropertySeq    stream → sequence<any>    nothing → null
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Final

from mappings.errors import Expired
from mappings.idl_types import (
    ANY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    LONG,
    LONGLONG,
    NULL,
    OCTET,
    SHORT,
    STRING,
    WCHAR,
    WSTRING,
    IdlType,
    Sequence,
)
from mappings.known_types import OCTET_SEQ, PROPERTY_SEQ, TIME_T
from mappings.model import (
    NULL_ANY,
    PERSISTENT,
    Any_,
    Body,
    Headers,
    Message,
    MessageProperty,
    Property,
    StructuredEvent,
)
from mappings.translate.explanation import Entry, Trace
from mappings.translate.leaves import NUL_REPLACEMENT
from mappings.translate.options import Options
from mappings.translate.priorities import PRIORITY_MAPS
from mappings.translate.quality import PRIORITY, RELIABILITY, TICKS_PER_MS, TIMEOUT

_TYPES: Final[dict[str, IdlType]] = {
    "boolean": BOOLEAN,
    "byte": OCTET,
    "short": SHORT,
    "int": LONG,
    "long": LONGLONG,
    "float": FLOAT,
    "double": DOUBLE,
    "String": STRING,
    "char": WCHAR,
    "bytes": OCTET_SEQ,
}
ANY_SEQ: Final = Sequence(ANY)
OBJECT_CLASS: Final = "JMS_object"

_FIELDS: Final = (
    ("JMSMessageID", STRING),
    ("JMSCorrelationID", STRING),
    ("JMSReplyTo", STRING),
    ("JMSTimestamp", LONGLONG),
    ("JMSDestination", STRING),
    ("JMSRedelivered", BOOLEAN),
)
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,19}")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]{1,40}\.[0-9]{0,40}|\.[0-9]{1,40}|[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?")


def remaining_ms(headers: Headers, now_ms: int) -> int | None:
    """Milliseconds that a message has to live; None for ever. Raises Expired."""
    if headers.JMSExpiration:
        left = headers.JMSExpiration - now_ms
        if left <= 0:
            raise Expired("the message's JMSExpiration is past", path="headers.JMSExpiration")
        return left
    return headers.JMSTimeToLive or None


class Native:
    """Reads messages as RULES.md 5.5 says. `counts` as in `forward.Forward`."""

    def __init__(self, options: Options, counts: Counter[str]) -> None:
        self._options = options
        self._counts = counts
        self._text = WSTRING if options.text_as == "wstring" else STRING
        self._back = PRIORITY_MAPS[options.priority].back

    def event(self, message: Message, now_ms: int, trace: Trace) -> StructuredEvent:
        """Raises Expired."""
        header = self._header(message.headers, now_ms, trace)
        data = [
            self.field(property_.name, property_, f"filterable_data[{index}]", trace)
            for index, property_ in enumerate(p for p in message.properties if p.value is not None)
        ]
        if message.body.type == "ObjectMessage" and (class_name := _java_class(message.body.value)):
            data.append(Property(OBJECT_CLASS, STRING, class_name))
        event_name = self._event_name(message)
        if trace is not None:
            trace.append(Entry("headers.JMSType", "NATIVE-TYPE", "type_name", "string", True))
        return StructuredEvent(
            self._options.native_domain,
            self.text(message.headers.JMSType or message.body.type),
            self.text(event_name),
            tuple(header),
            tuple(data),
            self.remainder(message.body, trace),
        )

    def _header(self, headers: Headers, now_ms: int, trace: Trace) -> list[Property]:
        header = [
            Property(RELIABILITY, SHORT, 1 if headers.JMSDeliveryMode == PERSISTENT else 0),
            Property(PRIORITY, SHORT, self._back(headers.JMSPriority)),
        ]
        sources = ["JMSDeliveryMode", "JMSPriority"]
        left = remaining_ms(headers, now_ms)
        if left is not None:
            header.append(Property(TIMEOUT, TIME_T, left * TICKS_PER_MS))
            sources.append("JMSExpiration" if headers.JMSExpiration else "JMSTimeToLive")
        for name, type_ in _FIELDS:
            value = getattr(headers, name)
            if value is not None:
                header.append(Property(name, type_, self.text(value) if type_ is STRING else value))
                sources.append(name)
        if trace is not None:
            for index, (source, field) in enumerate(zip(sources, header, strict=True)):
                trace.append(
                    Entry(f"headers.{source}", "NATIVE-HEADER", f"variable_header[{index}]", field[1].kind, True)
                )
        return header

    def _event_name(self, message: Message) -> str:
        wanted = self._options.event_name_from
        if wanted == "JMSMessageID":
            return message.headers.JMSMessageID or ""
        found = next((p.value for p in message.properties if p.name == wanted), None)
        return "" if found is None else str(found)

    def field(self, name: str, property_: MessageProperty, path: str, trace: Trace) -> Property:
        """A field out of a property, with a type that only the property's own type tells."""
        any_ = self._any(property_.type, property_.value)
        if trace is not None:
            kept = any_.value == property_.value or property_.type == "byte"
            trace.append(Entry(f"properties.{property_.name}", "NATIVE-PROPERTY", path, any_.type.kind, kept))
        return Property(self.text(name), any_.type, any_.value)

    def _any(self, type_: str, value: Any) -> Any_:
        if value is None:
            return NULL_ANY
        if type_ == "byte":
            return Any_(OCTET, value & 0xFF) if self._options.byte_as == "octet" else Any_(SHORT, value)
        if type_ == "String":
            return self._text_or_number(value)
        return Any_(_TYPES[type_], value)

    def _text_or_number(self, text: str) -> Any_:
        if self._options.numeric_headers == "guess":
            if _INTEGER.fullmatch(text) and -(2**63) <= (number := int(text)) < 2**63:
                return Any_(LONG if -(2**31) <= number < 2**31 else LONGLONG, number)
            if _NUMBER.fullmatch(text):
                return Any_(DOUBLE, float(text))
        return Any_(self._text, self.text(text))

    def text(self, text: str) -> str:
        """CORBA strings cannot hold U+0000 (OC-TYPE-10)."""
        if "\0" in text:
            self._counts["OC-TYPE-10"] += 1
            return text.replace("\0", NUL_REPLACEMENT)
        return text

    def remainder(self, body: Body, trace: Trace) -> Any_:
        """A body by its own kind, with no metadata to go by."""
        any_ = self._remainder(body)
        if trace is not None:
            kept = body.type != "ObjectMessage" and not (body.type == "TextMessage" and any_.value != body.value)
            trace.append(Entry("body", "NATIVE-BODY", "remainder_of_body", any_.type.kind, kept))
        return any_

    def _remainder(self, body: Body) -> Any_:
        if body.value is None:
            return NULL_ANY
        match body.type:
            case "TextMessage":
                return Any_(self._text, self.text(body.value))
            case "BytesMessage" | "ObjectMessage":
                return Any_(OCTET_SEQ, body.value)
            case "MapMessage":
                pairs = [
                    {"name": self.text(name), "value": self._element(type_, value)} for name, type_, value in body.value
                ]
                return Any_(PROPERTY_SEQ, pairs)
            case "StreamMessage":
                return Any_(ANY_SEQ, [self._element(type_, value) for type_, value in body.value])
        return NULL_ANY

    def _element(self, type_: str, value: Any) -> Any_:
        if value is None:
            return Any_(NULL, None)
        return Any_(self._text, self.text(value)) if type_ == "String" else self._any(type_, value)


def _java_class(data: bytes) -> str | None:
    """The class of a serialized Java object, where the stream begins with one."""
    if data[:6] != b"\xac\xed\x00\x05sr" or len(data) < 8:
        return None
    length = int.from_bytes(data[6:8], "big")
    try:
        return data[8 : 8 + length].decode() or None
    except UnicodeDecodeError:
        return None
