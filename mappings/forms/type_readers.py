"""Readers of the JSON form of IDL types, one for each kind (FORMS.md section 1)."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple, cast

from mappings.checking import check_text, describe
from mappings.errors import MappingError
from mappings.forms.labels import label_from_json
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
from mappings.limits import CACHED_TYPES, MAX_DEPTH, too_deep
from mappings.type_compiler import height

_shape: Final = Shape("MAP-TYPE-FORM")
_ULONG: Final = 2**32 - 1
_MODIFIERS: Final = ("none", "custom", "abstract", "truncatable")
_DISCRIMINATORS: Final = ("boolean", "char", "short", "ushort", "long", "ulong", "longlong", "ulonglong")

_SIMPLE: Final[Mapping[str, IdlType]] = {
    **{kind: Basic(kind) for kind in BASIC_KINDS},
    "string": STRING,
    "wstring": WSTRING,
}


def read_type(form: Any, depth: int, registry: Mapping[str, IdlType] = KNOWN) -> IdlType:
    """The type of a form at a depth; errors have the path from here downwards.

    Equal forms give the same object, as long as only types that are always known are spoken of by name: event shapes repeat
    endlessly, and what else is kept for a type goes by its identity.
    """
    simple = _SIMPLE.get(form) if type(form) is str else None
    if simple is not None:
        return simple
    key = _key(form) if registry is KNOWN else None
    kept = None if key is None else _kept.get(key)
    if kept is None:
        type_ = _read(form, _Context(frozenset(), depth, registry))
        kept = type_, height(type_)
        if key is not None:
            if len(_kept) >= CACHED_TYPES:
                _kept.clear()
            _kept[key] = kept
    type_, levels = kept
    if depth + levels > MAX_DEPTH:
        raise too_deep()
    return type_


_kept: dict[bytes, tuple[IdlType, int]] = {}
_KEPT_OCTETS: Final = 1 << 16
"""Longer forms are not kept."""


def _key(form: Any) -> bytes | None:
    """The form as octets: version 2 of the format writes equal forms alike, and is ten times as fast as reading them."""
    try:
        key = marshal.dumps(form, 2)
    except ValueError:  # nested too deep, or no JSON at all: the readers say so
        return None
    return key if len(key) <= _KEPT_OCTETS else None


class _Context(NamedTuple):
    """Where a form stands: the types around it, how deep, and which types are known by id."""

    enclosing: frozenset[str]
    depth: int
    registry: Mapping[str, IdlType]

    def inside(self, id_: str) -> _Context:
        return _Context(self.enclosing | {id_}, self.depth + 1, self.registry)

    def deeper(self) -> _Context:
        return _Context(self.enclosing, self.depth + 1, self.registry)


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
        raise _shape.error(f"there is no kind of type {describe(kind)}", ".kind", f"known: {', '.join(_READERS)}")
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
                    raise _shape.error(f"expected public or private, found {describe(visibility)}", ".visibility")
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
        raise _shape.error(f"expected one of {', '.join(_MODIFIERS)}, found {describe(modifier)}", ".modifier")
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

KINDS: Final = tuple(_READERS)
"""Every kind of type that is not basic."""
