"""A value of any IDL type that says nothing: what stands where a call must give a value and has none."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from mappings import idl_types as idl
from mappings.model import NULL_ANY, UnionValue

_BASIC: dict[str, Any] = {
    "null": None, "void": None, "boolean": False, "char": "\0", "wchar": "\0", "float": 0.0, "double": 0.0, "longdouble": 0.0,
    "any": NULL_ANY, "TypeCode": idl.NULL, "Object": None,
}  # fmt: skip


def blank(type_: idl.IdlType) -> Any:
    """Zero, empty, nil, or the first label. A recursive type is met in a sequence or a valuetype, where it needs no value."""
    match type_:
        case idl.Basic(kind):
            return _BASIC.get(kind, 0)
        case idl.String() | idl.WString():
            return ""
        case idl.Fixed(_, scale):
            return Decimal(0).scaleb(-scale)
        case idl.Enum():
            return type_.members[0]
        case idl.Struct() | idl.Exception_():
            return {member.name: blank(member.type) for member in type_.members}
        case idl.Union():
            arm = next((arm for arm in type_.members if arm.label is not None), None)
            if arm is None:
                return UnionValue(blank(type_.discriminator), blank(type_.members[0].type))
            return UnionValue(arm.label, blank(arm.type))  # type: ignore[arg-type]
        case idl.Sequence(element, _):
            return b"" if idl.unalias(element) == idl.OCTET else []
        case idl.Array(element, length):
            return bytes(length) if idl.unalias(element) == idl.OCTET else [blank(element) for _ in range(length)]
        case idl.Alias(_, _, inner):
            return blank(inner)
        case idl.ObjRef() | idl.ValueBox() | idl.Value() | idl.Recursive():
            return None
    raise AssertionError(type_)
