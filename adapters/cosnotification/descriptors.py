"""IDL types of the model ⇄ the descriptors in which omniORBpy keeps TypeCodes.

A descriptor is an int for a basic kind, else a tuple that begins with the kind. The public TypeCode methods of the library fail on
unions, recursive types and more, so TypeCodes are read and made here, and nowhere through those methods.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Mapping
from typing import Any, Final

from omniORB import tcInternal

from adapters.base import DeadLetterError
from adapters.cosnotification import shims
from adapters.cosnotification.stubs import CORBA, omniORB
from mappings import idl_types as idl

INDIRECT: Final = (-1, 0xFFFF_FFFF)  # how the library marks a place that stands for another descriptor
BASIC: Final[Mapping[int, idl.Basic]] = {
    0: idl.NULL, 1: idl.VOID, 2: idl.SHORT, 3: idl.LONG, 4: idl.USHORT, 5: idl.ULONG, 6: idl.FLOAT, 7: idl.DOUBLE,
    8: idl.BOOLEAN, 9: idl.CHAR, 10: idl.OCTET, 11: idl.ANY, 12: idl.TYPECODE, 23: idl.LONGLONG, 24: idl.ULONGLONG,
    25: idl.LONGDOUBLE, 26: idl.WCHAR,
}  # fmt: skip
_BASIC_KINDS: Final = {basic.kind: kind for kind, basic in BASIC.items()}
_OBJECT_IDS: Final = ("", "IDL:", "IDL:omg.org/CORBA/Object:1.0", None)  # JacORB writes "IDL:"
_MODIFIERS: Final = ("none", "custom", "abstract", "truncatable")
_TYPE_CODES: Final[Mapping[int, type]] = {
    14: tcInternal.TypeCode_objref,
    15: tcInternal.TypeCode_struct,
    16: tcInternal.TypeCode_union,
    17: tcInternal.TypeCode_enum,
    18: tcInternal.TypeCode_string,
    19: tcInternal.TypeCode_sequence,
    20: tcInternal.TypeCode_array,
    21: tcInternal.TypeCode_alias,
    22: tcInternal.TypeCode_except,
    27: tcInternal.TypeCode_wstring,
    28: tcInternal.TypeCode_fixed,
    29: tcInternal.TypeCode_value,
    30: tcInternal.TypeCode_value_box,
}


def type_code(descriptor: Any) -> Any:
    """The library's TypeCode around a descriptor."""
    if isinstance(descriptor, int):
        return tcInternal.createTypeCode(descriptor)
    return _TYPE_CODES[descriptor[0]](descriptor)


def target(descriptor: Any) -> Any:
    """What an indirection stands for: the descriptor itself, or one that was compiled in."""
    found = descriptor[1][0]
    return omniORB.findType(found) if isinstance(found, str) else found


def plain(descriptor: Any) -> Any:
    """The type behind typedefs, and behind indirections: other ORBs write a type once, and then point to it."""
    while isinstance(descriptor, tuple) and (descriptor[0] == 21 or descriptor[0] in INDIRECT):
        descriptor = descriptor[3] if descriptor[0] == 21 else target(descriptor)
    return descriptor


def member_name(name: str, index: int) -> str:
    """As in the IDL: the library puts `_` before Python's keywords; a peer may leave names out of its TypeCodes."""
    if name.startswith("_") and keyword.iskeyword(name[1:]):
        return name[1:]
    return name or f"_{index + 1}"


def sent_name(name: str) -> str:
    """The reverse for names in descriptors that we made: the library takes one `_` off a name before it sends it."""
    return name[1:] if name.startswith("__") else name


def members(descriptor: Any) -> Iterator[tuple[str, Any]]:
    """Attribute and descriptor of each member of a struct, exception or valuetype (its own members only)."""
    first, step = (7, 3) if descriptor[0] == 29 else (4, 2)
    return zip(descriptor[first::step], descriptor[first + 1 :: step], strict=True)


# From the wire --------------------------------------------------------------------------------------------------------------


def type_of(descriptor: Any) -> idl.IdlType:
    """Raises DeadLetterError for kinds that the model does not have."""
    return _read(descriptor, ())


def _read(descriptor: Any, around: tuple[Any, ...]) -> idl.IdlType:
    if isinstance(descriptor, int):
        basic = BASIC.get(descriptor)
        if basic is None:
            raise _unsupported(descriptor)
        return basic
    kind = descriptor[0]
    if kind in INDIRECT:
        meant = target(descriptor)
        if any(outer is meant for outer in around):
            return idl.Recursive(meant[1] if kind_of(meant) == 21 else meant[2])
        return _read(meant, around)
    inside = (*around, descriptor)
    if kind == 22 and around and len(descriptor) == 4:
        raise _empty_exception(descriptor[3])
    match kind:
        case 14:
            return idl.OBJECT if descriptor[1] in _OBJECT_IDS else idl.ObjRef(descriptor[1], descriptor[2])
        case 15:
            return idl.Struct(descriptor[2], descriptor[3], _members(descriptor, inside))
        case 22:
            return idl.Exception_(descriptor[2], descriptor[3], _members(descriptor, inside))
        case 16:
            return _union(descriptor, inside)
        case 17:
            return idl.Enum(descriptor[1], descriptor[2], tuple(item._n for item in descriptor[3]))
        case 18:
            return idl.String(descriptor[1])
        case 27:
            return idl.WString(descriptor[1])
        case 28:
            return idl.Fixed(descriptor[1], descriptor[2])
        case 19:
            return idl.Sequence(_read(descriptor[1], inside), descriptor[2])
        case 20:
            return idl.Array(_read(descriptor[1], inside), descriptor[2])
        case 21:
            return idl.Alias(descriptor[1], descriptor[2], _read(descriptor[3], inside))
        case 29:
            base = None if descriptor[6] == 0 else _read(descriptor[6], inside)
            own = tuple(
                idl.Member(member.name, member.type, "public" if visibility else "private")
                for member, visibility in zip(_members(descriptor, inside), descriptor[9::3], strict=True)
            )
            return idl.Value(descriptor[2], descriptor[3], base, own, _MODIFIERS[descriptor[4]])
        case 30:
            return idl.ValueBox(descriptor[2], descriptor[3], _read(descriptor[4], inside))
    raise _unsupported(kind)


def kind_of(descriptor: Any) -> int:
    return descriptor if isinstance(descriptor, int) else int(descriptor[0])


def _members(descriptor: Any, inside: tuple[Any, ...]) -> tuple[idl.Member, ...]:
    return tuple(
        idl.Member(member_name(name, index), _read(inner, inside))
        for index, (name, inner) in enumerate(members(descriptor))
    )


def _union(descriptor: Any, inside: tuple[Any, ...]) -> idl.Union:
    _, _, id_, name, discriminator, default, arms = descriptor[:7]
    spell = label_of(discriminator)
    return idl.Union(
        id_,
        name,
        _read(discriminator, inside),
        tuple(
            idl.UnionMember(None if index == default else spell(label), member_name(arm, index), _read(inner, inside))
            for index, (label, arm, inner) in enumerate(arms)
        ),
    )


def label_of(discriminator: Any) -> Any:
    """From the library's value of a discriminator to the model's."""
    kind = kind_of(plain(discriminator))
    return {8: bool, 17: lambda item: item._n}.get(kind, lambda label: label)


def _empty_exception(name: str) -> DeadLetterError:
    return DeadLetterError(
        "COR-TYPE", f"an exception without members ({name}) inside another type hangs the ORB library"
    )


def _unsupported(kind: int) -> DeadLetterError:
    return DeadLetterError(
        "COR-TYPE", f"a value of TypeCode kind {kind} ({CORBA.TCKind._item(kind)}) cannot be carried"
    )


# To the wire ----------------------------------------------------------------------------------------------------------------


def descriptor_of(type_: idl.IdlType) -> Any:
    return _write(type_, {})


def _write(type_: idl.IdlType, holes: dict[str, list[Any]]) -> Any:
    """`holes` has, for each enclosing type by id, the list that stands in for it until its descriptor is known."""
    match type_:
        case idl.Basic("Object"):
            return CORBA.TC_Object._d
        case idl.Basic(kind):
            return _BASIC_KINDS[kind]
        case idl.String(bound):
            return (18, bound)
        case idl.WString(bound):
            return (27, bound)
        case idl.Fixed(digits, scale):
            return (28, digits, scale)
        case idl.ObjRef(id_, name):
            return (14, id_, name)
        case idl.Enum(id_, name, labels):
            return (17, id_, name, tuple(shims.EnumItem(label, n) for n, label in enumerate(labels)))
        case idl.Sequence(element, bound):
            return (19, _write(element, holes), bound)
        case idl.Array(element, length):
            return (20, _write(element, holes), length)
        case idl.Recursive(id_):
            if id_ not in holes:
                raise DeadLetterError("COR-VALUE", f"no enclosing type is {id_}")
            return (-1, holes[id_])
    if not type_.id:
        raise DeadLetterError(
            "COR-TYPE",
            f"{type_.kind} {type_.name} has no repository id: the ORB library takes it for an object reference",
        )
    if isinstance(type_, idl.Exception_) and holes and not type_.members:
        raise _empty_exception(type_.name)
    hole: list[Any] = [type_.id]
    holes = {**holes, type_.id: hole}
    hole[0] = _write_named(type_, holes)
    return hole[0]


def _write_named(type_: idl.IdlType, holes: dict[str, list[Any]]) -> Any:
    match type_:
        case idl.Alias(id_, name, inner):
            return (21, id_, name, _write(inner, holes))
        case idl.Struct(id_, name, parts):
            made = shims.createUnknownStruct(id_, [_escaped(member.name) for member in parts])
            return (15, made, id_, name, *_write_members(parts, holes))
        case idl.Exception_(id_, name, parts):
            made = shims.createUnknownUserException(id_, [_escaped(member.name) for member in parts])
            return (22, made, id_, name, *_write_members(parts, holes))
        case idl.Union():
            return _write_union(type_, holes)
        case idl.ValueBox(id_, name, inner):
            shims.allow_value_box(id_)
            return (30, shims.createUnknownValue(id_, 0), id_, name, _write(inner, holes))
        case idl.Value(id_, name, base, parts, modifier):
            base_desc: Any = 0 if base is None else _write(base, holes)
            base_ids = (id_, *(base_desc[5] or (base_desc[2],))) if modifier == "truncatable" and base_desc else None
            made = shims.createUnknownValue(id_, base_desc)
            head = (29, made, id_, name, _MODIFIERS.index(modifier), base_ids, base_desc)
            flat = [(_escaped(p.name), _write(p.type, holes), int(p.visibility == "public")) for p in parts]
            return (*head, *(item for member in flat for item in member))
    raise AssertionError(type_)


def _write_members(parts: tuple[idl.Member, ...], holes: dict[str, list[Any]]) -> Iterator[Any]:
    for member in parts:
        yield _escaped(member.name)
        yield _write(member.type, holes)


def _escaped(name: str) -> str:
    return f"_{name}" if name.startswith("_") else name


def _write_union(type_: idl.Union, holes: dict[str, list[Any]]) -> Any:
    discriminator = _write(type_.discriminator, holes)
    plain = discriminator
    while kind_of(plain) == 21:
        plain = plain[3]
    labels: Mapping[Any, Any] = {item._n: item for item in plain[3]} if kind_of(plain) == 17 else {}
    used = {member.label for member in type_.members}
    arms = tuple(
        (
            _unused_label(plain, used) if member.label is None else labels.get(member.label, member.label),
            _escaped(member.name),
            _write(member.type, holes),
        )
        for member in type_.members
    )
    default = next((n for n, member in enumerate(type_.members) if member.label is None), -1)
    if default == 0:
        raise DeadLetterError(
            "COR-TYPE",
            f"union {type_.name} begins with its default arm: the ORB library crashes when it receives such a type",
        )
    made = shims.createUnknownUnion(type_.id, default, arms)
    by_label = {arm[0]: arm for n, arm in enumerate(arms) if n != default}
    return (
        16,
        made,
        type_.id,
        type_.name,
        discriminator,
        default,
        arms,
        arms[default] if default >= 0 else None,
        by_label,
    )


def _unused_label(discriminator: Any, used: set[Any]) -> Any:
    """Something of the right type to stand where the default arm has no label; its value says nothing."""
    match kind_of(discriminator):
        case 17:
            return next((item for item in discriminator[3] if item._n not in used), discriminator[3][0])
        case 8:
            return next((label for label in (False, True) if label not in used), False)
        case 9:
            return next(chr(n) for n in range(256) if chr(n) not in used)
    return next(n for n in range(len(used) + 1) if n not in used)
