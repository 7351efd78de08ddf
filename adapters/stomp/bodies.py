"""Bodies of messages on STOMP, which knows only text and bytes (OC-BODY-1, OC-BODY-7).

    Message                     empty, `$body:none`
    TextMessage                 UTF-8 without content-length; `$body:text` where it is empty, `$body:null` where it is null
    BytesMessage                with content-length
    ObjectMessage               with content-length, `$body:object`
    StreamMessage, MapMessage   JSON in the form of FORMS.md section 4 with `content-type:application/json`, `$body:stream` or `map`
    MapMessage, where the broker makes a real one       XML with `transformation:jms-map-xml`

Only what cannot be told otherwise carries a `$body` mark, so what a foreign peer sends needs none.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from typing import Any, Final, NamedTuple

from adapters.stomp.flavours import Flavour, MapBodies
from adapters.stomp.map_xml import map_from_xml, map_to_xml
from mappings.model import ELEMENT_TYPES, Body, MessageProperty, StreamElement

BODY: Final = "$body"
MARKS: Final = frozenset({"none", "text", "null", "stream", "map", "object", "text-base64"})
"""Values of `$body` that belong to this wire; others (octets, cdr-any …) are properties of the message."""

_JSON: Final = "application/json"
_RANGES: Final = {"byte": 2**7, "short": 2**15, "int": 2**31, "long": 2**63}


class BodyError(ValueError):
    """A body that does not fit its own description."""


class WireBody(NamedTuple):
    headers: list[tuple[str, str]]
    data: bytes
    marked: bool  # whether `$body` is among the headers


def encode_body(body: Body, flavour: Flavour, map_bodies: MapBodies) -> WireBody:
    """Raises BodyError where STOMP has no way to carry it."""
    match body.type:
        case "TextMessage":
            return _text(body.value, flavour)
        case "BytesMessage":
            return WireBody([("content-length", str(len(body.value)))], body.value, False)
        case "Message":
            return WireBody([(BODY, "none")], b"", True)
        case "ObjectMessage":
            return WireBody([(BODY, "object"), ("content-length", str(len(body.value)))], body.value, True)
        case "MapMessage":
            if map_bodies == "broker" and (xml := map_to_xml(body.value)) is not None:
                return WireBody([("transformation", "jms-map-xml")], xml, False)
            form = [{"name": name, **_element(type_, value)} for name, type_, value in body.value]
            return _json(form, "map")
        case "StreamMessage":
            return _json([_element(type_, value) for type_, value in body.value], "stream")
        case other:
            raise BodyError(f"no message has a body of type {other!r}")


def _text(text: str | None, flavour: Flavour) -> WireBody:
    if text is None:
        return WireBody([(BODY, "null")], b"", True)
    data = text.encode()
    kind = [("content-type", "text/plain")] if flavour.marks_text else []
    if not data:
        return WireBody([(BODY, "text"), *kind], data, True)
    if "\0" not in text:
        return WireBody(kind, data, False)
    if flavour.text_with_length:
        return WireBody([("amq-msg-type", "text"), ("content-length", str(len(data)))], data, False)
    return WireBody([(BODY, "text-base64"), *kind], base64.b64encode(data), True)


def _json(form: list[dict[str, Any]], mark: str) -> WireBody:
    # Escaped to ASCII, so no NUL can be in it.
    data = json.dumps(form, separators=(",", ":"), allow_nan=False).encode()
    return WireBody([(BODY, mark), ("content-type", _JSON)], data, True)


def _element(type_: str, value: Any) -> dict[str, Any]:
    if type_ == "bytes":
        value = {"base64": base64.b64encode(value).decode()}
    elif isinstance(value, float) and not math.isfinite(value):
        value = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    elif type_ == "long" and abs(value) > 2**53:
        value = str(value)
    return {"type": type_, "value": value}


def decode_body(headers: dict[str, str], data: bytes, has_length: bool) -> tuple[Body, bool]:
    """The body, and whether `$body` was this wire's own mark. Raises BodyError."""
    mark = headers.get(BODY)
    content_type = headers.get("content-type", "")
    try:
        if mark in MARKS:
            return _marked(mark, data, content_type), True
        if headers.get("transformation", "").startswith("jms-map-xml") and not has_length:
            return Body("MapMessage", map_from_xml(data)), False
        if not has_length or content_type.startswith("text/") or headers.get("amq-msg-type") == "text":
            # Without marks an empty body may have been any class: see docs/stomp.md.
            return (Body("TextMessage", data.decode()) if data else Body()), False
    except UnicodeDecodeError as error:
        raise BodyError(f"a text body is not UTF-8: {error}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BodyError(f"a body marked {mark or 'as a map'} is not one: {error}") from None
    return Body("BytesMessage", data), False


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
        case "object":
            return Body("ObjectMessage", data)
    if not content_type.startswith(_JSON):
        raise ValueError(f"its content-type is {content_type!r}, not {_JSON!r}")
    form = json.loads(data)
    if mark == "stream":
        return Body("StreamMessage", tuple(StreamElement(e["type"], _value(e)) for e in form))
    return Body("MapMessage", tuple(MessageProperty(_name(e), e["type"], _value(e)) for e in form))


def _name(element: dict[str, Any]) -> str:
    if not isinstance(element["name"], str):
        raise ValueError("a name is no text")
    return element["name"]


def _value(element: dict[str, Any]) -> Any:
    type_, value = element["type"], element["value"]
    if type_ not in ELEMENT_TYPES:
        raise ValueError(f"no element has the type {type_!r}")
    if value is None:
        return None
    match type_:
        case "bytes":
            return _from_base64(value["base64"])
        case "float" | "double":
            if isinstance(value, str) and value not in ("NaN", "Infinity", "-Infinity"):
                raise ValueError(f"{value!r} is no {type_}")
            return float(value)
        case "boolean":
            good = isinstance(value, bool)
        case "String":
            good = isinstance(value, str)
        case "char":
            good = isinstance(value, str) and len(value) == 1
        case _:
            if type_ == "long" and isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,19}", value):
                value = int(value)
            limit = _RANGES[type_]
            good = isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit
    if not good:
        raise ValueError(f"{value!r} is no {type_}")
    return value


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"no base64: {error}") from None
