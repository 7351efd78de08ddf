"""IDL types as JSON (FORMS.md section 1).

A type's form is judged as strictly as an IDL compiler would: names are there and differ, labels fit their discriminator,
a recursion stands inside the type that it names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mappings.forms.shape import under
from mappings.forms.type_readers import read_type
from mappings.forms.type_writers import write_type
from mappings.idl_types import IdlType
from mappings.known_types import KNOWN
from mappings.type_compiler import height


def type_from_json(form: Any, path: str = "type", *, registry: Mapping[str, IdlType] = KNOWN) -> IdlType:
    """Raises MappingError (MAP-TYPE-FORM, MAP-TYPE-UNKNOWN, MAP-DEPTH) with the path of the part that is wrong.

    `registry` holds the types that may be spoken of by repository id alone, besides those that are always known.
    """
    with under(path):
        return read_type(form, 0, registry)


def type_to_json(type_: IdlType) -> str | dict[str, Any]:
    """The form of a type; `type_from_json` reads an equal type from it. Raises MAP-DEPTH where the type is nested too deep."""
    height(type_)
    return write_type(type_)
