"""Writers of the JSON form of IDL types, one for each kind (FORMS.md section 1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from mappings.forms.labels import label_to_json
from mappings.idl_types import (
    STRING,
    WSTRING,
    Alias,
    Array,
    Basic,
    Enum,
    Exception_,
    Fixed,
    IdlType,
    ObjRef,
    Recursive,
    Sequence,
    String,
    Struct,
    Union,
    Value,
    ValueBox,
    WString,
    unalias,
)
from mappings.limits import CACHED_TYPES


def write_type(type_: IdlType) -> str | dict[str, Any]:
    """The form of a type."""
    if type(type_) is Basic or type_ in (STRING, WSTRING):
        return type_.kind
    if getattr(type_, "named", False):
        return {"kind": "named", "id": cast(Any, type_).id}
    return _WRITERS[type(type_)](type_)


def shared_form(type_: IdlType) -> str | dict[str, Any]:
    """The form of a type, the same object for the same type: for those who only write it down."""
    if type(type_) is Basic:
        return type_.kind
    kept = _kept.get(id(type_))
    if kept is not None:  # the entry keeps the type alive, so that nothing else can have its id
        return kept[1]
    form = write_type(type_)
    if len(_kept) >= CACHED_TYPES:
        _kept.clear()
    _kept[id(type_)] = (type_, form)
    return form


_kept: dict[int, tuple[IdlType, str | dict[str, Any]]] = {}


def _named(type_: Any) -> dict[str, Any]:
    return {"kind": type_.kind, "id": type_.id, "name": type_.name}


def _write_union(type_: Union) -> dict[str, Any]:
    plain = unalias(type_.discriminator)
    return {
        **_named(type_),
        "discriminator": write_type(type_.discriminator),
        "members": [
            {"label": label_to_json(plain, member.label), "name": member.name, "type": write_type(member.type)}
            for member in type_.members
        ],
    }


def _write_struct(type_: Struct | Exception_) -> dict[str, Any]:
    return {
        **_named(type_),
        "members": [{"name": member.name, "type": write_type(member.type)} for member in type_.members],
    }


def _write_value(type_: Value) -> dict[str, Any]:
    form = {
        **_named(type_),
        "base": None if type_.base is None else write_type(type_.base),
        "members": [
            {"name": member.name, "type": write_type(member.type), "visibility": member.visibility}
            for member in type_.members
        ],
    }
    if type_.modifier != "none":
        form["modifier"] = type_.modifier
    return form


_WRITERS: Final[Mapping[type, Callable[[Any], dict[str, Any]]]] = {
    String: lambda type_: {"kind": "string", "bound": type_.bound},
    WString: lambda type_: {"kind": "wstring", "bound": type_.bound},
    Fixed: lambda type_: {"kind": "fixed", "digits": type_.digits, "scale": type_.scale},
    Struct: _write_struct,
    Exception_: _write_struct,
    Union: _write_union,
    Enum: lambda type_: {**_named(type_), "members": list(type_.members)},
    Sequence: lambda type_: {"kind": "sequence", "element": write_type(type_.element), "bound": type_.bound},
    Array: lambda type_: {"kind": "array", "element": write_type(type_.element), "length": type_.length},
    Alias: lambda type_: {**_named(type_), "type": write_type(type_.type)},
    ObjRef: _named,
    ValueBox: lambda type_: {**_named(type_), "type": write_type(type_.type)},
    Value: _write_value,
    Recursive: lambda type_: {"kind": "recursive", "id": type_.id},
}
