"""Events of the ORB ⇄ events of the model: structured ones, and anys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from adapters.base import DeadLetterError
from adapters.cosnotification.decoding import any_from_orb, decoder_of
from adapters.cosnotification.encoding import any_to_orb, property_to_orb
from adapters.cosnotification.stubs import CORBA, CosNotification
from mappings.model import Any_, Property, StructuredEvent

T = TypeVar("T")

_new = tuple.__new__


def event_from_orb(event: Any) -> StructuredEvent:
    """Raises DeadLetterError, and nothing else, where the event holds what cannot be carried."""
    return reading(_event_from_orb, event)


def _event_from_orb(event: Any) -> StructuredEvent:
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


def reading(read: Callable[..., T], *arguments: Any) -> T:
    """Whatever goes wrong is a DeadLetterError."""
    try:
        return read(*arguments)
    except DeadLetterError:
        raise
    except RecursionError as error:
        raise DeadLetterError("COR-DEPTH", "a value refers to itself, or is nested too deeply") from error
    except Exception as error:
        raise DeadLetterError("COR-VALUE", f"a value cannot be read: {type(error).__name__}: {error}") from error


def untyped_from_orb(any_: Any) -> Any_:
    """Raises DeadLetterError, and nothing else."""
    return reading(any_from_orb, any_)


def untyped_to_orb(any_: Any_) -> Any:
    """Raises DeadLetterError, and nothing else."""
    return _writing(any_to_orb, any_)


def _properties(properties: Any) -> tuple[Property, ...]:
    result = []
    for item in properties:
        any_ = item.value
        type_, convert = decoder_of(any_._t._d)
        result.append(_new(Property, (item.name, type_, any_._v if convert is None else convert(any_._v))))
    return tuple(result)


def event_to_orb(event: StructuredEvent) -> Any:
    """Raises DeadLetterError, and nothing else, where the ORB cannot carry the event."""
    return _writing(_event_to_orb, event)


def _event_to_orb(event: StructuredEvent) -> Any:
    event_type = CosNotification.EventType(event.domain_name, event.type_name)
    fixed = CosNotification.FixedEventHeader(event_type, event.event_name)
    return CosNotification.StructuredEvent(
        CosNotification.EventHeader(fixed, _properties_to_orb(event.variable_header)),
        _properties_to_orb(event.filterable_data),
        any_to_orb(event.remainder_of_body),
    )


def _properties_to_orb(properties: tuple[Property, ...]) -> list[Any]:
    return [CosNotification.Property(name, property_to_orb(type_, value)) for name, type_, value in properties]


def _writing(write: Callable[[Any], Any], value: Any) -> Any:
    try:
        return write(value)
    except DeadLetterError:
        raise
    except CORBA.SystemException as error:
        raise DeadLetterError("COR-VALUE", f"a value cannot be sent: {error}") from error
    except RecursionError as error:
        raise DeadLetterError("COR-DEPTH", "a value is nested too deeply") from error
    except Exception as error:
        raise DeadLetterError("COR-VALUE", f"a value does not fit its type: {type(error).__name__}: {error}") from error
