"""Bodies of messages on STOMP, which knows only text and bytes (OC-BODY-1, OC-BODY-7).

    Message                     empty, `$body:none`
    TextMessage                 UTF-8 without content-length; `$body:text` where it is empty, `$body:null` where it is null
    BytesMessage                with content-length; on RabbitMQ `$body:bytes` where it is empty
    ObjectMessage               with content-length, `$body:object`
    StreamMessage, MapMessage   JSON in the form of FORMS.md section 4 with `content-type:application/json`, `$body:stream` or `map`
    MapMessage, where the broker makes a real one       XML with `transformation:jms-map-xml`

Only what cannot be told otherwise carries a `$body` mark, so what a foreign peer sends needs none.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Final, NamedTuple

from adapters.stomp.flavours import Flavour, MapBodies
from adapters.stomp.map_xml import map_from_xml, map_to_xml
from mappings.errors import MappingError
from mappings.forms.messages import message_from_json, message_to_json
from mappings.model import Body, Message

BODY: Final = "$body"
MARKS: Final = frozenset({"none", "text", "null", "bytes", "stream", "map", "object", "text-base64"})
"""Values of `$body` that belong to this wire; others (octets, cdr-any …) are properties of the message."""

_JSON: Final = "application/json"
_BEYOND: Final = re.compile("[\U00010000-\U0010ffff]")


class BodyError(ValueError):
    """A body that does not fit its own description."""


class WireBody(NamedTuple):
    headers: list[tuple[str, str]]
    data: bytes
    marked: bool  # whether `$body` is among the headers


def encode_body(body: Body, flavour: Flavour, map_bodies: MapBodies) -> WireBody:
    """Raises BodyError where STOMP has no way to carry it, MappingError where it is no body."""
    match body.type:
        case "TextMessage":
            return _text(body.value, flavour)
        case "BytesMessage":
            if flavour.marks_text and not body.value:  # of an empty body it announces no length
                return WireBody([(BODY, "bytes"), ("content-length", "0")], b"", True)
            return WireBody([("content-length", str(len(body.value)))], body.value, False)
        case "Message":
            return WireBody([(BODY, "none")], b"", True)
        case "ObjectMessage":
            return WireBody([(BODY, "object"), ("content-length", str(len(body.value)))], body.value, True)
        case "MapMessage":
            if map_bodies == "broker" and (xml := map_to_xml(body.value)) is not None:
                return WireBody([("transformation", "jms-map-xml")], xml, False)
            return _json(body, "map")
        case "StreamMessage":
            return _json(body, "stream")
        case other:
            raise BodyError(f"no message has a body of type {other!r}")


def _text(text: str | None, flavour: Flavour) -> WireBody:
    if text is None:
        return WireBody([(BODY, "null")], b"", True)
    data = _java_utf8(text) if flavour.java_text else text.encode()
    kind = [("content-type", "text/plain")] if flavour.marks_text else []
    if not data:
        return WireBody([(BODY, "text"), *kind], data, True)
    if "\0" not in text:
        return WireBody(kind, data, False)
    if flavour.text_with_length:
        return WireBody([("amq-msg-type", "text"), ("content-length", str(len(data)))], data, False)
    return WireBody([(BODY, "text-base64"), *kind], base64.b64encode(data), True)


def beyond_u_ffff(text: str) -> bool:
    """Whether Java needs two of its characters for one of these."""
    return not text.isascii() and _BEYOND.search(text) is not None


def _java_utf8(text: str) -> bytes:
    """UTF-8 in which a character beyond U+FFFF is six bytes, three for each of its two surrogates; see `_decoded`."""
    data = text.encode()
    return _BEYOND.sub(_surrogates, text).encode("utf-8", "surrogatepass") if beyond_u_ffff(text) else data


def _surrogates(match: re.Match[str]) -> str:
    high, low = divmod(ord(match[0]) - 0x10000, 0x400)
    return chr(0xD800 + high) + chr(0xDC00 + low)


def _json(body: Body, mark: str) -> WireBody:
    form = message_to_json(Message(body=body))["body"]["value"]
    data = json.dumps(form, separators=(",", ":"), allow_nan=False).encode()  # escaped to ASCII: no NUL can be in it
    return WireBody([(BODY, mark), ("content-type", _JSON)], data, True)


def decode_body(headers: dict[str, str], data: bytes, is_bytes: bool) -> tuple[Body, bool]:
    """The body, and whether `$body` was this wire's own mark. `is_bytes` is what the content-length says. Raises BodyError."""
    mark = headers.get(BODY)
    content_type = headers.get("content-type", "")
    try:
        if mark in MARKS:
            return _marked(mark, data, content_type), True
        if headers.get("transformation") == "jms-map-xml" and not is_bytes:
            return Body("MapMessage", map_from_xml(data)), False
        if not is_bytes or content_type.startswith("text/") or headers.get("amq-msg-type") == "text":
            # Without marks an empty body may have been any class: see docs/stomp.md.
            return (Body("TextMessage", _decoded(data)) if data else Body()), False
    except UnicodeDecodeError as error:
        raise BodyError(f"a text body is not UTF-8: {error}") from None
    except (ValueError, TypeError, AttributeError, RecursionError, MappingError) as error:
        raise BodyError(f"a body marked {mark or 'as a map'} is not one: {error}") from None
    return Body("BytesMessage", data), False


def _decoded(data: bytes) -> str:
    """UTF-8, or Java's own idea of it, which ActiveMQ passes on: NUL in two bytes, characters beyond U+FFFF in six."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        units = data.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _marked(mark: str, data: bytes, content_type: str) -> Body:
    match mark:
        case "none":
            return Body()
        case "null":
            return Body("TextMessage", None)
        case "text":
            return Body("TextMessage", data.decode())
        case "text-base64":
            return Body("TextMessage", _from_base64(data.decode()).decode())
        case "bytes":
            return Body("BytesMessage", data)
        case "object":
            return Body("ObjectMessage", data)
    if not content_type.startswith(_JSON):
        raise ValueError(f"its content-type is {content_type!r}, not {_JSON!r}")
    type_ = "StreamMessage" if mark == "stream" else "MapMessage"
    return message_from_json({"body": {"type": type_, "value": json.loads(data)}}).body


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"no base64: {error}") from None
