"""The canonical model: what an event and a message are, on every wire, in the forms of FORMS.md.

Adapters convert between their wire and this model; the rules of `mappings` see nothing else. Everything is immutable by
agreement: a value inside a property is never changed in place, because deliveries, links and captures share it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from mappings.idl_types import NULL, IdlType


@dataclass(frozen=True, slots=True)
class Any_:
    """A CORBA any: a value with its IDL type."""

    type: IdlType
    value: Any


NULL_ANY: Final = Any_(NULL, None)


class _NoArm(Enum):
    NO_ARM = "no arm"


NO_ARM: Final = _NoArm.NO_ARM
"""The `v` of a union whose discriminator selects no arm."""


@dataclass(frozen=True, slots=True)
class UnionValue:
    d: bool | int | str
    v: Any = NO_ARM


class Property(NamedTuple):
    """A field of a StructuredEvent's variable_header or filterable_data: name, and an any spelt out."""

    name: str
    type: IdlType
    value: Any


@dataclass(frozen=True, slots=True)
class StructuredEvent:
    domain_name: str
    type_name: str
    event_name: str
    variable_header: tuple[Property, ...] = ()
    filterable_data: tuple[Property, ...] = ()
    remainder_of_body: Any_ = NULL_ANY


@dataclass(frozen=True, slots=True)
class UntypedEvent:
    """What an untyped (Any) supplier sends; see `mappings.event_forms` for the structured form (`%ANY`)."""

    any: Any_


@dataclass(frozen=True, slots=True)
class TypedEvent:
    """An operation of a typed channel's interface with its `in` parameters (`%TYPED`)."""

    interface: str  # repository id
    operation: str
    parameters: tuple[Property, ...] = ()


Event = StructuredEvent | UntypedEvent | TypedEvent


class MessageProperty(NamedTuple):
    """A JMS property, or an element of a map body. `type` is one of PROPERTY_TYPES (map: ELEMENT_TYPES)."""

    name: str
    type: str
    value: Any


class StreamElement(NamedTuple):
    """An element of a stream body. `type` is one of ELEMENT_TYPES."""

    type: str
    value: Any


PROPERTY_TYPES: Final = ("boolean", "byte", "short", "int", "long", "float", "double", "String")
ELEMENT_TYPES: Final = (*PROPERTY_TYPES, "char", "bytes")
BODY_TYPES: Final = (
    "Message", "TextMessage", "BytesMessage", "StreamMessage", "MapMessage", "ObjectMessage",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Body:
    """`type` is one of BODY_TYPES.

    The value is None (Message), str (TextMessage; None where the text is null), bytes (BytesMessage, ObjectMessage), a tuple
    of StreamElement (StreamMessage) or a tuple of MessageProperty (MapMessage).
    """

    type: str = "Message"
    value: Any = None


EMPTY_BODY: Final = Body()

PERSISTENT: Final = "PERSISTENT"
NON_PERSISTENT: Final = "NON_PERSISTENT"


@dataclass(frozen=True, slots=True)
class Headers:
    """JMS header fields; None where not known. Destinations are `queue://NAME` or `topic://NAME`."""

    JMSType: str | None = None
    JMSDeliveryMode: str = PERSISTENT
    JMSPriority: int = 4
    JMSTimeToLive: int = 0  # milliseconds, 0 = unlimited
    JMSMessageID: str | None = None
    JMSTimestamp: int | None = None  # milliseconds since 1970
    JMSExpiration: int | None = None  # milliseconds since 1970, 0 = never; on received messages
    JMSDestination: str | None = None
    JMSCorrelationID: str | None = None
    JMSReplyTo: str | None = None
    JMSRedelivered: bool | None = None


@dataclass(frozen=True, slots=True)
class Message:
    headers: Headers = field(default_factory=Headers)
    properties: tuple[MessageProperty, ...] = ()
    body: Body = EMPTY_BODY


Form: TypeAlias = Literal["event", "message"]
Payload: TypeAlias = StructuredEvent | Message
"""What wires carry, and links pass on, in either form."""
