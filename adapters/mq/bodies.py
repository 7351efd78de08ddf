"""Bodies of JMS messages as MQ carries them (RULES.md 9.4): `Msd` of the folder `mcd`, the Format, and the bytes."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from adapters.mq import values
from adapters.mq.chain import Contents
from adapters.mq.code_pages import codec
from adapters.mq.codec_error import CodecError
from adapters.mq.markup import Element, escape, parse
from mappings.model import Body, MessageProperty, StreamElement

STRING: Final = "MQSTR"
NONE: Final = ""

_FORMS: Final = {
    "Message": ("jms_none", NONE),
    "TextMessage": ("jms_text", STRING),
    "BytesMessage": ("jms_bytes", NONE),
    "ObjectMessage": ("jms_object", NONE),
    "MapMessage": ("jms_map", STRING),
    "StreamMessage": ("jms_stream", STRING),
}


class WireBody(NamedTuple):
    msd: str
    format: str
    data: bytes  # text in UTF-8
    is_null: bool = False  # a TextMessage whose text is null


def encode_body(body: Body) -> WireBody:
    """Raises CodecError."""
    try:
        msd, format_ = _FORMS[body.type]
    except KeyError:
        raise CodecError(f"no message has a body of type {body.type!r}") from None
    value = body.value
    match body.type:
        case "Message":
            return WireBody(msd, format_, b"")
        case "TextMessage":
            return WireBody(msd, format_, _utf_8(value or ""), value is None)
        case "MapMessage":
            return WireBody(msd, format_, _utf_8(_map(value)))
        case "StreamMessage":
            return WireBody(msd, format_, _utf_8(_stream(value)))
    if not isinstance(value, bytes):
        raise CodecError(f"the body of a {body.type} cannot be a {type(value).__name__}")
    return WireBody(msd, format_, value)


def decode_body(contents: Contents, msd: str | None, is_null: bool) -> Body:
    """By `Msd`, where it is one of JMS; else text or bytes by the Format. Raises CodecError."""
    match msd:
        case "jms_none":
            return Body()
        case "jms_text":
            return Body("TextMessage", None if is_null and not contents.body else _text(contents))
        case "jms_bytes":
            return Body("BytesMessage", contents.body)
        case "jms_object":
            return Body("ObjectMessage", contents.body)
        case "jms_map":
            return Body("MapMessage", _read_map(_markup(contents, "map")))
        case "jms_stream":
            return Body("StreamMessage", _read_stream(_markup(contents, "stream")))
    if contents.format == STRING:
        return Body("TextMessage", _text(contents))
    return Body("BytesMessage", contents.body)


def _utf_8(text: Any) -> bytes:
    try:
        return bytes(text.encode())
    except (UnicodeEncodeError, AttributeError) as error:
        raise CodecError(f"the body is no text: {error}") from None


def _text(contents: Contents) -> str:
    name = codec(contents.ccsid, contents.encoding)
    try:
        return contents.body.decode(name)
    except UnicodeDecodeError as error:
        raise CodecError(f"a body in code page {contents.ccsid} is not: {error.reason} at byte {error.start}") from None


def _map(elements: tuple[MessageProperty, ...]) -> str:
    pieces = ["<map>"]
    for name, type_, value in elements:
        if not name:
            raise CodecError("an element of a map without a name")
        pieces.append(values.write("elt", type_, value, f' name="{escape(name)}"'))
    pieces.append("</map>")
    return "".join(pieces)


def _stream(elements: tuple[StreamElement, ...]) -> str:
    return "".join(["<stream>", *(values.write("elt", type_, value) for type_, value in elements), "</stream>"])


def _markup(contents: Contents, expected: str) -> Element:
    root = parse(_text(contents))
    if root.name != expected or (root.text.strip() and not root.children):
        raise CodecError(f"the body should be a <{expected}>, and is a <{root.name}>")
    return root


def _read_map(root: Element) -> tuple[MessageProperty, ...]:
    """`<elt name="n">`, or `<n>` as MQ before 5.3 wrote it (MAPNAMESTYLE COMPATIBLE)."""
    elements: dict[str, MessageProperty] = {}
    for child in root.children:
        name = child.attributes.get("name") if child.name == "elt" else None
        name = child.name if name is None else name
        elements[name] = MessageProperty(name, *values.read(child))
    return tuple(elements.values())


def _read_stream(root: Element) -> tuple[StreamElement, ...]:
    return tuple(StreamElement(*values.read(child)) for child in root.children)
