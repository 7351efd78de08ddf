"""IDL types and values as JSON, exactly, whatever they are: for the journal's own use.

Unlike the forms of FORMS.md, which are for people and other programs, this one does not look at types to write values. So a value
that does not fit its type comes out as it went in, and is refused where values are checked, not lost in the journal. And a type is
written in full, never by its id alone, so that a record can be read without the configuration that it was written under.

Plain JSON values are themselves. What JSON has not is an object with the one key "\\0", which no struct can have, because no CORBA
string can hold it: {"\\0": ["any", type, value]}, ["union", d] or ["union", d, v], ["decimal", text], ["type", type],
["bytes", number of a blob].
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from mappings.idl_types import (
    BASIC_KINDS,
    Alias,
    Array,
    Basic,
    Enum,
    Exception_,
    Fixed,
    IdlType,
    Member,
    ObjRef,
    Recursive,
    Sequence,
    String,
    Struct,
    Union,
    UnionMember,
    Value,
    ValueBox,
    WString,
)
from mappings.model import NO_ARM, Any_, UnionValue

TAG: Final = "\0"
TAG_TEXT: Final = '{"\\u0000":'  # how a tagged object begins in JSON text; nothing else can contain this

TypeForm = str | list[Any]

_BY_NAME: Final[dict[str, IdlType]] = {
    **{kind: Basic(kind) for kind in BASIC_KINDS},
    "string": String(),
    "wstring": WString(),
}


def type_to_form(type_: IdlType) -> TypeForm:
    """A basic type's name, or a list of the kind and the fields in the order of `mappings.idl_types`."""
    match type_:
        case Basic(kind):
            return kind
        case String(bound) | WString(bound):
            return [type_.kind, bound] if bound else type_.kind
        case Fixed(digits, scale):
            return ["fixed", digits, scale]
        case Struct(id_, name, members, named) | Exception_(id_, name, members, named):
            return [type_.kind, id_, name, [_member_to_form(member) for member in members], named]
        case Union(id_, name, discriminator, arms, named):
            forms = [[arm.label, arm.name, type_to_form(arm.type)] for arm in arms]
            return ["union", id_, name, type_to_form(discriminator), forms, named]
        case Enum(id_, name, labels, named):
            return ["enum", id_, name, list(labels), named]
        case Sequence(element, size) | Array(element, size):
            return [type_.kind, type_to_form(element), size]
        case Alias(id_, name, target, named) | ValueBox(id_, name, target, named):
            return [type_.kind, id_, name, type_to_form(target), named]
        case ObjRef(id_, name, named):
            return ["objref", id_, name, named]
        case Value(id_, name, base, members, modifier, named):
            base_form = None if base is None else type_to_form(base)
            return ["value", id_, name, base_form, [_member_to_form(member) for member in members], modifier, named]
        case Recursive(id_):
            return ["recursive", id_]
    raise TypeError(f"{type(type_).__name__} is no IDL type")


def type_from_form(form: TypeForm) -> IdlType:
    """Raises ValueError, TypeError, KeyError or IndexError on what is no form of a type."""
    if isinstance(form, str):
        return _BY_NAME[form]
    return _READERS[form[0]](*form[1:])


def _member_to_form(member: Member) -> list[Any]:
    return [member.name, type_to_form(member.type), member.visibility]


def _members(forms: list[Any]) -> tuple[Member, ...]:
    return tuple(Member(name, type_from_form(type_), visibility) for name, type_, visibility in forms)


_READERS: Final[dict[str, Callable[..., IdlType]]] = {
    "string": String,
    "wstring": WString,
    "fixed": Fixed,
    "struct": lambda id_, name, members, named: Struct(id_, name, _members(members), named),
    "exception": lambda id_, name, members, named: Exception_(id_, name, _members(members), named),
    "union": lambda id_, name, discriminator, arms, named: Union(
        id_,
        name,
        type_from_form(discriminator),
        tuple(UnionMember(label, arm, type_from_form(type_)) for label, arm, type_ in arms),
        named,
    ),
    "enum": lambda id_, name, labels, named: Enum(id_, name, tuple(labels), named),
    "sequence": lambda element, bound: Sequence(type_from_form(element), bound),
    "array": lambda element, length: Array(type_from_form(element), length),
    "alias": lambda id_, name, target, named: Alias(id_, name, type_from_form(target), named),
    "value_box": lambda id_, name, target, named: ValueBox(id_, name, type_from_form(target), named),
    "objref": ObjRef,
    "value": lambda id_, name, base, members, modifier, named: Value(
        id_, name, None if base is None else type_from_form(base), _members(members), modifier, named
    ),
    "recursive": Recursive,
}


class ValueWriter:
    """The `default` of a JSON encoder for one record: what JSON has not, and the blobs that were met."""

    __slots__ = ("blobs", "sizes", "tagged")

    def __init__(self) -> None:
        self.blobs: list[bytes] = []
        self.sizes: list[int] = []
        self.tagged = (
            0  # how many objects with the TAG were written; more in the text means a struct that has such a member
        )

    def add_blob(self, blob: bytes) -> int:
        self.blobs.append(blob)
        self.sizes.append(len(blob))
        return len(self.blobs) - 1

    def __call__(self, value: object) -> dict[str, Any]:
        self.tagged += 1
        if isinstance(value, bytes):
            return {TAG: ["bytes", self.add_blob(value)]}
        if isinstance(value, Any_):
            return {TAG: ["any", type_to_form(value.type), value.value]}
        if isinstance(value, UnionValue):
            return {TAG: ["union", value.d] if value.v is NO_ARM else ["union", value.d, value.v]}
        if isinstance(value, Decimal):
            return {TAG: ["decimal", str(value)]}
        return {TAG: ["type", type_to_form(value)]}  # type: ignore[arg-type]  # raises TypeError where it is none


class ValueReader:
    """The `object_hook` of a JSON decoder for one record."""

    __slots__ = ("_blobs",)

    def __init__(self, blobs: list[bytes]) -> None:
        self._blobs = blobs

    def __call__(self, form: dict[str, Any]) -> Any:
        if TAG not in form:
            return form
        kind, *fields = form[TAG]
        match kind:
            case "bytes":
                return self._blobs[fields[0]]
            case "any":
                type_, value = fields
                return Any_(type_from_form(type_), value)
            case "union":
                return UnionValue(*fields)
            case "decimal":
                return Decimal(fields[0])
            case "type":
                return type_from_form(fields[0])
        raise ValueError(f"a value of kind {kind!r} is not known")
