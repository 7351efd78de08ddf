"""The labels of a union's arms as JSON: the discriminator's value, or `"default"`.

An enum may have a label that is called `default` itself (IDL writes it `_default`). Only there, the label stands as its
number, counted from 0.
"""

from __future__ import annotations

from typing import Any, Final

from mappings.checking import describe
from mappings.errors import MappingError
from mappings.forms.basics import BASIC_READERS, BASIC_WRITERS
from mappings.idl_types import Enum, IdlType

DEFAULT: Final = "default"


def label_from_json(discriminator: IdlType, form: Any) -> bool | int | str | None:
    """None is the default arm. The discriminator's aliases have been seen through."""
    if form == DEFAULT and type(form) is str:
        return None
    if isinstance(discriminator, Enum):
        if type(form) is int and 0 <= form < len(discriminator.members):
            return discriminator.members[form]
        if form in discriminator.members:
            return str(form)
        raise MappingError("MAP-TYPE-FORM", f"{describe(form)} is no label of {discriminator.name}")
    try:
        label: bool | int | str = BASIC_READERS[discriminator.kind](form, 0)
    except MappingError as error:
        raise MappingError("MAP-TYPE-FORM", f"the label does not fit the discriminator: {error.message}") from None
    return label


def label_to_json(discriminator: IdlType, label: bool | int | str | None) -> bool | int | str:
    if label is None:
        return DEFAULT
    if isinstance(discriminator, Enum):
        return discriminator.members.index(DEFAULT) if label == DEFAULT else label
    write = BASIC_WRITERS.get(discriminator.kind)
    form: bool | int | str = label if write is None else write(label, 0)
    return form
