"""Readers of JSON values, compiled per IDL type: one walk that converts and checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from mappings.checking import (
    INTEGER_RANGES,
    check_all,
    missing_arm,
    no_such_arm,
    too_long,
    value_check,
    wrong_members,
    wrong_type,
)
from mappings.errors import MappingError
from mappings.forms.basics import BASIC_READERS, Reader, read_fixed, read_octets
from mappings.forms.type_readers import read_type
from mappings.idl_types import (
    Array,
    Basic,
    Enum,
    Exception_,
    Fixed,
    IdlType,
    Sequence,
    String,
    Struct,
    Union,
    Value,
    ValueBox,
    WString,
    unalias,
)
from mappings.known_types import KNOWN
from mappings.limits import MAX_DEPTH, too_deep
from mappings.model import Any_, UnionValue
from mappings.type_compiler import Arms, Cell, Fields, TypeCompiler, is_octets


def _all_between(low: int, high: int, form: list[int]) -> bool:
    return low <= min(form) and max(form) <= high


_AS_THEY_ARE = frozenset(
    ["null", "void", "boolean", "char", "wchar", "octet", "short", "ushort", "long", "ulong", "Object"]
)
"""Basic kinds whose form is the value: a list of them needs checking only."""

_NATIVE: Mapping[str, tuple[set[type], Callable[[list[Any]], bool]]] = {
    **{kind: ({int}, partial(_all_between, *INTEGER_RANGES[kind])) for kind in ("longlong", "ulonglong")},
    **{kind: ({float}, lambda _form: True) for kind in ("double", "longdouble")},
}
"""Basic kinds with two spellings: how to see that a whole list is in the spelling that is the value."""


class ValueReaders(TypeCompiler[Reader]):
    def __init__(self, registry: Mapping[str, IdlType]) -> None:
        super().__init__()
        self._registry = registry

    def basic(self, kind: str) -> Reader:
        if kind == "any":
            return self.read_any
        return self._read_typecode if kind == "TypeCode" else BASIC_READERS[kind]

    def read_any(self, form: Any, depth: int) -> Any_:
        if depth >= MAX_DEPTH:
            raise too_deep()
        if type(form) is not dict or form.keys() != {"type", "value"}:
            raise wrong_type('an any as {"type": …, "value": …}', form)
        place = ".type"
        try:
            type_ = read_type(form["type"], depth, self._registry)
            reader = self(type_)
            place = ".value"
            return Any_(type_, reader(form["value"], depth + 1))
        except MappingError as error:
            error.path = place + error.path
            raise

    def _read_typecode(self, form: Any, depth: int) -> IdlType:
        return read_type(form, depth, self._registry)

    def string(self, type_: String) -> Reader:
        return _checked(type_)

    def wstring(self, type_: WString) -> Reader:
        return _checked(type_)

    def fixed(self, type_: Fixed) -> Reader:
        return read_fixed(type_)

    def enum(self, type_: Enum) -> Reader:
        return _checked(type_)

    def struct(self, type_: Struct | Exception_ | Value, fields: Fields[Reader]) -> Reader:
        names = frozenset(name for name, _ in fields)

        def read(form: Any, depth: int) -> dict[str, Any]:
            if type(form) is not dict:
                raise wrong_type(f"an object with the members of {type_.name}", form)
            if form.keys() != names:
                raise wrong_members(type_.name, names, form)
            depth += 1
            value: dict[str, Any] = {}
            name = ""
            try:
                for name, field in fields:
                    value[name] = field(form[name], depth)
            except MappingError as error:
                error.path = f".{name}{error.path}"
                raise
            return value

        return read

    def union(self, type_: Union, discriminator: Reader, arms: Arms[Reader]) -> Reader:
        def read(form: Any, depth: int) -> UnionValue:
            if type(form) is not dict or "d" not in form or not form.keys() <= {"d", "v"}:
                raise wrong_type(f'union {type_.name} as {{"d": …, "v": …}}', form)
            place = ".d"
            try:
                label = discriminator(form["d"], depth + 1)
                place = ".v"
                arm = arms.selected_by(label)
                if arm is None:
                    if "v" in form:
                        raise no_such_arm(type_.name, label)
                    return UnionValue(label)
                if "v" not in form:
                    raise missing_arm(type_.name, label, arm.name)
                return UnionValue(label, arm.function(form["v"], depth + 1))
            except MappingError as error:
                error.path = place + error.path
                raise

        return read

    def sequence(self, type_: Sequence, element: Reader) -> Reader:
        bound = type_.bound

        def check_length(length: int) -> None:
            if bound and length > bound:
                raise too_long("sequence", length, bound)

        return _elements(type_, element, check_length)

    def array(self, type_: Array, element: Reader) -> Reader:
        def check_length(length: int) -> None:
            if length != type_.length:
                raise too_long("array", length, type_.length)

        return _elements(type_, element, check_length)

    def box(self, type_: ValueBox, content: Reader) -> Reader:
        return lambda form, depth: None if form is None else content(form, depth + 1)

    def value(self, type_: Value, fields: Fields[Reader]) -> Reader:
        members = self.struct(type_, fields)
        return lambda form, depth: None if form is None else members(form, depth)

    def recurse(self, cell: Cell[Reader]) -> Reader:
        def read(form: Any, depth: int) -> Any:
            if depth >= MAX_DEPTH:
                raise too_deep()
            return cell.function(form, depth)

        return read


def _checked(type_: IdlType) -> Reader:
    """Where the form is the value."""
    check = value_check(type_)

    def read(form: Any, depth: int) -> Any:
        check(form, depth)
        return form

    return read


def _elements(type_: Sequence | Array, element: Reader, check_length: Callable[[int], None]) -> Reader:
    if is_octets(type_):

        def read_bytes(form: Any, _depth: int) -> bytes:
            octets = read_octets(form)
            check_length(len(octets))
            return octets

        return read_bytes

    plain = unalias(type_.element)
    if isinstance(plain, Basic) and plain.kind in _AS_THEY_ARE:
        check = check_all(plain, value_check(plain))

        def read_as_it_is(form: Any, depth: int) -> list[Any]:
            if type(form) is not list:
                raise wrong_type("a list", form)
            check_length(len(form))
            check(form, depth)
            return form

        return read_as_it_is

    native = _NATIVE.get(plain.kind)

    def read(form: Any, depth: int) -> list[Any]:
        if type(form) is not list:
            raise wrong_type("a list", form)
        check_length(len(form))
        if native is not None and set(map(type, form)) == native[0] and native[1](form):
            return form
        depth += 1
        values: list[Any] = []
        append = values.append
        try:
            for item in form:
                append(element(item, depth))
        except MappingError as error:
            error.path = f"[{len(values)}]{error.path}"
            raise
        return values

    return read


_always_known = ValueReaders(KNOWN)


def value_reader(registry: Mapping[str, IdlType]) -> ValueReaders:
    """The compiler of readers for a registry. Only the one for what is always known keeps its work."""
    return _always_known if registry is KNOWN else ValueReaders(registry)
