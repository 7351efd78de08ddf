"""The three forms of an event, and what a consumer of each form sees (RULES.md section 2).

    supplier sends    structured consumer sees               Any consumer sees          typed consumer sees
    Any a             ("", "%ANY", ""), remainder a          a                          the operation that a spells, or nothing
    structured s      s                                      any(s); of a %ANY event    the operation that s spells, or nothing
                                                             the remainder itself
    op(p…) on <I>     ("", "%TYPED", ""), filterable data    any(that PropertySeq)      op(p…)
                      [operation, p…]

An event spells an operation where the first of its properties is called `operation` and is a string.
"""

from __future__ import annotations

import re
from typing import Any, Final

from mappings.idl_types import ANY, STRING, String, WString, unalias
from mappings.known_types import PROPERTY_SEQ, STRUCTURED_EVENT
from mappings.model import Any_, Event, Property, StructuredEvent, TypedEvent, UntypedEvent

ANY_TYPE_NAME: Final = "%ANY"
TYPED_TYPE_NAME: Final = "%TYPED"
OPERATION: Final = "operation"

MAX_ANY_LAYERS: Final = 8
"""TAO puts the any into another any when it makes the structured form; so many layers are taken off, and no more."""

_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def to_structured(event: Event) -> StructuredEvent:
    """What a structured consumer sees of an event of any form."""
    match event:
        case UntypedEvent():
            return StructuredEvent("", ANY_TYPE_NAME, "", remainder_of_body=unwrap(event.any))
        case TypedEvent():
            return StructuredEvent("", TYPED_TYPE_NAME, "", filterable_data=_operation_list(event))
    if event.type_name == ANY_TYPE_NAME and event.remainder_of_body.type == ANY:
        return StructuredEvent(
            event.domain_name, event.type_name, event.event_name, event.variable_header, event.filterable_data,
            unwrap(event.remainder_of_body),
        )  # fmt: skip
    return event


def from_structured(event: StructuredEvent) -> Event:
    """The form in which a supplier sent the event: a `%ANY` or `%TYPED` event without its wrapping, any other as it is.

    The repository id of a typed event's interface comes from the operation's scoped name: prefix and version are not in it.
    """
    if event.type_name == ANY_TYPE_NAME:
        return UntypedEvent(unwrap(event.remainder_of_body))
    if event.type_name == TYPED_TYPE_NAME:
        return _operation_of(event.filterable_data) or event
    return event


def to_any(event: Event) -> Any_:
    """What an Any consumer sees. A `%ANY` event is unwrapped, so that it crosses several gateways unchanged."""
    match event:
        case UntypedEvent():
            return event.any
        case TypedEvent():
            return Any_(PROPERTY_SEQ, _property_values(_operation_list(event)))
    if event.type_name == ANY_TYPE_NAME:
        return unwrap(event.remainder_of_body)
    return Any_(STRUCTURED_EVENT, structured_value(event))


def to_typed(event: Event) -> TypedEvent | None:
    """The operation that a typed consumer sees invoked; None where the event spells none, and nothing is delivered."""
    match event:
        case TypedEvent():
            return event
        case UntypedEvent():
            any_ = unwrap(event.any)
            if unalias(any_.type) != unalias(PROPERTY_SEQ):
                return None
            return _operation_of(
                tuple(Property(item["name"], item["value"].type, item["value"].value) for item in any_.value)
            )
    if event.type_name == ANY_TYPE_NAME:
        return to_typed(UntypedEvent(event.remainder_of_body))
    return _operation_of(event.filterable_data)


def unwrap(any_: Any_) -> Any_:
    """The any inside up to MAX_ANY_LAYERS others."""
    for _ in range(MAX_ANY_LAYERS):
        if unalias(any_.type) != ANY:
            break
        any_ = any_.value
    return any_


def structured_value(event: StructuredEvent) -> dict[str, Any]:
    """The event as a value of the IDL type CosNotification::StructuredEvent."""
    return {
        "header": {
            "fixed_header": {
                "event_type": {"domain_name": event.domain_name, "type_name": event.type_name},
                "event_name": event.event_name,
            },
            "variable_header": _property_values(event.variable_header),
        },
        "filterable_data": _property_values(event.filterable_data),
        "remainder_of_body": event.remainder_of_body,
    }


def scoped_operation(interface: str, operation: str) -> str:
    """`::Module::Interface::operation` for a repository id such as `IDL:example.com/Module/Interface:1.0`.

    A prefix is no part of a scoped name; what is no IDL identifier must be one.
    """
    if "::" in operation:
        return operation if operation.startswith("::") else f"::{operation}"
    scheme, _, rest = interface.partition(":")
    path = rest.partition(":")[0]
    names = path.split("." if scheme == "RMI" else "/")
    while names and not all(map(_IDENTIFIER.fullmatch, names)):
        del names[0]
    return "::" + "::".join([*names, operation])


def _operation_list(event: TypedEvent) -> tuple[Property, ...]:
    operation = scoped_operation(event.interface, event.operation)
    return (Property(OPERATION, STRING, operation), *event.parameters)


def _operation_of(properties: tuple[Property, ...]) -> TypedEvent | None:
    if not properties or properties[0].name != OPERATION:
        return None
    any_ = unwrap(Any_(properties[0].type, properties[0].value))
    if not isinstance(unalias(any_.type), String | WString):
        return None
    *scope, operation = any_.value.removeprefix("::").split("::")
    if not operation:
        return None
    return TypedEvent(f"IDL:{'/'.join(scope)}:1.0" if scope else "", operation, properties[1:])


def _property_values(properties: tuple[Property, ...]) -> list[dict[str, Any]]:
    return [{"name": name, "value": Any_(type_, value)} for name, type_, value in properties]
