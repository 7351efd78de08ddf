"""Takes a value apart into properties, one per leaf (SE-PROP-2 … SE-PROP-8, OC-TYPE-*): the walk that serves every type.

    struct, exception     one component per member                                              SE-PROP-4
    sequence, array       `_length` (sequences), then one component per element: 1, 2, 3 …      OC-TYPE-17, OC-TYPE-18
                          after the name of the typedef, where there is one                     OC-NAME-1
    octets                one String, base64                                                    OC-TYPE-19
    union                 `_d`, then the active arm                                             OC-TYPE-12
    any, value box        what is inside, as if it stood there; nil is noted in `$se`           OC-TYPE-13, OC-TYPE-16
    null, void            nothing                                                               OC-TYPE-14
    TypeCode, valuetype, long double inside a value     one String, base64 of CDR               OC-TYPE-20

`rebuild.py` is the same walk the other way round: both take names in the same order.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Final, TypeAlias

from mappings.errors import following
from mappings.idl_types import (
    Alias,
    Array,
    Basic,
    Exception_,
    IdlType,
    Recursive,
    Sequence,
    Struct,
    Union,
    UnionMember,
    ValueBox,
    unalias,
)
from mappings.model import NO_ARM, Any_, MessageProperty
from mappings.translate.explanation import Entry, Trace
from mappings.translate.leaves import REFERENCES, Leaf, leaf_of, property_type
from mappings.translate.names import Profile, TakenNames
from mappings.translate.options import Limits

LENGTH: Final = "_length"
DISCRIMINATOR: Final = "_d"

Scope: TypeAlias = "tuple[str, IdlType, Scope] | None"
"""The named types around a value, innermost first."""


class TooMuch(Exception):
    """A limit of OC-TYPE-21 is hit: the whole field must go another way."""


class NotAlone(Exception):
    """A part that must go as CDR speaks of a type around it, so that only the whole can."""


def resolve(id_: str, scope: Scope) -> tuple[IdlType, Scope]:
    """The enclosing type of this id, and what encloses it."""
    while scope is not None:
        if scope[0] == id_:
            return scope[1], scope[2]
        scope = scope[2]
    raise NotAlone


def arm_of(type_: Union, discriminator: bool | int | str) -> UnionMember | None:
    """The arm that a discriminator selects."""
    default = None
    for member in type_.members:
        if member.label is None:
            default = member
        elif member.label == discriminator:
            return member
    return default


def is_octets(type_: Sequence | Array) -> bool:
    element = unalias(type_.element)
    return type(element) is Basic and element.kind == "octet"


def base64_of(data: bytes) -> str:
    return b64encode(data).decode("ascii")


def encoded(type_: IdlType, value: Any) -> bytes:
    """The CDR encapsulation of the any. Raises MappingError."""
    from mappings.cdr import encode_any  # needed by few events

    return encode_any(Any_(type_, value))


class Flattener:
    """Writes the properties of one event's fields, or the elements of one map."""

    __slots__ = (
        "_alias_names", "_depth", "_elements", "_keys", "_limit", "_text_limit", "_trace", "inner_types", "out",
        "profile", "taken",
    )  # fmt: skip

    def __init__(
        self,
        profile: Profile,
        taken: TakenNames,
        limits: Limits,
        *,
        include_seq_alias: bool,
        trace: Trace,
        out: list[MessageProperty],
        inner_types: dict[str, IdlType | None],
        keys: TakenNames,
        elements: bool = False,
    ) -> None:
        self.profile = profile
        self.taken = taken
        self.out = out
        self.inner_types = inner_types  # of anys and nil boxes, by name
        self._keys = keys  # hands out the names of `inner_types`
        self._trace = trace
        self._alias_names = include_seq_alias
        self._elements = elements  # map elements: char and bytes exist, and no text is too long
        self._depth = limits.depth
        self._limit = len(out) + limits.properties
        self._text_limit = limits.property_bytes

    @property
    def room(self) -> int:
        """How many properties may still be written."""
        return self._limit - len(self.out)

    def field(self, type_: IdlType, value: Any, name: str, path: str) -> None:
        """Write a whole field. Raises TooMuch, having written nothing."""
        out, trace, taken, keys = len(self.out), len(self._trace or ()), self.taken.mark(), self._keys.mark()
        inner = len(self.inner_types)
        try:
            self._walk(type_, value, name, path, 0, None)
        except (TooMuch, NotAlone):
            del self.out[out:]
            self.taken.give_back(taken)
            self._keys.give_back(keys)
            for key in list(self.inner_types)[inner:]:
                del self.inner_types[key]
            if self._trace is not None:
                del self._trace[trace:]
            raise TooMuch from None

    def opaque(self, type_: IdlType, value: Any, name: str, path: str) -> None:
        """Write a whole map value as CDR. Raises TooMuch where there is no room."""
        self._opaque(type_, value, name, path, None)

    def _walk(self, type_: IdlType, value: Any, name: str, path: str, depth: int, scope: Scope) -> None:
        alias = None
        cls = type(type_)
        while cls is Alias or cls is Recursive:
            if cls is Alias:
                alias = alias or type_.name  # type: ignore[union-attr]
                scope = (type_.id, type_, scope)  # type: ignore[union-attr]
                type_ = type_.type  # type: ignore[union-attr]
            else:
                type_, scope = resolve(type_.id, scope)  # type: ignore[union-attr]
            cls = type(type_)
        if (leaf := leaf_of(type_)) is not None:
            self._leaf(leaf, value, name, path, depth)
            return
        if depth >= self._depth:
            raise TooMuch
        match type_:
            case Struct() | Exception_():
                scope = (type_.id, type_, scope)
                if not type_.members:
                    self._note(path, "SE-PROP-3", "", type_.kind)
                for member in type_.members:
                    below = self.profile.below(name, member.name)
                    self._walk(member.type, value[member.name], below, f"{path}.{member.name}", depth + 1, scope)
            case Sequence() | Array():
                if is_octets(type_):
                    self._octets(value, name, path)
                else:
                    self._elements_of(type_, value, name, path, alias, depth, scope)
            case Union():
                self._union(type_, value, name, path, depth, scope)
            case ValueBox():
                key = self._keys.take(name)
                if value is None:
                    self.inner_types[key] = None
                    self._note(path, "OC-TYPE-16", "", "null")
                else:
                    self._walk(type_.type, value, name, path, depth + 1, (type_.id, type_, scope))
            case Basic("any"):
                key = self._keys.take(name)
                self.inner_types[key] = value.type
                self._walk(value.type, value.value, name, f"{path}.value", depth + 1, None)
            case Basic("null" | "void"):
                self._note(path, "OC-TYPE-14", "", "null")
            case _:
                self._opaque(type_, value, name, path, scope)

    def _leaf(self, leaf: Leaf, value: Any, name: str, path: str, depth: int) -> None:
        rule = leaf.rule if leaf.rule != "OC-TYPE-1" or not depth else "SE-PROP-4"
        if leaf.kind in REFERENCES:
            key = self._keys.take(name)
            if value is None:
                self.inner_types[key] = None
                self._note(path, rule, "", "null")
                return
        written = value if leaf.write is None else leaf.write(value)
        jms = (leaf.element_type if self._elements else leaf.jms) or property_type(written)
        self._emit(name, jms, written, path, rule)

    def _elements_of(
        self, type_: Sequence | Array, value: Any, name: str, path: str, alias: str | None, depth: int, scope: Scope
    ) -> None:
        if alias is not None and self._alias_names:
            name = self.profile.below(name, alias)
        if type(type_) is Sequence:
            self._emit(self.profile.below(name, LENGTH), "int", len(value), path, "OC-TYPE-18")
        if len(value) > self._limit:
            raise TooMuch  # also where the elements themselves take no property
        element = type_.element
        for ordinal, each in enumerate(value, 1):
            below = self.profile.below(name, str(ordinal))
            self._walk(element, each, below, f"{path}[{ordinal - 1}]", depth + 1, scope)

    def _union(self, type_: Union, value: Any, name: str, path: str, depth: int, scope: Scope) -> None:
        scope = (type_.id, type_, scope)
        discriminator = leaf_of(unalias(type_.discriminator))
        assert discriminator is not None
        label = value.d
        written = label if discriminator.write is None else discriminator.write(label)
        jms = (discriminator.element_type if self._elements else discriminator.jms) or property_type(written)
        self._emit(self.profile.below(name, DISCRIMINATOR), jms, written, f"{path}.d", "OC-TYPE-12")
        if value.v is not NO_ARM and (arm := arm_of(type_, label)) is not None:
            below = self.profile.below(name, arm.name)
            self._walk(arm.type, value.v, below, f"{path}.v", depth + 1, scope)

    def _octets(self, value: bytes, name: str, path: str) -> None:
        if self._elements:
            self._emit(name, "bytes", value, path, "OC-BODY-5")
        elif len(value) > self._text_limit:
            raise TooMuch
        else:
            self._emit(name, "String", base64_of(value), path, "OC-TYPE-19")

    def _opaque(self, type_: IdlType, value: Any, name: str, path: str, scope: Scope) -> None:
        if scope is not None and speaks_of_outside(type_):
            raise NotAlone
        with following("OC-TYPE-20"):
            data = encoded(type_, value)
        if self._elements:
            self._emit(name, "bytes", data, path, "OC-BODY-5")
        else:
            self._emit(name, "String", base64_of(data), path, "OC-TYPE-20")

    def _emit(self, name: str, jms: str, value: Any, path: str, rule: str) -> None:
        if len(self.out) >= self._limit:
            raise TooMuch
        if jms == "String" and not self._elements and exceeds(value, self._text_limit):
            raise TooMuch
        taken = self.taken.take(name)
        self.out.append(MessageProperty(taken, jms, value))
        if self._trace is not None:
            self._trace.append(Entry(path, rule if taken == name else "OC-NAME-3", taken, jms, True))

    def _note(self, path: str, rule: str, to: str, type_: str) -> None:
        if self._trace is not None:
            self._trace.append(Entry(path, rule, to, type_, True))


def exceeds(text: str, limit: int) -> bool:
    """Whether a text takes more bytes than this; looks at the text itself only where its length leaves a doubt."""
    length = len(text)
    return length > limit or (length * 4 > limit and len(text.encode("utf-8", "surrogatepass")) > limit)


def speaks_of_outside(type_: IdlType) -> bool:
    """Whether a type holds a recursion to something that is not inside it."""
    return _walk_parts(type_, frozenset())


def _walk_parts(type_: IdlType, inside: frozenset[str]) -> bool:
    if type(type_) is Recursive:
        return type_.id not in inside
    if (id_ := getattr(type_, "id", None)) is not None:
        inside = inside | {id_}
    return any(_walk_parts(part, inside) for part in parts_of(type_))


def parts_of(type_: IdlType) -> list[IdlType]:
    """The types that a type is directly made of."""
    parts: list[IdlType] = []
    for attribute in ("element", "type", "discriminator", "base"):
        part = getattr(type_, attribute, None)
        if part is not None:
            parts.append(part)
    for member in getattr(type_, "members", ()):
        if not isinstance(member, str):
            parts.append(member.type)
    return parts
