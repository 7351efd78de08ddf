"""A Message as a SEND frame, and a MESSAGE frame as a Message.

JMS header fields have STOMP headers of their own; every property is one more header, as text: STOMP loses its type, and on
the way back every property is a String (the `$se` property of a translated event keeps the types, OC-META-1).

What STOMP headers cannot carry as it is (OC-NAME-8):

    a name that is a STOMP header, or JMS…, or
    that the broker takes for an order            `$stomp$` before it
    a value with NUL                              base64; `$stomp$base64` lists the names, as a JSON array
    a value beyond U+FFFF, on ActiveMQ            the same: its JMS clients would get two question marks
    a value longer than the broker's limit        cut into NAME, NAME$2, NAME$3 …; `$stomp$long` gives the counts, as a JSON object
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from operator import itemgetter
from typing import Any, Final, TypeVar

from adapters.stomp.bodies import BODY, MARKS, BodyError, beyond_u_ffff, decode_body, encode_body
from adapters.stomp.flavours import Flavour, MapBodies
from adapters.stomp.frames import Frame, escape, unescape
from adapters.stomp.layouts import Layout, Layouts, expression_of, wire_names
from adapters.stomp.map_xml import java_number
from mappings.errors import MappingError
from mappings.makers import maker
from mappings.model import NON_PERSISTENT, PERSISTENT, Headers, Message, MessageProperty

PREFIX: Final = "$stomp$"
BASE64: Final = PREFIX + "base64"
LONG: Final = PREFIX + "long"

_JMS: Final = frozenset((
    "JMSType", "JMSDeliveryMode", "JMSPriority", "JMSMessageID", "JMSTimestamp", "JMSExpiration", "JMSDestination",
    "JMSCorrelationID", "JMSReplyTo", "JMSRedelivered",
))  # fmt: skip
_OURS: Final = frozenset((BASE64, LONG))
_STOMP: Final = frozenset((
    "destination", "subscription", "message-id", "ack", "id", "receipt", "receipt-id", "transaction", "content-length",
    "content-type", "host", "heart-beat", "selector", "persistent", "priority", "timestamp", "expires", "expiration",
    "correlation-id", "reply-to", "type", "redelivered", "amq-msg-type", "transformation", "destination-type",
    "subscription-type", "browser", "login", "passcode", "session", "server", "version", "accept-version",
))  # fmt: skip
_RESERVED: Final = _STOMP | _JMS | _OURS
DELIVERY_COUNT: Final = "JMSXDeliveryCount"
_INTEGERS: Final = frozenset({"JMSXGroupSeq", DELIVERY_COUNT})  # JMS itself says that these are int
_BROKERS_OWN: Final = ("_AMQ_", "__AMQ_")  # Artemis shows its internal properties to STOMP subscribers

_WHOLE: Final = frozenset({"byte", "short", "int", "long"})
_name_of: Final = itemgetter(0)
_make: Final = tuple.__new__  # half the time of calling the NamedTuple; there are dozens in every message
_make_headers: Final = maker(Headers)
_make_message: Final = maker(Message)
_NO_HEADERS: Final[dict[str, str]] = {}
K = TypeVar("K")
T = TypeVar("T")

MAX_REMEMBERED_NAMES: Final = 10_000
MANY_LINES: Final = 100
MOST_LINES: Final = 1_000  # of properties that are remembered as they go out
LONGEST_LINE: Final = 4_096
MAX_ID_BYTES: Final = 250


class CodecError(ValueError):
    """This message, or this frame, can never pass."""


class Encoder:
    """Makes SEND frames for one broker."""

    def __init__(self, flavour: Flavour, map_bodies: MapBodies, queue_type: str | None = None) -> None:
        self._flavour = flavour
        self._queue_type = queue_type
        self._map_bodies = map_bodies
        self._names: dict[str, str] = {}  # property name -> `escaped name:`
        self._destinations: dict[str, str] = {}  # destination -> its header lines
        self._lines: dict[
            MessageProperty, str
        ] = {}  # most properties are the same for all events of a shape: `$se`, names

    def encode(self, message: Message, destination: str, id_: str, now_ms: int, extra: str = "") -> bytes:
        """`extra` is header lines, each with its line end: transaction, receipt. Raises CodecError."""
        flavour = self._flavour
        try:
            body = encode_body(message.body, flavour, self._map_bodies)
        except (BodyError, MappingError, UnicodeEncodeError, TypeError) as error:
            raise CodecError(f"the body cannot be sent: {error}") from None
        lines = ["SEND\n", self._destinations.get(destination) or self._destination(destination), extra]
        if flavour.duplicate_header is not None:
            lines.append(f"{flavour.duplicate_header}:{escape(id_)}\n")
        if flavour.id_header is not None and (
            4 * len(id_) <= MAX_ID_BYTES or len(id_.encode("utf-8", "surrogatepass")) <= MAX_ID_BYTES
        ):
            lines.append(f"{flavour.id_header}:ID:{escape(id_)}\n")
        lines += [f"{name}:{value}\n" for name, value in body.headers]
        self._headers(message.headers, now_ms, lines)
        properties = message.properties
        if len(set(map(_name_of, properties))) < len(properties):
            raise CodecError("a property comes twice")
        coded: list[str] = []
        names, known = self._names, self._lines
        for field in properties:
            name, type_, value = field
            if type_ == "String":
                line = known.get(field)
                if line is not None:
                    lines.append(line)
                    continue
            if value is None:
                continue  # JMS: null and absent are the same
            start = names.get(name) or self._start(name)
            if type_ in _WHOLE:
                lines.append(f"{start}{value}\n")  # no number needs to be escaped
            elif type_ != "String":
                lines.append(f"{start}{_text(type_, value)}\n")
            elif name == BODY and (body.marked or value in MARKS):
                lines.append(f"{PREFIX}{BODY}:{escape(value)}\n")
            elif "\0" in value or (flavour.java_text and beyond_u_ffff(value)):
                lines.append(f"{start}{base64.b64encode(value.encode()).decode()}\n")
                coded.append(unescape(start[:-1]))
            else:
                line = f"{start}{escape(value)}\n"
                lines.append(line)
                if name != BODY and value != id_ and len(line) <= LONGEST_LINE:
                    _remember(known, field, line, MOST_LINES)
        if coded:
            lines.append(f"{BASE64}:{escape(json.dumps(coded))}\n")
        most = flavour.max_header_bytes
        lines.append("\n")
        head = "".join(lines)
        # At the most four bytes a character: few messages need to be looked at line by line.
        if most is not None and (len(lines) > MANY_LINES or 4 * len(head) > most):
            head = "".join([*self._within_limits(lines[:-1], most), "\n"])
        if "\0" in head:
            raise CodecError("a property name or header field contains NUL")
        try:
            return b"".join((head.encode(), body.data, b"\0"))
        except UnicodeEncodeError as error:
            raise CodecError(f"text that is not Unicode: {error}") from None

    def _destination(self, destination: str) -> str:
        lines = self._destinations.get(destination)
        if lines is None:
            headers = [("destination", self._flavour.to_wire(destination))]
            headers += self._flavour.kind_headers(destination, subscribing=False, queue_type=self._queue_type)
            lines = "".join(f"{name}:{escape(value)}\n" for name, value in headers)
            _remember(self._destinations, destination, lines)
        return lines

    def _headers(self, headers: Headers, now_ms: int, lines: list[str]) -> None:
        if headers.JMSDeliveryMode == PERSISTENT:  # absent is non-persistent; RabbitMQ must not be told `false`
            lines.append("persistent:true\n")
        if headers.JMSPriority != 4:
            lines.append(f"priority:{headers.JMSPriority}\n")
        if headers.JMSTimeToLive > 0:
            span = self._flavour.expiry_header == "expiration"
            lines.append(
                f"{self._flavour.expiry_header}:{headers.JMSTimeToLive if span else now_ms + headers.JMSTimeToLive}\n"
            )
        if headers.JMSType is not None:
            lines.append(f"type:{escape(headers.JMSType)}\n")
        if headers.JMSCorrelationID is not None:
            lines.append(f"correlation-id:{escape(headers.JMSCorrelationID)}\n")
        if headers.JMSReplyTo is not None:
            lines.append(f"reply-to:{escape(self._flavour.reply_to_wire(headers.JMSReplyTo))}\n")

    def _start(self, name: str) -> str:
        if not name:
            raise CodecError("a property without a name")
        reserved = name in _RESERVED or name in self._flavour.reserved or name.startswith((PREFIX, *_BROKERS_OWN))
        start = escape(PREFIX + name if reserved else name) + ":"
        _remember(self._names, name, start)
        return start

    def _within_limits(self, lines: list[str], limit: int) -> list[str]:
        """Cut what is too long for the broker; refuse what is too much for it."""
        fitting: list[str] = []
        counts: dict[str, int] = {}
        for line in lines:
            # At the most four bytes a character: the exact count is needed for few lines only.
            if len(line) * 4 <= limit or len(line.encode("utf-8", "surrogatepass")) <= limit:
                fitting.append(line)
                continue
            start, _, value = line[:-1].partition(":")
            if start in _STOMP:
                raise CodecError(f"the header {start} is longer than the broker's limit of {limit} bytes")
            pieces = _pieces(value, (limit if value.isascii() else limit // 4) - len(start.encode()) - 16)
            counts[unescape(start)] = len(pieces)
            fitting += [f"{start if n == 1 else f'{start}${n}'}:{piece}\n" for n, piece in enumerate(pieces, 1)]
        if counts:
            if len({line.partition(":")[0] for line in fitting}) < len(fitting):
                raise CodecError("a property is named like a part of a long one")
            fitting.append(f"{LONG}:{escape(json.dumps(counts))}\n")
        if self._flavour.max_headers is not None and len(fitting) > self._flavour.max_headers - 10:
            raise CodecError(f"{len(fitting)} headers are more than the broker takes ({self._flavour.max_headers})")
        return fitting


def _pieces(escaped: str, size: int) -> list[str]:
    if size < 64:
        raise CodecError("a property's name is too long for this broker")
    pieces = []
    position = 0
    while position < len(escaped):
        end = position + size
        backslashes = len(escaped[position:end]) - len(escaped[position:end].rstrip("\\"))
        end -= backslashes % 2  # an escape sequence is not cut in two
        pieces.append(escaped[position:end])
        position = end
    return pieces


def _remember(cache: dict[K, T], key: K, value: T, most: int = MAX_REMEMBERED_NAMES) -> None:
    if len(cache) >= most:
        cache.clear()
    cache[key] = value


def _text(type_: str, value: Any) -> str:
    if type_ == "boolean":
        return "true" if value else "false"
    if type_ in ("float", "double"):
        return java_number(value)
    return str(value)


FIELDS: Final = (
    "type", "persistent", "priority", "message-id", "timestamp", "expires", "destination", "correlation-id", "reply-to",
    "redelivered", "destination-type",
)  # fmt: skip
"""Headers from which the JMS header fields come; `Decoder._headers` takes them in this order, and the broker's id header last."""

BODY_HEADERS: Final = (BODY, "content-type", "transformation", "amq-msg-type")


class Decoder:
    """Reads MESSAGE frames of one broker; `destination` is where the subscription listens."""

    def __init__(self, flavour: Flavour, destination: str | None = None) -> None:
        self._flavour = flavour
        self._known = {} if destination is None else {flavour.to_wire(destination): destination}
        self._names: dict[str, str | None] = {}  # header name -> property name; None: it is none
        self._fields = (*FIELDS, flavour.id_header or "message-id")
        self._numbers = _INTEGERS if flavour.returns_header is None else _INTEGERS | {flavour.returns_header}
        self._layouts = Layouts()

    def decode(self, frame: Frame) -> Message:
        """Raises CodecError."""
        try:
            found = self._layouts.read(frame.head.decode())
            if found is None:
                return self._read(frame)
            layout, values = found
            if layout.body:
                told = {name: values[place] for name, place in layout.body.items()}
                body, marked = decode_body(told, frame.body, layout.is_bytes)  # type: ignore[arg-type]  # they are there
            else:
                body, marked = decode_body(_NO_HEADERS, frame.body, layout.is_bytes)
            properties = layout.properties
            if marked:
                mark = layout.body[BODY]
                properties = tuple([field for field in properties if field[1] != mark])
            headers = self._headers(*[values[place] for place in layout.fields])
            made = tuple([_make(MessageProperty, (name, "String", values[place])) for name, place in properties])
            return _make_message(headers, made, body)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise CodecError(str(error)) from None

    def values(self, frame: Frame) -> Callable[[str], Any]:
        """What a selector sees of a message: a header field or property by its name, None where there is none. No message is made.
        It and what it returns raise CodecError."""
        try:
            headers = frame.headers
            if LONG in headers or BASE64 in headers:
                headers = _restored(headers)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise CodecError(str(error)) from None

        def value(name: str) -> Any:
            try:
                if name in _JMS:
                    return getattr(self._headers(*map(headers.get, self._fields)), name)
                prefixed = headers.get(PREFIX + name)
                if prefixed is not None:
                    return prefixed
                text = None if _property_name(name) is None else headers.get(name)
                if text is None or (name == BODY and text in MARKS):
                    return None
                return int(text) if name in _INTEGERS else text
            except ValueError as error:
                raise CodecError(str(error)) from None

        return value

    def _read(self, frame: Frame) -> Message:
        """Header by header."""
        headers = frame.headers
        is_bytes = self._is_bytes(frame)
        body, marked = decode_body(headers, frame.body, is_bytes)
        if LONG in headers or BASE64 in headers:
            headers = _restored(headers)
        elif self._layouts.worth_learning(tuple(headers)):
            self._learn(frame, is_bytes)
        if marked:
            headers = {name: value for name, value in headers.items() if name != BODY}
        return _make_message(self._headers(*map(headers.get, self._fields)), self._properties(headers), body)

    def _learn(self, frame: Frame, is_bytes: bool) -> None:
        names = wire_names(frame)
        if not self._numbers.isdisjoint(names):
            return
        places: dict[str, int] = {}
        for place, name in enumerate(names):
            places.setdefault(unescape(name), place)  # of a header that comes twice the first counts
        properties = [(self._property(header), place) for header, place in places.items()]
        self._layouts.add(
            Layout(
                expression_of(frame.command.decode(), names),
                tuple(places.get(name, -1) for name in self._fields),
                tuple((name, place) for name, place in properties if name is not None),
                {name: places[name] for name in BODY_HEADERS if name in places},
                is_bytes,
            )
        )

    def _property(self, header: str) -> str | None:
        try:
            return self._names[header]
        except KeyError:
            ours = header in (self._flavour.id_header, self._flavour.returns_header)
            name = None if ours else _property_name(header)
            _remember(self._names, header, name)
            return name

    def _properties(self, headers: dict[str, str]) -> tuple[MessageProperty, ...]:
        properties = []
        for header, value in headers.items():
            name = self._property(header)
            if name is not None:
                properties.append(_make(MessageProperty, (name, "String", value)))
        if not self._numbers.isdisjoint(headers):
            properties = [_as_integer(field) if field.name in _INTEGERS else field for field in properties]
            returns = headers.get(self._flavour.returns_header or "")
            if returns is not None:
                properties.append(MessageProperty(DELIVERY_COUNT, "int", int(returns) + 1))
        return tuple(properties)

    def _is_bytes(self, frame: Frame) -> bool:
        at = frame.content_length_at
        return at >= 0 and not (self._flavour.text_length_last and at > frame.head.find(b"\nmessage-id:"))

    def _destination(self, wire: str | None, routing: str | None) -> str | None:
        if wire is None:
            return None
        return self._known.get(wire) or self._flavour.from_wire(wire, routing)

    def _headers(
        self,
        type_: str | None,
        persistent: str | None,
        priority: str | None,
        message_id: str | None,
        timestamp: str | None,
        expires: str | None,
        destination: str | None,
        correlation_id: str | None,
        reply_to: str | None,
        redelivered: str | None,
        routing: str | None,
        own_id: str | None,
    ) -> Headers:
        return _make_headers(
            type_,
            PERSISTENT if is_persistent(persistent) else NON_PERSISTENT,
            4 if priority is None else int(priority),
            0,
            None if message_id is None else self._flavour.message_id(message_id, own_id),
            None if timestamp is None else int(timestamp),
            None if expires is None else int(expires),
            self._destination(destination, routing),
            correlation_id,
            None if reply_to is None else self._flavour.reply_from_wire(reply_to),
            redelivered == "true",
        )


def _property_name(header: str) -> str | None:
    if header.startswith(PREFIX):
        return None if header in _OURS else header[len(PREFIX) :]
    return None if header in _RESERVED or header.startswith(_BROKERS_OWN) else header


def _as_integer(field: MessageProperty) -> MessageProperty:
    return MessageProperty(field.name, "int", int(field.value))


def is_persistent(text: str | None) -> bool:
    return text is not None and text.lower() in ("true", "1", "2")


def _restored(headers: dict[str, str]) -> dict[str, str]:
    """Long values joined, base64 undone."""
    headers = dict(headers)
    if LONG in headers:
        for name, count in _object(headers.pop(LONG)).items():
            headers[name] = "".join([headers[name], *(headers.pop(f"{name}${n}") for n in range(2, count + 1))])
    if BASE64 in headers:
        for name in json.loads(headers.pop(BASE64)):
            headers[name] = base64.b64decode(headers[name], validate=True).decode()
    return headers


def _object(text: str) -> dict[str, int]:
    form = json.loads(text)
    if not isinstance(form, dict) or not all(isinstance(n, int) and 1 <= n <= 1000 for n in form.values()):
        raise ValueError(f"{LONG} is no object of counts")
    return form
