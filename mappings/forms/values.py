"""Values of IDL types as JSON (FORMS.md section 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mappings.checking import check_value
from mappings.errors import MappingError
from mappings.forms.value_readers import value_reader
from mappings.forms.value_writers import write_value
from mappings.idl_types import IdlType
from mappings.known_types import KNOWN


def value_from_json(type_: IdlType, form: Any, path: str = "value", *, registry: Mapping[str, IdlType] = KNOWN) -> Any:
    """The Python value (`mappings.idl_types`) of a form. Raises MappingError with the exact path of what does not fit.

    `registry` holds the types that anys inside may speak of by repository id alone.
    """
    try:
        return value_reader(registry)(type_)(form, 0)
    except MappingError as error:
        error.path = path + error.path
        raise


def value_to_json(type_: IdlType, value: Any, path: str = "value") -> Any:
    """The form of a value, which is checked first. The form may share parts with the value: change neither."""
    check_value(type_, value, path)
    return write_value(type_, value)
