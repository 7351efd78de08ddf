"""Events and messages as the bytes of a cell: the JSON forms of FORMS.md, in one canonical spelling.

The forms spell NaN, infinities, octets and large numbers as text or objects, so that what a JSON library would silently lose never
reaches it. Payloads come from adapters and from the mapping, which have checked them; so they are written without another check,
by plans that are made once for a shape. What does not fit its own type after all is written as what Python shows of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mappings.captures.errors import library_missing
from mappings.captures.event_plans import EventPlans
from mappings.checking import check_text
from mappings.errors import MappingError
from mappings.forms.basics import (
    read_double,
    read_single,
    write_double,
    write_octets,
    write_single,
    write_wide_integer,
)
from mappings.forms.events import event_from_json
from mappings.forms.messages import message_from_json
from mappings.forms.type_readers import read_type
from mappings.forms.type_writers import shared_form
from mappings.forms.value_readers import value_reader
from mappings.forms.value_writers import value_writer
from mappings.idl_types import IdlType
from mappings.known_types import KNOWN
from mappings.model import Any_, Body, Form, Headers, Message, MessageProperty, Payload, Property, StructuredEvent

try:
    import orjson
except ModuleNotFoundError:  # pragma: no cover - whoever writes or reads captures has it
    raise library_missing("orjson", "capturing traffic") from None

UNWRITABLE: Final = "repr"
"""The one key of what is no event and no message: see `PayloadWriter`."""
UNWRITABLE_BEGIN: Final = b'{"repr":'


_MOST_SHAPES: Final = 2000


class PayloadWriter:
    """Belongs to one thread."""

    def __init__(self) -> None:
        self._types: dict[int, tuple[IdlType, Any, Callable[[Any, int], Any]]] = {}

    def write(self, payload: Payload) -> bytes:
        try:
            form = self._event(payload) if isinstance(payload, StructuredEvent) else _message(payload)
            return orjson.dumps(form)
        except (
            TypeError,
            ValueError,
            KeyError,
            AttributeError,
            IndexError,
            RecursionError,
            ArithmeticError,
            MappingError,
        ):
            return orjson.dumps({UNWRITABLE: _shown(payload)})

    def _event(self, event: StructuredEvent) -> dict[str, Any]:
        rest = event.remainder_of_body
        _, type_, write = self._known(rest.type)
        return {
            "domain_name": event.domain_name,
            "type_name": event.type_name,
            "event_name": event.event_name,
            "variable_header": self._properties(event.variable_header),
            "filterable_data": self._properties(event.filterable_data),
            "remainder_of_body": {"type": type_, "value": write(rest.value, 0)},
        }

    def _properties(self, properties: tuple[Property, ...]) -> list[dict[str, Any]]:
        forms = []
        types = self._types
        for name, type_, value in properties:
            known = types.get(id(type_))
            _, form, write = self._known(type_) if known is None else known
            forms.append({"name": name, "type": form, "value": write(value, 0)})
        return forms

    def _known(self, type_: IdlType) -> tuple[IdlType, Any, Callable[[Any, int], Any]]:
        """A type, its form as it stands in the text, and what writes its values. Keeps the type alive: no other has its id."""
        known = self._types.get(id(type_))
        if known is None:
            if len(self._types) >= _MOST_SHAPES:
                self._types.clear()
            known = self._types[id(type_)] = (
                type_,
                orjson.Fragment(orjson.dumps(shared_form(type_))),
                value_writer(type_),
            )
        return known


_WRITERS: Final[dict[str, Callable[[Any], Any]]] = {
    "long": write_wide_integer,
    "float": write_single,
    "double": write_double,
    "bytes": write_octets,
}


def _message(message: Message) -> dict[str, Any]:
    """The nine headers of FORMS.md are always there, the rest where it is known."""
    its = message.headers
    headers = {
        "JMSType": its.JMSType,
        "JMSDeliveryMode": its.JMSDeliveryMode,
        "JMSPriority": its.JMSPriority,
        "JMSTimeToLive": write_wide_integer(its.JMSTimeToLive),
        "JMSMessageID": its.JMSMessageID,
        "JMSTimestamp": None if its.JMSTimestamp is None else write_wide_integer(its.JMSTimestamp),
        "JMSDestination": its.JMSDestination,
        "JMSCorrelationID": its.JMSCorrelationID,
        "JMSReplyTo": its.JMSReplyTo,
    }
    if its.JMSExpiration is not None:
        headers["JMSExpiration"] = write_wide_integer(its.JMSExpiration)
    if its.JMSRedelivered is not None:
        headers["JMSRedelivered"] = its.JMSRedelivered
    body = message.body
    return {
        "headers": headers,
        "properties": _named(message.properties),
        "body": {"type": body.type, "value": _body(body)},
    }


def _named(properties: tuple[MessageProperty, ...]) -> list[dict[str, Any]]:
    writers = _WRITERS
    return [
        {"name": name, "type": type_, "value": writers[type_](value) if type_ in writers else value}
        for name, type_, value in properties
    ]


def _body(body: Body) -> Any:
    match body.type:
        case "Message" | "TextMessage":
            return body.value
        case "BytesMessage" | "ObjectMessage":
            return write_octets(body.value)
        case "MapMessage":
            return _named(body.value)
        case "StreamMessage":
            return [
                {"type": type_, "value": _WRITERS[type_](value) if type_ in _WRITERS else value}
                for type_, value in body.value
            ]
    raise TypeError(body.type)


def _shown(payload: object) -> str:
    try:
        return repr(payload).encode("utf-8", "backslashreplace").decode()
    except RecursionError:
        return "nested too deeply to be shown"


# Reading ------------------------------------------------------------------------------------------------------------------


class PayloadReader:
    """For many cells: events of a shape that came before are read by straight code. Belongs to one thread."""

    def __init__(self) -> None:
        self._plans = EventPlans()

    def read(self, form: Form | str, cell: bytes) -> Payload:
        """Raises MappingError for what is no such form."""
        return _read(form, cell, self._plans)


def read_payload(form: Form | str, cell: bytes) -> Payload:
    """For one cell. Raises MappingError for what is no such form."""
    return _read(form, cell, None)


def _read(form: Form | str, cell: bytes, plans: EventPlans | None) -> Payload:
    try:
        parsed = orjson.loads(cell)
    except orjson.JSONDecodeError as error:
        raise MappingError("MAP-JSON", f"a cell of the capture is no JSON: {error}") from None
    if type(parsed) is dict and parsed.keys() == {UNWRITABLE}:
        raise MappingError("CAP-UNWRITABLE", "the payload did not fit its own type and was captured as text only")
    try:
        if form != "event":
            return _read_message(parsed)
        event = None if plans is None else plans.read(parsed)
        if event is None:
            event = _read_event(parsed)
            if plans is not None:
                plans.learn(parsed, event)
        return event
    except (MappingError, KeyError, TypeError, ValueError, AttributeError):
        pass  # the thorough readers say what is wrong, and where
    made = event_from_json(parsed) if form == "event" else message_from_json(parsed)
    if not isinstance(made, StructuredEvent | Message):
        raise MappingError("MAP-EVENT-FORM", "a capture holds structured events only")
    return made


_readers = value_reader(KNOWN)


def _read_event(form: dict[str, Any]) -> StructuredEvent:
    for name in ("domain_name", "type_name", "event_name"):
        check_text(form[name])
    rest = form["remainder_of_body"]
    type_ = read_type(rest["type"], 0)
    return StructuredEvent(
        form["domain_name"],
        form["type_name"],
        form["event_name"],
        _read_properties(form["variable_header"]),
        _read_properties(form["filterable_data"]),
        Any_(type_, _readers(type_)(rest["value"], 0)),
    )


def _read_properties(forms: list[dict[str, Any]]) -> tuple[Property, ...]:
    properties = []
    for form in forms:
        name, type_ = form["name"], read_type(form["type"], 0)
        check_text(name)
        properties.append(Property(name, type_, _readers(type_)(form["value"], 0)))
    return tuple(properties)


_AS_IT_IS: Final = frozenset(["boolean", "byte", "short", "int", "String"])
_NUMBERS: Final[dict[str, Callable[[Any], Any]]] = {"long": int, "float": read_single, "double": read_double}


def _read_message(form: dict[str, Any]) -> Message:
    """The common kind of message; whatever else there is, is left to the thorough reader."""
    body = form["body"]
    if body["type"] not in ("Message", "TextMessage"):
        raise ValueError
    properties = []
    for item in form["properties"]:
        type_, value = item["type"], item["value"]
        if type_ not in _AS_IT_IS:
            value = _NUMBERS[type_](value)
        properties.append(MessageProperty(item["name"], type_, value))
    headers = form["headers"]
    if any(type(headers.get(name)) is str for name in ("JMSTimeToLive", "JMSTimestamp", "JMSExpiration")):
        raise ValueError
    known = {name: value for name, value in headers.items() if value is not None}
    return Message(Headers(**known), tuple(properties), Body(body["type"], body["value"]))
