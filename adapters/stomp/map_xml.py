"""Map bodies in the XML that ActiveMQ turns into a real MapMessage (`transformation:jms-map-xml`), and back.

Its allow list knows no byte arrays, and fails in silence: it delivers a TextMessage, and the sender gets its receipt. So a map that
it could not take is never sent this way.
"""

from __future__ import annotations

import base64
import re
from typing import Any, Final
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from mappings.model import MessageProperty

# Nothing beyond U+FFFF either: the broker's JMS clients lose it in maps (AMQ-8398).
_NOT_XML: Final = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd]")
_TAGS: Final = {
    "String": "string", "int": "int", "long": "long", "double": "double", "boolean": "boolean",
    "short": "short", "byte": "byte", "float": "float", "char": "char",
}  # fmt: skip
_TYPES: Final = {tag: type_ for type_, tag in _TAGS.items()} | {"byte-array": "bytes"}


def map_to_xml(elements: tuple[MessageProperty, ...]) -> bytes | None:
    """None where XML or the broker could not carry it."""
    entries = []
    for name, type_, value in elements:
        text = _text(type_, value)
        if text is None or _NOT_XML.search(name):
            return None
        entries.append(f"<entry><string>{escape(name)}</string>{text}</entry>")
    return f"<map>{''.join(entries)}</map>".encode()


def _text(type_: str, value: Any) -> str | None:
    if value is None:
        return "<null/>"
    if type_ == "boolean":
        text = "true" if value else "false"
    elif type_ in ("float", "double"):
        text = java_number(value)
    elif type_ in ("String", "char"):
        # The far parser makes \n of \r\n, trims a lone blank character, and knows no control characters.
        if _NOT_XML.search(value) or (type_ == "char" and value.isspace()):
            return None
        text = escape(value)
    elif type_ in _TAGS:
        text = str(value)
    else:
        return None
    return f"<{_TAGS[type_]}>{text}</{_TAGS[type_]}>"


def java_number(value: float) -> str:
    """As Java's Double.valueOf reads it."""
    text = repr(float(value))
    return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(text, text)


def map_from_xml(data: bytes) -> tuple[MessageProperty, ...]:
    """Raises ValueError."""
    if b"<!" in data:
        raise ValueError("declarations are not allowed")  # no entities: they can be made to explode
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise ValueError(f"not XML: {error}") from None
    if root.tag != "map":
        raise ValueError(f"not a map but <{root.tag}>")
    return tuple(_entry(entry) for entry in root)


def _entry(entry: ElementTree.Element) -> MessageProperty:
    if entry.tag != "entry" or len(entry) != 2 or entry[0].tag != "string":
        raise ValueError("a map entry is a string and a value")
    name, tag, text = entry[0].text or "", entry[1].tag, entry[1].text or ""
    if tag == "null":
        return MessageProperty(name, "String", None)
    if tag not in _TYPES:
        raise ValueError(f"a map value of type <{tag}>")
    return MessageProperty(name, _TYPES[tag], _value(_TYPES[tag], text))


def _value(type_: str, text: str) -> Any:
    match type_:
        case "String" | "char":
            return text
        case "boolean":
            return text == "true"
        case "bytes":
            return base64.b64decode(text)
        case "float" | "double":
            return float(text)
        case _:
            return int(text)
