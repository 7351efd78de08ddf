"""Messages as JSON (FORMS.md section 4): JMS headers, typed properties, a body.

Text may hold any character, NUL included: Java has no quarrel with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from mappings.checking import check_unicode, check_wide_char, describe, wrong_type
from mappings.errors import MappingError
from mappings.forms.basics import (
    Reader,
    Writer,
    read_double,
    read_integer,
    read_octets,
    read_single,
    read_wide_integer,
    write_double,
    write_octets,
    write_single,
    write_wide_integer,
)
from mappings.forms.shape import Shape, under
from mappings.model import (
    BODY_TYPES,
    ELEMENT_TYPES,
    NON_PERSISTENT,
    PERSISTENT,
    PROPERTY_TYPES,
    Body,
    Headers,
    Message,
    MessageProperty,
    StreamElement,
)

_shape: Final = Shape("MAP-MESSAGE-FORM")
_LONG: Final = (-(2**63), 2**63 - 1)


def message_from_json(form: Any) -> Message:
    """Raises MappingError (MAP-MESSAGE-FORM, MAP-VALUE-…) with the exact path of what is wrong."""
    try:
        _shape.object(form, "a message", (), ("headers", "properties", "body"))
        with under(".headers"):
            headers = _read_headers(form.get("headers", {}))
        with under(".properties"):
            properties = _read_named(form.get("properties", []), PROPERTY_TYPES)
        with under(".body"):
            body = _read_body(form["body"]) if "body" in form else Body()
        return Message(headers, properties, body)
    except MappingError as error:
        error.path = error.path.removeprefix(".")
        raise


def message_to_json(message: Message) -> dict[str, Any]:
    """The form of a message. The nine headers of FORMS.md are always there, the rest where it is known."""
    headers = {key: getattr(message.headers, key) for key in _ALWAYS_WRITTEN}
    for key in _WHERE_KNOWN:
        value = getattr(message.headers, key)
        if value is not None:
            headers[key] = value
    for key in _INSTANTS:
        if headers.get(key) is not None:
            headers[key] = write_wide_integer(headers[key])
    with under("properties"):
        properties = _write_named(message.properties, PROPERTY_TYPES)
    with under("body"):
        body = {"type": message.body.type, "value": _write_body(message.body)}
    return {"headers": headers, "properties": properties, "body": body}


# Values -------------------------------------------------------------------------------------------------------------------


def _read_boolean(form: Any, _depth: int) -> bool:
    if type(form) is not bool:
        raise wrong_type("a boolean", form)
    return form


def _read_text(form: Any, _depth: int = 0) -> str | None:
    """A String may be null."""
    if form is None:
        return None
    if type(form) is not str:
        raise wrong_type("a text", form)
    check_unicode(form)
    return form


def _read_char(form: Any, _depth: int) -> str:
    check_wide_char(form)
    return str(form)


_READERS: Final[Mapping[str, Reader]] = {
    "boolean": _read_boolean,
    "byte": read_integer("byte", -(2**7), 2**7 - 1),
    "short": read_integer("short", -(2**15), 2**15 - 1),
    "int": read_integer("int", -(2**31), 2**31 - 1),
    "long": read_wide_integer("long", *_LONG),
    "float": read_single,
    "double": read_double,
    "String": _read_text,
    "char": _read_char,
    "bytes": lambda form, _depth: read_octets(form),
}

_WRITERS: Final[Mapping[str, Writer]] = {
    "long": write_wide_integer,
    "float": write_single,
    "double": write_double,
}
"""Types whose form is not the value itself."""


def _read_element(form: dict[str, Any], types: tuple[str, ...]) -> tuple[str, Any]:
    type_ = form["type"]
    if type_ not in types:
        raise _shape.error(f"expected one of {', '.join(types)}, found {describe(type_)}", ".type")
    with under(".value"):
        return type_, _READERS[type_](form["value"], 0)


def _read_named(form: Any, types: tuple[str, ...]) -> tuple[MessageProperty, ...]:
    properties = []
    for index, item in enumerate(_shape.list(form, "properties")):
        with under(f"[{index}]"):
            _shape.object(item, "a property", ("name", "type", "value"))
            name = item["name"]
            if type(name) is not str:
                raise _shape.error(f"expected a name, found {describe(name)}", ".name")
            with under(".name"):
                check_unicode(name)
            properties.append(MessageProperty(name, *_read_element(item, types)))
    return tuple(properties)


def _read_stream(form: Any) -> tuple[StreamElement, ...]:
    elements = []
    for index, item in enumerate(_shape.list(form, "elements")):
        with under(f"[{index}]"):
            _shape.object(item, "an element", ("type", "value"))
            elements.append(StreamElement(*_read_element(item, ELEMENT_TYPES)))
    return tuple(elements)


def _write_element(type_: str, value: Any, types: tuple[str, ...]) -> Any:
    """Messages are made by the rules of a configuration, too: a value that does not fit is better refused here than read back."""
    if type_ not in types:
        raise _shape.error(f"expected one of {', '.join(types)}, found {describe(type_)}", ".type")
    with under(".value"):
        if type_ == "bytes":
            return _write_octets(value)
        _READERS[type_](value, 0)
        write = _WRITERS.get(type_)
        return value if write is None else write(value, 0)


def _write_octets(value: Any) -> dict[str, str]:
    if type(value) is not bytes:
        raise wrong_type("octets", value)
    return write_octets(value)


def _write_named(properties: tuple[MessageProperty, ...], types: tuple[str, ...]) -> list[dict[str, Any]]:
    forms = []
    for index, (name, type_, value) in enumerate(properties):
        with under(f"[{index}]"):
            forms.append({"name": name, "type": type_, "value": _write_element(type_, value, types)})
    return forms


def _write_stream(elements: tuple[StreamElement, ...]) -> list[dict[str, Any]]:
    forms = []
    for index, (type_, value) in enumerate(elements):
        with under(f"[{index}]"):
            forms.append({"type": type_, "value": _write_element(type_, value, ELEMENT_TYPES)})
    return forms


# Headers ------------------------------------------------------------------------------------------------------------------


def _read_delivery_mode(form: Any, _depth: int) -> str:
    if form not in (PERSISTENT, NON_PERSISTENT):
        raise _shape.error(f"expected {PERSISTENT} or {NON_PERSISTENT}, found {describe(form)}")
    return str(form)


_HEADER_READERS: Final[Mapping[str, Callable[[Any, int], Any]]] = {
    "JMSType": _read_text,
    "JMSDeliveryMode": _read_delivery_mode,
    "JMSPriority": read_integer("priority (0 to 9)", 0, 9),
    "JMSTimeToLive": read_wide_integer("time to live in milliseconds", 0, _LONG[1]),
    "JMSMessageID": _read_text,
    "JMSTimestamp": read_wide_integer("long", *_LONG),
    "JMSExpiration": read_wide_integer("long", *_LONG),
    "JMSDestination": _read_text,
    "JMSCorrelationID": _read_text,
    "JMSReplyTo": _read_text,
    "JMSRedelivered": _read_boolean,
}
_WHERE_KNOWN: Final = ("JMSExpiration", "JMSRedelivered")
_ALWAYS_WRITTEN: Final = tuple(key for key in _HEADER_READERS if key not in _WHERE_KNOWN)
_INSTANTS: Final = ("JMSTimeToLive", "JMSTimestamp", "JMSExpiration")


def _read_headers(form: Any) -> Headers:
    """A key that is null counts as absent."""
    _shape.object(form, "headers", (), tuple(_HEADER_READERS))
    known = {}
    for key, value in form.items():
        if value is not None:
            with under(f".{key}"):
                known[key] = _HEADER_READERS[key](value, 0)
    return Headers(**known)


# Bodies -------------------------------------------------------------------------------------------------------------------


def _no_body(form: Any) -> None:
    if form is not None:
        raise wrong_type("null", form)


_BODY_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "Message": _no_body,
    "TextMessage": _read_text,
    "BytesMessage": read_octets,
    "ObjectMessage": read_octets,
    "StreamMessage": _read_stream,
    "MapMessage": lambda form: _read_named(form, ELEMENT_TYPES),
}


def _unknown_body(type_: Any) -> MappingError:
    return _shape.error(f"expected one of {', '.join(BODY_TYPES)}, found {describe(type_)}", ".type")


def _read_body(form: Any) -> Body:
    _shape.object(form, "a body", ("type",), ("value",))
    type_ = form["type"]
    if type(type_) is not str or type_ not in _BODY_READERS:
        raise _unknown_body(type_)
    with under(".value"):
        return Body(type_, _BODY_READERS[type_](form.get("value")))


_BODY_WRITERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "Message": _no_body,
    "TextMessage": _read_text,
    "BytesMessage": _write_octets,
    "ObjectMessage": _write_octets,
    "StreamMessage": _write_stream,
    "MapMessage": lambda elements: _write_named(elements, ELEMENT_TYPES),
}


def _write_body(body: Body) -> Any:
    writer = _BODY_WRITERS.get(body.type)
    if writer is None:
        raise _unknown_body(body.type)
    with under(".value"):
        return writer(body.value)
