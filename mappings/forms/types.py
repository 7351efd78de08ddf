"""IDL types as JSON (FORMS.md section 1).

A type's form is judged as strictly as an IDL compiler would: names are there and differ, labels fit their discriminator,
a recursion stands inside the type that it names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple, cast

from mappings.checking import check_text
from mappings.errors import MappingError
from mappings.forms.labels import label_from_json, label_to_json
from mappings.forms.shape import Shape, under
from mappings.idl_types import (
    BASIC_KINDS,
    STRING,
    WSTRING,
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
    unalias,
)
from mappings.known_types import KNOWN
from mappings.limits import MAX_DEPTH, too_deep

_shape: Final = Shape("MAP-TYPE-FORM")
_ULONG: Final = 2**32 - 1
_MODIFIERS: Final = ("none", "custom", "abstract", "truncatable")
_DISCRIMINATORS: Final = ("boolean", "char", "short", "ushort", "long", "ulong", "longlong", "ulonglong")

_SIMPLE: Final[Mapping[str, IdlType]] = {
    **{kind: Basic(kind) for kind in BASIC_KINDS},
    "string": STRING,
    "wstring": WSTRING,
}


def type_from_json(form: Any, path: str = "type", *, registry: Mapping[str, IdlType] = KNOWN) -> IdlType:
    """Raises MappingError (MAP-TYPE-FORM, MAP-TYPE-UNKNOWN, MAP-DEPTH) with the path of the part that is wrong.

    `registry` holds the types that may be spoken of by repository id alone, besides those that are always known.
    """
    with under(path):
        return read_type(form, 0, registry)


def type_to_json(type_: IdlType) -> str | dict[str, Any]:
    """The form of a type; `type_from_json` reads an equal type from it."""
    if type(type_) is Basic or type_ in (STRING, WSTRING):
        return type_.kind
    if getattr(type_, "named", False):
        return {"kind": "named", "id": cast(Any, type_).id}
    return _WRITERS[type(type_)](type_)


class _Context(NamedTuple):
    """Where a form stands: the types around it, how deep, and which types are known by id."""

    enclosing: frozenset[str]
    depth: int
    registry: Mapping[str, IdlType]

    def inside(self, id_: str) -> _Context:
        return _Context(self.enclosing | {id_}, self.depth + 1, self.registry)

    def deeper(self) -> _Context:
        return _Context(self.enclosing, self.depth + 1, self.registry)


def read_type(form: Any, depth: int, registry: Mapping[str, IdlType] = KNOWN) -> IdlType:
    """As `type_from_json`, at a depth, with the path from here downwards."""
    return _read(form, _Context(frozenset(), depth, registry))


def _read(form: Any, context: _Context) -> IdlType:
    if type(form) is str:
        simple = _SIMPLE.get(form)
        if simple is None:
            raise _shape.error(f"there is no basic type {form[:40]!r}", hint=f"known: {', '.join(_SIMPLE)}")
        return simple
    if context.depth > MAX_DEPTH:
        raise too_deep()
    if type(form) is not dict:
        raise _shape.wrong("a basic type's name or an object with a kind", form)
    kind = form.get("kind")
    reader = _READERS.get(kind) if type(kind) is str else None
    if reader is None:
        raise _shape.error(f"there is no kind of type {kind!r:.40}", ".kind", f"known: {', '.join(_READERS)}")
    return reader(form, context)


def _part(form: dict[str, Any], key: str, context: _Context) -> IdlType:
    try:
        return _read(form[key], context)
    except MappingError as error:
        error.path = f".{key}{error.path}"
        raise


def _id_and_name(form: dict[str, Any]) -> tuple[str, str]:
    return _shape.text(form, "id", empty=True), _shape.text(form, "name", empty=True)


def _read_members(form: dict[str, Any], context: _Context, what: str) -> tuple[Member, ...]:
    members: list[Member] = []
    names: set[str] = set()
    with_visibility = ("visibility",) if what == "a valuetype's member" else ()
    with under(".members"):
        for index, item in enumerate(_shape.list(form["members"], "members")):
            with under(f"[{index}]"):
                _shape.object(item, what, ("name", "type"), with_visibility)
                name = _shape.text(item, "name")
                if name in names:
                    raise _shape.error(f"there are two members {name}", ".name")
                names.add(name)
                visibility = item.get("visibility", "public")
                if visibility not in ("public", "private"):
                    raise _shape.error(f"expected public or private, found {visibility!r:.40}", ".visibility")
                members.append(Member(name, _part(item, "type", context), visibility))
    return tuple(members)


def _read_struct(form: dict[str, Any], context: _Context) -> IdlType:
    kind = form["kind"]
    _shape.object(form, f"a type of kind {kind}", ("kind", "id", "name", "members"))
    id_, name = _id_and_name(form)
    members = _read_members(form, context.inside(id_), "a member")
    return Struct(id_, name, members) if kind == "struct" else Exception_(id_, name, members)


def _read_union(form: dict[str, Any], context: _Context) -> IdlType:
    _shape.object(form, "a union", ("kind", "id", "name", "discriminator", "members"))
    id_, name = _id_and_name(form)
    inner = context.inside(id_)
    discriminator = _part(form, "discriminator", inner)
    plain = unalias(discriminator)
    if not isinstance(plain, Enum) and plain.kind not in _DISCRIMINATORS:
        raise _shape.error(f"a union cannot be switched by {plain.kind}", ".discriminator")
    members: list[UnionMember] = []
    labels: set[Any] = set()
    with under(".members"):
        for index, item in enumerate(_shape.list(form["members"], "arms")):
            with under(f"[{index}]"):
                _shape.object(item, "an arm", ("label", "name", "type"))
                with under(".label"):
                    label = label_from_json(plain, item["label"])
                if label in labels:
                    raise _shape.error("this label is there already", ".label")
                labels.add(label)
                members.append(UnionMember(label, _shape.text(item, "name"), _part(item, "type", inner)))
    return Union(id_, name, discriminator, tuple(members))


def _read_enum(form: dict[str, Any], _context: _Context) -> IdlType:
    _shape.object(form, "an enum", ("kind", "id", "name", "members"))
    id_, name = _id_and_name(form)
    labels = _shape.list(form["members"], "labels")
    if not labels:
        raise _shape.error("an enum has at least one label", ".members")
    seen: set[str] = set()
    for index, label in enumerate(labels):
        with under(f".members[{index}]"):
            check_text(label, "label")
            if not label or label in seen:
                raise _shape.error("labels are not empty, and differ")
        seen.add(label)
    return Enum(id_, name, tuple(labels))


def _read_sequence(form: dict[str, Any], context: _Context) -> IdlType:
    _shape.object(form, "a sequence", ("kind", "element"), ("bound",))
    return Sequence(_part(form, "element", context.deeper()), _shape.integer(form, "bound", 0, _ULONG, absent=0))


def _read_array(form: dict[str, Any], context: _Context) -> IdlType:
    _shape.object(form, "an array", ("kind", "element", "length"))
    return Array(_part(form, "element", context.deeper()), _shape.integer(form, "length", 1, _ULONG))


def _read_alias(form: dict[str, Any], context: _Context) -> IdlType:
    _shape.object(form, "an alias", ("kind", "id", "name", "type"))
    id_, name = _id_and_name(form)
    return Alias(id_, name, _part(form, "type", context.inside(id_)))


def _read_string(form: dict[str, Any], _context: _Context) -> IdlType:
    kind = form["kind"]
    _shape.object(form, f"a {kind}", ("kind",), ("bound",))
    bound = _shape.integer(form, "bound", 0, _ULONG, absent=0)
    return String(bound) if kind == "string" else WString(bound)


def _read_fixed(form: dict[str, Any], _context: _Context) -> IdlType:
    _shape.object(form, "a fixed", ("kind", "digits", "scale"))
    digits = _shape.integer(form, "digits", 1, 31)
    return Fixed(digits, _shape.integer(form, "scale", 0, digits))


def _read_reference(form: dict[str, Any], _context: _Context) -> IdlType:
    _shape.object(form, "an object reference", ("kind", "id", "name"))
    return ObjRef(*_id_and_name(form))


def _read_box(form: dict[str, Any], context: _Context) -> IdlType:
    _shape.object(form, "a value box", ("kind", "id", "name", "type"))
    id_, name = _id_and_name(form)
    content = _part(form, "type", context.inside(id_))
    if isinstance(unalias(content), Value | ValueBox):
        raise _shape.error("a value box cannot hold a value", ".type")
    return ValueBox(id_, name, content)


def _read_value(form: dict[str, Any], context: _Context) -> IdlType:
    _shape.object(form, "a valuetype", ("kind", "id", "name", "members"), ("base", "modifier"))
    id_, name = _id_and_name(form)
    inner = context.inside(id_)
    base = None if form.get("base") is None else _part(form, "base", inner)
    if base is not None and not isinstance(base, Value):
        raise _shape.error("a valuetype's base is a valuetype", ".base")
    modifier = form.get("modifier", "none")
    if modifier not in _MODIFIERS:
        raise _shape.error(f"expected one of {', '.join(_MODIFIERS)}, found {modifier!r:.40}", ".modifier")
    members = _read_members(form, inner, "a valuetype's member")
    inherited: set[str] = set()
    ancestor = base
    while ancestor is not None:
        inherited.update(member.name for member in ancestor.members)
        ancestor = ancestor.base if isinstance(ancestor.base, Value) else None
    for index, member in enumerate(members):
        if member.name in inherited:
            raise _shape.error(f"a base has a member {member.name} already", f".members[{index}].name")
    return Value(id_, name, base, members, modifier)


def _read_recursive(form: dict[str, Any], context: _Context) -> IdlType:
    _shape.object(form, "a recursion", ("kind", "id"))
    id_ = _shape.text(form, "id", empty=True)
    if id_ not in context.enclosing:
        raise _shape.error(f"no type {id_} is around this place", ".id", "a recursion names an enclosing type")
    return Recursive(id_)


def _read_named(form: dict[str, Any], context: _Context) -> IdlType:
    _shape.object(form, "a named type", ("kind", "id"))
    id_ = _shape.text(form, "id")
    found = _known_by_name(id_)
    if found is None and id_ in context.registry:
        found = _as_named(context.registry[id_])
    if found is None:
        raise MappingError(
            "MAP-TYPE-UNKNOWN", f"no type {id_} is known here", path=".id",
            hint="spell the type out, or let the configuration load its IDL",
        )  # fmt: skip
    return found


@lru_cache
def _known_by_name(id_: str) -> IdlType | None:
    """One object for each known type, so that caches that go by identity find it again."""
    return _as_named(KNOWN[id_]) if id_ in KNOWN else None


def _as_named(type_: IdlType) -> IdlType:
    return cast(IdlType, replace(cast(Any, type_), named=True))


_READERS: Final[Mapping[str, Callable[[dict[str, Any], _Context], IdlType]]] = {
    "struct": _read_struct,
    "exception": _read_struct,
    "union": _read_union,
    "enum": _read_enum,
    "sequence": _read_sequence,
    "array": _read_array,
    "alias": _read_alias,
    "string": _read_string,
    "wstring": _read_string,
    "fixed": _read_fixed,
    "objref": _read_reference,
    "value_box": _read_box,
    "value": _read_value,
    "recursive": _read_recursive,
    "named": _read_named,
}


def _named(type_: Any) -> dict[str, Any]:
    return {"kind": type_.kind, "id": type_.id, "name": type_.name}


def _write_union(type_: Union) -> dict[str, Any]:
    plain = unalias(type_.discriminator)
    return {
        **_named(type_),
        "discriminator": type_to_json(type_.discriminator),
        "members": [
            {"label": label_to_json(plain, member.label), "name": member.name, "type": type_to_json(member.type)}
            for member in type_.members
        ],
    }


def _write_struct(type_: Struct | Exception_) -> dict[str, Any]:
    return {
        **_named(type_),
        "members": [{"name": member.name, "type": type_to_json(member.type)} for member in type_.members],
    }


def _write_value(type_: Value) -> dict[str, Any]:
    form = {
        **_named(type_),
        "base": None if type_.base is None else type_to_json(type_.base),
        "members": [
            {"name": member.name, "type": type_to_json(member.type), "visibility": member.visibility}
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
    Sequence: lambda type_: {"kind": "sequence", "element": type_to_json(type_.element), "bound": type_.bound},
    Array: lambda type_: {"kind": "array", "element": type_to_json(type_.element), "length": type_.length},
    Alias: lambda type_: {**_named(type_), "type": type_to_json(type_.type)},
    ObjRef: _named,
    ValueBox: lambda type_: {**_named(type_), "type": type_to_json(type_.type)},
    Value: _write_value,
    Recursive: lambda type_: {"kind": "recursive", "id": type_.id},
}
