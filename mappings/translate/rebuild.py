"""Puts a value together again out of properties: the walk of `flatten.py` the other way round.

Types come from `$se`, values from the properties as they are now: what an application changed is honoured as long as it fits.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from mappings.errors import MappingError
from mappings.idl_types import (
    BOOLEAN,
    DOUBLE,
    LONGLONG,
    NULL,
    OCTET,
    STRING,
    Alias,
    Array,
    Basic,
    Exception_,
    IdlType,
    Recursive,
    Sequence,
    Struct,
    Union,
    ValueBox,
    unalias,
)
from mappings.model import NO_ARM, Any_, UnionValue
from mappings.translate.explanation import Entry, Trace
from mappings.translate.flatten import DISCRIMINATOR, LENGTH, NotAlone, Scope, arm_of, is_octets, resolve
from mappings.translate.leaves import NUL_REPLACEMENT, REFERENCES, TEXTS, Leaf, leaf_of, text_of, unfit
from mappings.translate.names import Profile, TakenNames
from mappings.translate.type_tags import bad_metadata

MAX_DEPTH: Final = 200


class Removed(Exception):
    """None of a field's properties is there any more: an application took the field out."""


class Rebuilder:
    """Reads the fields of one message, or the entries of one map."""

    __slots__ = (
        "_alias_names", "_counts", "_found", "_inner_types", "_keys", "_largest", "_missed", "_taken", "_trace",
        "profile", "used", "values",
    )  # fmt: skip

    def __init__(
        self,
        profile: Profile,
        taken: TakenNames,
        values: Mapping[str, Any],
        inner_types: Mapping[str, IdlType | None],
        keys: TakenNames,
        counts: Counter[str],
        *,
        include_seq_alias: bool,
        largest: int,
        trace: Trace,
    ) -> None:
        self.profile = profile
        self.values = values
        self.used: set[str] = set()
        self._taken = taken
        self._inner_types = inner_types
        self._keys = keys
        self._counts = counts
        self._alias_names = include_seq_alias
        self._largest = max(largest, len(values))  # elements of a sequence
        self._trace = trace
        self._found = 0
        self._missed = ""

    def field(self, type_: IdlType, name: str, path: str) -> Any:
        """The value of a field. Raises Removed, MappingError."""
        self._found, self._missed = 0, ""
        value = self._walk(type_, name, path, 0, None)
        if self._missed:
            if not self._found:
                raise Removed
            raise MappingError(
                "MAP-PROPERTY-MISSING",
                f"property {self._missed} is missing, though others of its field are there",
                path=f"properties.{self._missed}",
                hint="whoever changes a message must keep all properties of a field, or none",
                rule="OC-META-1",
            )
        return value

    def take(self, name: str) -> tuple[str, Any]:
        """The property of a name in its turn: the name it really has, and its value, None where it is not there."""
        taken = self._taken.take(name)
        value = self.values.get(taken)
        if value is None:
            self._missed = self._missed or taken
        else:
            self._found += 1
            self.used.add(taken)
        return taken, value

    def _walk(self, type_: IdlType, name: str, path: str, depth: int, scope: Scope) -> Any:
        alias = None
        cls = type(type_)
        while cls is Alias or cls is Recursive:
            if cls is Alias:
                alias = alias or type_.name  # type: ignore[union-attr]
                scope = (type_.id, type_, scope)  # type: ignore[union-attr]
                type_ = type_.type  # type: ignore[union-attr]
            else:
                try:
                    type_, scope = resolve(type_.id, scope)  # type: ignore[union-attr]
                except NotAlone:
                    raise bad_metadata("a type speaks of one that is not there") from None
            cls = type(type_)
        if (leaf := leaf_of(type_)) is not None:
            return self._leaf(leaf, name, path, depth)
        if depth > MAX_DEPTH:
            raise bad_metadata("its types nest too deep")
        match type_:
            case Struct() | Exception_():
                scope = (type_.id, type_, scope)
                below = self.profile.below
                return {
                    member.name: self._walk(
                        member.type, below(name, member.name), f"{path}.{member.name}", depth + 1, scope
                    )
                    for member in type_.members
                }
            case Sequence() | Array():
                if is_octets(type_):
                    return self._octets(type_, name, path)
                return self._elements(type_, name, path, alias, depth, scope)
            case Union():
                return self._union(type_, name, path, depth, scope)
            case ValueBox():
                if self._inner_types.get(self._keys.take(name), type_) is None:
                    self._explain("", "OC-TYPE-16", path, "null")
                    return None
                return self._walk(type_.type, name, path, depth + 1, (type_.id, type_, scope))
            case Basic("any"):
                inner = self._inner_types.get(self._keys.take(name)) or self._guess(name)
                return Any_(inner, self._walk(inner, name, f"{path}.value", depth + 1, None))
            case Basic("null" | "void"):
                self._explain("", "OC-TYPE-14", path, "null")
                return None
            case _:
                return self._opaque(type_, name, path)

    def _leaf(self, leaf: Leaf, name: str, path: str, depth: int) -> Any:
        if leaf.kind in REFERENCES and self._inner_types.get(self._keys.take(name), 0) is None:
            self._explain("", leaf.rule, path, "null")
            return None
        taken, found = self.take(name)
        if found is None:
            return None
        value = leaf.read(found, taken)
        if leaf.kind in TEXTS and "\0" in value:
            value = value.replace("\0", NUL_REPLACEMENT)
            self._counts["OC-TYPE-10"] += 1
            self._explain(taken, "OC-TYPE-10", path, leaf.kind, lossless=False)
        else:
            rule = leaf.rule if leaf.rule != "OC-TYPE-1" or not depth else "SE-PROP-4"
            self._explain(taken, rule if taken == name else "OC-NAME-3", path, leaf.kind)
        return value

    def _elements(
        self, type_: Sequence | Array, name: str, path: str, alias: str | None, depth: int, scope: Scope
    ) -> list[Any]:
        if alias is not None and self._alias_names:
            name = self.profile.below(name, alias)
        if isinstance(type_, Array):
            length = type_.length
        else:
            taken, found = self.take(self.profile.below(name, LENGTH))
            if found is None:
                return []
            length = _LENGTH(found, taken)
            self._explain(taken, "OC-TYPE-18", path, "sequence")
            if length < 0:
                raise unfit(length, "length of a sequence", taken)
            if type_.bound and length > type_.bound:
                raise unfit(length, f"length of a sequence of at most {type_.bound}", taken)
        if length > self._largest:
            raise unfit(length, "length of what this message can hold", self.profile.below(name, LENGTH))
        below, element = self.profile.below, type_.element
        return [
            self._walk(element, below(name, str(ordinal)), f"{path}[{ordinal - 1}]", depth + 1, scope)
            for ordinal in range(1, length + 1)
        ]

    def _union(self, type_: Union, name: str, path: str, depth: int, scope: Scope) -> UnionValue | None:
        leaf = leaf_of(unalias(type_.discriminator))
        if leaf is None:
            raise bad_metadata("a union has no possible discriminator")
        taken, found = self.take(self.profile.below(name, DISCRIMINATOR))
        if found is None:
            return None
        label = leaf.read(found, taken)
        self._explain(taken, "OC-TYPE-12", f"{path}.d", leaf.kind)
        arm = arm_of(type_, label)
        if arm is None:
            return UnionValue(label, NO_ARM)
        below = self.profile.below(name, arm.name)
        return UnionValue(label, self._walk(arm.type, below, f"{path}.v", depth + 1, (type_.id, type_, scope)))

    def _octets(self, type_: Sequence | Array, name: str, path: str) -> bytes | None:
        taken, found = self.take(name)
        if found is None:
            return None
        data = octets_of(found, taken)
        if isinstance(type_, Array):
            if len(data) != type_.length:
                raise unfit(len(data), f"length of {type_.length} octets", taken)
        elif type_.bound and len(data) > type_.bound:
            raise unfit(len(data), f"length of at most {type_.bound} octets", taken)
        self._explain(taken, "OC-TYPE-19", path, "octets")
        return data

    def _opaque(self, type_: IdlType, name: str, path: str) -> Any:
        taken, found = self.take(name)
        if found is None:
            return None
        any_ = decoded(octets_of(found, taken), taken)
        if any_.type != type_:
            raise unfit("CDR of another type", type_.kind, taken)
        self._explain(taken, "OC-TYPE-20", path, type_.kind)
        return any_.value

    def _guess(self, name: str) -> IdlType:
        """The type of an any that `$se` does not know: an application put it there."""
        return _GUESSES.get(type(self.values.get(name)), NULL)

    def _explain(self, name: str, rule: str, path: str, kind: str, *, lossless: bool = True) -> None:
        if self._trace is not None:
            self._trace.append(Entry(f"properties.{name}" if name else "properties.$se", rule, path, kind, lossless))


_read_length = leaf_of(Basic("long"))
assert _read_length is not None
_LENGTH = _read_length.read


_GUESSES: Final[Mapping[type, IdlType]] = {
    bool: BOOLEAN,
    int: LONGLONG,
    float: DOUBLE,
    str: STRING,
    bytes: Sequence(OCTET),
}


def octets_of(value: Any, name: str) -> bytes:
    """Bytes of a map element, or of base64 text. Raises MappingError."""
    if isinstance(value, bytes):
        return value
    try:
        return b64decode(text_of(value) or "", validate=True)
    except (binascii.Error, ValueError):
        raise unfit(value, "octets (base64)", name) from None


def decoded(data: bytes, name: str, rule: str = "OC-TYPE-20") -> Any_:
    """An any out of its CDR encapsulation. Raises MappingError with the property's name."""
    from mappings.cdr import decode_any  # needed by few messages

    try:
        return decode_any(data)
    except MappingError as error:
        error.path = f"properties.{name}" if name else "body"
        error.rule = rule if name else "OC-BODY-6"
        raise
