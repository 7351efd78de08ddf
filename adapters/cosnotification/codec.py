"""StructuredEvents of the ORB ⇄ StructuredEvents of the model."""

from __future__ import annotations

from typing import Any, Final

from adapters.base import DeadLetterError
from adapters.cosnotification.decoding import any_from_orb, decoder_of
from adapters.cosnotification.encoding import any_to_orb, property_to_orb
from adapters.cosnotification.stubs import CORBA, CosNotification
from mappings.model import Property, StructuredEvent

PERSISTENT: Final = 1  # CosNotification::Persistent

_new = tuple.__new__


def event_from_orb(event: Any) -> StructuredEvent:
    """Raises DeadLetterError, and nothing else, where the event holds what cannot be carried."""
    try:
        header = event.header
        fixed = header.fixed_header
        event_type = fixed.event_type
        return StructuredEvent(
            event_type.domain_name,
            event_type.type_name,
            fixed.event_name,
            _properties(header.variable_header),
            _properties(event.filterable_data),
            any_from_orb(event.remainder_of_body),
        )
    except DeadLetterError:
        raise
    except RecursionError as error:
        raise DeadLetterError("COR-DEPTH", "a value refers to itself, or is nested too deeply") from error
    except Exception as error:
        raise DeadLetterError("COR-VALUE", f"a value cannot be read: {type(error).__name__}: {error}") from error


def _properties(properties: Any) -> tuple[Property, ...]:
    result = []
    for item in properties:
        any_ = item.value
        type_, convert = decoder_of(any_._t._d)
        result.append(_new(Property, (item.name, type_, any_._v if convert is None else convert(any_._v))))
    return tuple(result)


def event_to_orb(event: StructuredEvent) -> Any:
    """Raises DeadLetterError, and nothing else, where the ORB cannot carry the event."""
    try:
        return CosNotification.StructuredEvent(
            CosNotification.EventHeader(
                CosNotification.FixedEventHeader(
                    CosNotification.EventType(event.domain_name, event.type_name), event.event_name
                ),
                [
                    CosNotification.Property(name, property_to_orb(type_, value))
                    for name, type_, value in event.variable_header
                ],
            ),
            [
                CosNotification.Property(name, property_to_orb(type_, value))
                for name, type_, value in event.filterable_data
            ],
            any_to_orb(event.remainder_of_body),
        )
    except DeadLetterError:
        raise
    except CORBA.SystemException as error:
        raise DeadLetterError("COR-VALUE", f"a value cannot be sent: {error}") from error
    except RecursionError as error:
        raise DeadLetterError("COR-DEPTH", "a value is nested too deeply") from error
    except Exception as error:
        raise DeadLetterError("COR-VALUE", f"a value does not fit its type: {type(error).__name__}: {error}") from error


def is_persistent(event: StructuredEvent) -> bool:
    """EventReliability of the event itself; without it the event is best-effort (RULES.md 1.6)."""
    for name, _, value in event.variable_header:
        if name == "EventReliability":
            return bool(value == PERSISTENT)
    return False
