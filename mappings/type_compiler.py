"""Functions made for an IDL type out of those for its parts, once per type: checks, readers, writers, encoders.

A compiler is a subclass that says how the function for each kind of type comes from the functions for its parts. This base
walks the type, ties the knots of recursive types, and remembers results: by identity first, because the types of an event
usually come out of a cache and hashing a large type takes longer than most values; then by equality.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, cast

from mappings.errors import MappingError
from mappings.idl_types import (
    OCTET,
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
from mappings.limits import CACHED_TYPES, MAX_DEPTH, too_deep

F = TypeVar("F", bound=Callable[..., Any])

Fields: TypeAlias = tuple[tuple[str, F], ...]


class Cell(Generic[F]):
    """Holds the function of a type that encloses others; set once the function is made."""

    __slots__ = ("fields", "function")

    def __init__(self) -> None:
        self.function: F
        self.fields: Fields[F] = ()


class Arm(NamedTuple, Generic[F]):
    name: str
    function: F


class Arms(NamedTuple, Generic[F]):
    """The arms of a union by label, and the default arm."""

    by_label: Mapping[bool | int | str, Arm[F]]
    default: Arm[F] | None

    def selected_by(self, label: bool | int | str) -> Arm[F] | None:
        return self.by_label.get(label, self.default)


class Scope(NamedTuple, Generic[F]):
    """The types around the one that is being compiled, by repository id."""

    cells: Mapping[str, Cell[F]]
    depth: int

    def inside(self, id_: str, cell: Cell[F]) -> Scope[F]:
        return Scope({**self.cells, id_: cell}, self.depth + 1)

    def deeper(self) -> Scope[F]:
        return Scope(self.cells, self.depth + 1)


class TypeCompiler(ABC, Generic[F]):
    """Call it with a type to get the type's function. Raises MAP-DEPTH and, for an open recursion, MAP-TYPE-FORM."""

    def __init__(self) -> None:
        self._by_identity: dict[int, tuple[IdlType, F]] = {}
        self._by_type: dict[IdlType, F] = {}

    def __call__(self, type_: IdlType) -> F:
        known = self._by_identity.get(id(type_))
        if known is not None:  # the entry keeps the type alive, so that nothing else can have its id
            return known[1]
        return self._remember(type_)

    def _remember(self, type_: IdlType) -> F:
        height(type_)  # before anything hashes it
        function = self._by_type.get(type_)
        if function is None:
            function = self.build(type_, Scope({}, 0))
            if len(self._by_type) >= CACHED_TYPES:
                self._by_type.clear()
            self._by_type[type_] = function
        if len(self._by_identity) >= CACHED_TYPES:
            self._by_identity.clear()
        self._by_identity[id(type_)] = (type_, function)
        return function

    def build(self, type_: IdlType, scope: Scope[F]) -> F:
        """The function for a type in the scope of those around it, not from the cache."""
        match type_:
            case Basic(kind):
                return self.basic(kind)
            case String():
                return self.string(type_)
            case WString():
                return self.wstring(type_)
            case Fixed():
                return self.fixed(type_)
            case Enum():
                return self.enum(type_)
            case ObjRef():
                return self.basic("Object")
            case Recursive(id_):
                if id_ not in scope.cells:
                    raise MappingError("MAP-TYPE-FORM", f"recursive type {id_} stands outside the type that it names")
                return self.recurse(scope.cells[id_])
            case Sequence(element):
                return self.sequence(type_, self.build(element, scope.deeper()))
            case Array(element):
                return self.array(type_, self.build(element, scope.deeper()))
            case _:
                cell: Cell[F] = Cell()
                return self._enclosing(type_, cell, scope.inside(type_.id, cell))

    def _enclosing(
        self, type_: Struct | Exception_ | Union | Alias | ValueBox | Value, cell: Cell[F], scope: Scope[F]
    ) -> F:
        match type_:
            case Struct() | Exception_():
                fields = tuple((member.name, self.build(member.type, scope)) for member in type_.members)
                cell.function = self.struct(type_, fields)
            case Union():
                cell.function = self.union(type_, self.build(type_.discriminator, scope), self._arms(type_, scope))
            case Alias():
                cell.function = self.build(type_.type, scope)
            case ValueBox():
                cell.function = self.box(type_, self.build(type_.type, scope))
            case Value():
                cell.fields = self._value_fields(type_, scope)
                cell.function = self.value(type_, cell.fields)
        return cell.function

    def _arms(self, type_: Union, scope: Scope[F]) -> Arms[F]:
        arms = {member.label: Arm(member.name, self.build(member.type, scope)) for member in type_.members}
        default = arms.pop(None, None)
        return Arms({label: arm for label, arm in arms.items() if label is not None}, default)

    def _value_fields(self, type_: Value, scope: Scope[F]) -> Fields[F]:
        """The members of a valuetype with those of its bases before its own."""
        inherited: Fields[F] = ()
        if isinstance(type_.base, Value):
            cell: Cell[F] = Cell()
            self._enclosing(type_.base, cell, scope.inside(type_.base.id, cell))
            inherited = cell.fields
        return (*inherited, *((member.name, self.build(member.type, scope)) for member in type_.members))

    @abstractmethod
    def basic(self, kind: str) -> F: ...

    @abstractmethod
    def string(self, type_: String) -> F: ...

    @abstractmethod
    def wstring(self, type_: WString) -> F: ...

    @abstractmethod
    def fixed(self, type_: Fixed) -> F: ...

    @abstractmethod
    def enum(self, type_: Enum) -> F: ...

    @abstractmethod
    def struct(self, type_: Struct | Exception_, fields: Fields[F]) -> F: ...

    @abstractmethod
    def union(self, type_: Union, discriminator: F, arms: Arms[F]) -> F: ...

    @abstractmethod
    def sequence(self, type_: Sequence, element: F) -> F: ...

    @abstractmethod
    def array(self, type_: Array, element: F) -> F: ...

    @abstractmethod
    def box(self, type_: ValueBox, content: F) -> F: ...

    @abstractmethod
    def value(self, type_: Value, fields: Fields[F]) -> F: ...

    @abstractmethod
    def recurse(self, cell: Cell[F]) -> F:
        """A function that calls the cell's, and raises MAP-DEPTH where the value nests too deep."""


def is_octets(type_: Sequence | Array) -> bool:
    """Whether the values are bytes rather than lists."""
    return unalias(type_.element) == OCTET


def parts_of(type_: IdlType) -> tuple[IdlType, ...]:
    """The types that a type consists of directly."""
    match type_:
        case Struct() | Exception_():
            return tuple(member.type for member in type_.members)
        case Union():
            return (type_.discriminator, *(member.type for member in type_.members))
        case Sequence() | Array():
            return (type_.element,)
        case Alias() | ValueBox():
            return (type_.type,)
        case Value():
            base = () if type_.base is None else (type_.base,)
            return (*base, *(member.type for member in type_.members))
        case _:
            return ()


def height(type_: IdlType) -> int:
    """How many levels of types are inside the type. Raises MAP-DEPTH where there are too many to compare, hash or walk."""
    levels = 0
    inside = parts_of(type_)
    while inside:
        levels += 1
        if levels > MAX_DEPTH:
            raise too_deep()
        inside = tuple(part for outer in inside for part in parts_of(outer))
    return levels


def free_recursions(type_: IdlType) -> frozenset[str]:
    """The repository ids of enclosing types that a type's recursions name but that are not part of it."""
    if isinstance(type_, Recursive):
        return frozenset((type_.id,))
    inner = frozenset[str]().union(*map(free_recursions, parts_of(type_)))
    return inner - {type_.id} if isinstance(type_, Struct | Exception_ | Union | Alias | ValueBox | Value) else inner


def substitute(type_: IdlType, whole: Mapping[str, IdlType]) -> IdlType:
    """The type with its open recursions replaced by the types that they name."""
    if isinstance(type_, Recursive):
        return whole.get(type_.id, type_)
    if isinstance(type_, Struct | Exception_ | Union | Alias | ValueBox | Value) and type_.id in whole:
        whole = {id_: other for id_, other in whole.items() if id_ != type_.id}
    if not whole:
        return type_
    match type_:
        case Struct() | Exception_() | Union():
            changed: Any = type_  # three classes with members of two classes, all handled alike
            members = tuple(replace(member, type=substitute(member.type, whole)) for member in changed.members)
            return cast(IdlType, replace(changed, members=members))
        case Sequence() | Array():
            return replace(type_, element=substitute(type_.element, whole))
        case Alias() | ValueBox():
            return replace(type_, type=substitute(type_.type, whole))
        case Value():
            base = None if type_.base is None else substitute(type_.base, whole)
            return replace(
                type_, base=base,
                members=tuple(replace(member, type=substitute(member.type, whole)) for member in type_.members),
            )  # fmt: skip
        case _:
            return type_
