"""Events as JSON (FORMS.md section 3): structured, untyped (`any`) and typed (`typed`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mappings.checking import check_text
from mappings.errors import MappingError
from mappings.forms.shape import Shape, under
from mappings.forms.type_readers import read_type
from mappings.forms.type_writers import shared_form
from mappings.forms.value_readers import ValueReaders, value_reader
from mappings.forms.values import value_to_json
from mappings.idl_types import IdlType
from mappings.known_types import KNOWN
from mappings.model import NULL_ANY, Any_, Event, Property, StructuredEvent, TypedEvent, UntypedEvent

_shape: Final = Shape("MAP-EVENT-FORM")
_FIXED: Final = ("domain_name", "type_name", "event_name")
_LISTS: Final = ("variable_header", "filterable_data")


def event_from_json(form: Any, *, registry: Mapping[str, IdlType] = KNOWN) -> Event:
    """Raises MappingError with the exact path of what is wrong, such as `filterable_data[0].value.Severity`.

    `registry` holds the types that the form may speak of by repository id alone, besides those that are always known.
    """
    readers = value_reader(registry)
    try:
        if type(form) is dict and "any" in form:
            _shape.object(form, "an untyped event", ("any",))
            with under(".any"):
                return UntypedEvent(readers.read_any(form["any"], 0))
        if type(form) is dict and "typed" in form:
            _shape.object(form, "a typed event", ("typed",))
            with under(".typed"):
                return _read_typed(form["typed"], readers, registry)
        return _read_structured(form, readers, registry)
    except MappingError as error:
        error.path = error.path.removeprefix(".")
        raise


def event_to_json(event: Event) -> dict[str, Any]:
    """The form of an event, which is checked on the way. The form may share parts with the event: change neither."""
    match event:
        case UntypedEvent():
            return {"any": _write_any(event.any, "any")}
        case TypedEvent():
            for key in ("interface", "operation"):
                _check_text(getattr(event, key), f"typed.{key}")
            return {
                "typed": {
                    "interface": event.interface,
                    "operation": event.operation,
                    "parameters": _write_properties(event.parameters, "typed.parameters"),
                }
            }
        case _:
            for key in _FIXED:
                _check_text(getattr(event, key), key)
            return {
                "domain_name": event.domain_name,
                "type_name": event.type_name,
                "event_name": event.event_name,
                "variable_header": _write_properties(event.variable_header, "variable_header"),
                "filterable_data": _write_properties(event.filterable_data, "filterable_data"),
                "remainder_of_body": _write_any(event.remainder_of_body, "remainder_of_body"),
            }


def _read_structured(form: Any, readers: ValueReaders, registry: Mapping[str, IdlType]) -> StructuredEvent:
    _shape.object(form, "an event", _FIXED, (*_LISTS, "remainder_of_body"))
    domain_name, type_name, event_name = (_shape.text(form, key, empty=True) for key in _FIXED)
    variable_header, filterable_data = (_read_properties(form, key, readers, registry) for key in _LISTS)
    remainder = NULL_ANY
    if "remainder_of_body" in form:
        with under(".remainder_of_body"):
            remainder = readers.read_any(form["remainder_of_body"], 0)
    return StructuredEvent(domain_name, type_name, event_name, variable_header, filterable_data, remainder)


def _read_typed(form: Any, readers: ValueReaders, registry: Mapping[str, IdlType]) -> TypedEvent:
    _shape.object(form, "a typed event", ("interface", "operation"), ("parameters",))
    interface, operation = _shape.text(form, "interface"), _shape.text(form, "operation")
    return TypedEvent(interface, operation, _read_properties(form, "parameters", readers, registry))


def _read_properties(
    form: dict[str, Any], key: str, readers: ValueReaders, registry: Mapping[str, IdlType]
) -> tuple[Property, ...]:
    if key not in form:
        return ()
    properties: list[Property] = []
    place = f".{key}"
    try:
        items = _shape.list(form[key], "properties")
        place = f".{key}[0]"
        for index, item in enumerate(items):
            place = f".{key}[{index}]"
            _shape.object(item, "a property", ("name", "type", "value"))
            name = _shape.text(item, "name", empty=True)
            with under(".type"):
                type_ = read_type(item["type"], 0, registry)
                read = readers(type_)
            with under(".value"):
                properties.append(Property(name, type_, read(item["value"], 0)))
    except MappingError as error:
        error.path = place + error.path
        raise
    return tuple(properties)


def _write_properties(properties: tuple[Property, ...], path: str) -> list[dict[str, Any]]:
    forms = []
    for index, (name, type_, value) in enumerate(properties):
        place = f"{path}[{index}]"
        _check_text(name, f"{place}.name")
        form = value_to_json(type_, value, f"{place}.value")
        forms.append({"name": name, "type": shared_form(type_), "value": form})
    return forms


def _write_any(any_: Any_, path: str) -> dict[str, Any]:
    form = value_to_json(any_.type, any_.value, f"{path}.value")
    return {"type": shared_form(any_.type), "value": form}


def _check_text(value: str, path: str) -> None:
    with under(path):
        check_text(value)
