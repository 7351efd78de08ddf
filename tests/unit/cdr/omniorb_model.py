"""Types and values of the model as omniORBpy's descriptors and objects, for comparing what both marshal.

It is independent of the adapter's own conversion, which is itself under test elsewhere, and makes descriptors as the IDL compiler
does: a named type is one object wherever it occurs, so that the ORB writes an indirection for its second occurrence.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from omniORB import CORBA, tcInternal

from mappings.cdr import typecode_kinds as kinds
from mappings.cdr.sizes import smallest_size
from mappings.idl_types import (
    OCTET,
    ULONGLONG,
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
from mappings.model import NO_ARM, Any_
from mappings.type_compiler import free_recursions


@contextmanager
def plain_orb() -> Iterator[Any]:
    """An ORB with everything as it comes, but for the code set; destroyed, because a process can have only one."""
    # An ORB that ran before in this process, with other options, leaves them behind: name each one that matters.
    options = {"configFile": "none", "nativeCharCodeSet": "UTF-8", "useTypeCodeIndirections": "1"}
    arguments = [word for name, value in options.items() for word in (f"-ORB{name}", value)]
    orb = CORBA.ORB_init(["test", *arguments], CORBA.ORB_ID)
    try:
        yield orb
    finally:
        orb.destroy()


class CannotMarshal(Exception):
    """A known limit of omniORBpy 4.3.3: the comparison has nothing to say here."""


class Record:
    """A struct or union of no particular class."""


class Item:
    def __init__(self, label: str, number: int) -> None:
        self._n = label
        self._v = number


class Converter:
    """For one comparison; `orb` makes references out of strings."""

    def __init__(self, orb: Any, *, little: bool) -> None:
        self._orb = orb
        self._little = little
        self._inside_value = False
        self._made: dict[Any, Any] = {}
        self._boxed: list[Any] = []

    # Types --------------------------------------------------------------------------------------------------------------

    def typecode(self, type_: IdlType) -> Any:
        return tcInternal.createTypeCode(self.descriptor(type_, {}))

    def descriptor(self, type_: IdlType, around: dict[str, list[Any]]) -> Any:
        match type_:
            case Basic("longdouble"):
                raise CannotMarshal("long double: NO_IMPLEMENT")
            case Basic("Object"):
                return tcInternal.tv_objref if isinstance(tcInternal.tv_objref, tuple) else CORBA.TC_Object._d
            case Basic(kind):
                return kinds.BASIC_NUMBERS[kind]
            case String(bound):
                return (kinds.STRING, bound)
            case WString(bound):
                return (kinds.WSTRING, bound)
            case Fixed(digits, scale):
                return (kinds.FIXED, digits, scale)
            case Sequence(element, bound):
                return (kinds.SEQUENCE, self.descriptor(element, around), bound)
            case Array(element, length):
                return (kinds.ARRAY, self.descriptor(element, around), length)
            case Recursive(id_):
                return (-1, around[id_])
        key = (type_, *((id_, id(around[id_])) for id_ in sorted(free_recursions(type_))))
        if key not in self._made:
            hole: list[Any] = [None]
            hole[0] = self._named(type_, {**around, type_.id: hole})
            self._made[key] = hole[0]
        return self._made[key]

    def _named(self, type_: Any, around: dict[str, list[Any]]) -> Any:
        def members() -> tuple[Any, ...]:
            return tuple(part for m in type_.members for part in (m.name, self.descriptor(m.type, around)))

        match type_:
            case Struct():
                return (kinds.STRUCT, Record, type_.id, type_.name, *members())
            case Exception_():
                made = type("Raised", (CORBA.UserException,), {"_NP_RepositoryId": type_.id})
                return (kinds.EXCEPT, made, type_.id, type_.name, *members())
            case Union():
                return self._union(type_, around)
            case Enum():
                items = tuple(Item(label, number) for number, label in enumerate(type_.members))
                return (kinds.ENUM, type_.id, type_.name, items)
            case Alias():
                return (kinds.ALIAS, type_.id, type_.name, self.descriptor(type_.type, around))
            case ObjRef():
                return (kinds.OBJREF, type_.id, type_.name)
            case ValueBox():
                if not smallest_size(type_.type):
                    raise CannotMarshal("a value with an empty body: assertion in the chunk stream")
                return (kinds.VALUE_BOX, Record, type_.id, type_.name, self.descriptor(type_.type, around))
            case Value():
                if not any(smallest_size(member.type) for member in type_.members):
                    raise CannotMarshal("a value with an empty body: assertion in the chunk stream")
                base = tcInternal.tv_null if type_.base is None else self.descriptor(type_.base, around)
                bases = (type_.id, type_.base.id) if type_.base and type_.modifier == "truncatable" else None
                flat = tuple(
                    part
                    for m in type_.members
                    for part in (m.name, self.descriptor(m.type, around), int(m.visibility == "public"))
                )
                made = type("Made", (CORBA.ValueBase,), {"_NP_RepositoryId": type_.id})
                modifier = kinds.MODIFIERS.index(type_.modifier)
                return (kinds.VALUE, made, type_.id, type_.name, modifier, bases, base, *flat)
        raise AssertionError(type_)

    def _union(self, type_: Union, around: dict[str, list[Any]]) -> Any:
        discriminator = self.descriptor(type_.discriminator, around)
        arms = []
        default = -1
        for index, member in enumerate(type_.members):
            if member.label is None:
                default = index
                label = self._numbered(type_.discriminator, discriminator, kinds.default_number(type_))
            else:
                label = self.label(type_.discriminator, discriminator, member.label)
            arms.append((label, member.name, self.descriptor(member.type, around)))
        by_label = {arm[0]: arm for index, arm in enumerate(arms) if index != default}
        default_arm = arms[default] if default >= 0 else None
        return (
            kinds.UNION, Record, type_.id, type_.name, discriminator, default, tuple(arms), default_arm, by_label,
        )  # fmt: skip

    def _numbered(self, type_: IdlType, descriptor: Any, number: int) -> Any:
        plain = unalias(type_)
        if isinstance(plain, Enum):
            return self.label(type_, descriptor, plain.members[number])
        return chr(number) if plain.kind == "char" else number

    def label(self, type_: IdlType, descriptor: Any, label: Any) -> Any:
        while descriptor.__class__ is tuple and descriptor[0] == kinds.ALIAS:
            descriptor = descriptor[3]
        plain = unalias(type_)
        if isinstance(plain, Enum):
            return descriptor[3][plain.members.index(label)]
        return int(label) if plain.kind == "boolean" else label

    # Values -------------------------------------------------------------------------------------------------------------

    def value(self, type_: IdlType, descriptor: Any, value: Any, around: dict[str, tuple[IdlType, Any]]) -> Any:
        if descriptor.__class__ is tuple and descriptor[0] == -1:
            type_, descriptor = around[type_.id]
        if hasattr(type_, "id"):
            around = {**around, type_.id: (type_, descriptor)}
        match type_:
            case Basic("any"):
                return self.any(value)
            case Basic("TypeCode"):
                return self.typecode(value)
            case Basic("Object") | ObjRef():
                return None if value is None else self._orb.string_to_object(value)
            case Fixed():
                return CORBA.fixed(format(value, "f"))
            case Enum():
                return self.label(type_, descriptor, value)
            case Alias():
                return self.value(type_.type, descriptor[3], value, around)
            case Struct() | Exception_():
                return self._fill(descriptor[1](), type_, descriptor, value, around)
            case Union():
                return self._union_value(type_, descriptor, value, around)
            case Sequence() | Array():
                if unalias(type_.element) == OCTET:
                    return value if type_.element == OCTET else list(value)
                if unalias(type_.element) == ULONGLONG and any(item >= 2**63 for item in value):
                    raise CannotMarshal("sequence<unsigned long long> with a number of 2^63 or more: SystemError")
                items = [self.value(type_.element, descriptor[1], item, around) for item in value]
                return "".join(items) if type_.element == Basic("char") else items
            case ValueBox() | Value():
                return None if value is None else self._value(type_, descriptor, value, around)
        return value

    def _value(self, type_: ValueBox | Value, descriptor: Any, value: Any, around: Any) -> Any:
        if self._inside_value and not self._little:
            raise CannotMarshal("big-endian values inside one another: assertion in the chunk stream")
        before, self._inside_value = self._inside_value, True
        if isinstance(type_, ValueBox):
            made = self._box(type_, descriptor, value, around)
        else:
            made = self._members(type_, descriptor, value, around)
        self._inside_value = before
        return made

    def _members(self, type_: Value, descriptor: Any, value: Any, around: Any) -> Any:
        made = descriptor[1]()
        while True:
            self._fill(made, type_, descriptor, value, around, step=3)
            if not isinstance(type_.base, Value):
                return made
            type_, descriptor = type_.base, descriptor[6]
            around = {**around, type_.id: (type_, descriptor)}

    def any(self, any_: Any_) -> Any:
        descriptor = self.descriptor(any_.type, {})
        return CORBA.Any(tcInternal.createTypeCode(descriptor), self.value(any_.type, descriptor, any_.value, {}))

    def _fill(self, made: Any, type_: Any, descriptor: Any, value: Any, around: Any, step: int = 2) -> Any:
        first = 8 if step == 3 else 5
        for index, member in enumerate(type_.members):
            setattr(
                made, member.name, self.value(member.type, descriptor[first + index * step], value[member.name], around)
            )
        return made

    def _union_value(self, type_: Union, descriptor: Any, value: Any, around: Any) -> Any:
        made: Any = Record()
        made._d = self.label(type_.discriminator, descriptor[4], value.d)
        made._v = None
        if value.v is not NO_ARM:
            default = next((index for index, member in enumerate(type_.members) if member.label is None), None)
            index = next((i for i, member in enumerate(type_.members) if member.label == value.d), default)
            assert index is not None
            made._v = self.value(type_.members[index].type, descriptor[6][index][2], value.v, around)
        return made

    def _box(self, type_: ValueBox, descriptor: Any, value: Any, around: Any) -> Any:
        content = self.value(type_.type, descriptor[4], value, around)
        if content is None:
            raise CannotMarshal("a box with nothing in it is a nil box")
        if any(content is other for other in self._boxed):
            raise CannotMarshal("an object in two boxes is marshalled once, even where Python shares it by chance")
        self._boxed.append(content)
        return content
