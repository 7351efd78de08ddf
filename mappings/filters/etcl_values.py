"""Values as ETCL sees them: what an operand is, and how a typed value of an event becomes one (RULES.md 3.4).

An operand is one of

    bool, int, float      a boolean or a number: every integer kind, octet, float, double; fixed is read as a double
    str                   string, wstring
    Character             char, wchar: compares with strings, and with numbers as its code point
    EnumLabel             the label of an enum
    Located               anything that is not simple, with its type: it can be stepped into, but neither compared nor added
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final, TypeAlias

from mappings.filters.etcl_tree import Component
from mappings.idl_types import (
    Alias,
    Array,
    Enum,
    Exception_,
    IdlType,
    Member,
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
from mappings.model import Any_

NUMBERS: Final = frozenset((int, float, bool))
"""Classes that count, a boolean as 1 or 0 (RULES.md 3.4)."""

_MOST_LAYERS: Final = 100
_CONCRETE: Final = frozenset((Struct, Sequence, Array, Union, Enum, String, WString, Value, Exception_))


class Unresolved(Exception):
    """A component that leads nowhere in this event; the text says why.

    It is common, in traffic of many sorts, and nobody looks at most of them: whoever wants the FilterRuntimeError makes it then.
    """

    component: Component | None = None


class Character(str):
    __slots__ = ()


class EnumLabel(str):
    __slots__ = ()


class Located:
    """A value with its type, and the value that it stands in, where recursive types find what they stand for."""

    __slots__ = ("outer", "type", "value")

    def __init__(self, type_: IdlType, value: Any, outer: Located | None = None) -> None:
        self.type = type_
        self.value = value
        self.outer = outer


Operand: TypeAlias = bool | int | float | str | Located


def operand(located: Located) -> Operand:
    """The simple value, or the Located itself where it is not simple. Raises Unresolved for a nil value box."""
    return simple(located.type, located.value, located.outer)


def simple(type_: IdlType, value: Any, outer: Located | None = None) -> Operand:
    """`operand` for a type and a value; the common cases first, because this runs for every field of every event."""
    class_ = value.__class__
    if class_ in NUMBERS:
        return value  # type: ignore[no-any-return]  # no other kind has such values
    if class_ is str:
        if type_.__class__ is String or type_.__class__ is WString:
            return value  # type: ignore[no-any-return]
        if type_.__class__ is Enum:
            return EnumLabel(value)
    here = stripped(Located(type_, value, outer))
    value, kind = here.value, here.type.kind
    if isinstance(value, str):
        if kind in ("string", "wstring"):
            return value
        if kind in ("char", "wchar"):
            return Character(value)
        return EnumLabel(value) if isinstance(here.type, Enum) else here
    if isinstance(value, Decimal):
        return float(value)
    return value if isinstance(value, int | float) else here


def stripped(located: Located) -> Located:
    """The value behind layers of any, typedefs and value boxes, its type no longer a reference to an enclosing one."""
    if located.type.__class__ in _CONCRETE:
        return located
    for _ in range(_MOST_LAYERS):
        type_ = located.type
        if isinstance(type_, Alias):
            located = Located(type_.type, located.value, located)
        elif isinstance(located.value, Any_):
            located = Located(located.value.type, located.value.value)
        elif isinstance(type_, ValueBox):
            if located.value is None:
                raise Unresolved(f"the value box {type_.name} is nil")
            located = Located(type_.type, located.value, located)
        elif isinstance(type_, Recursive):
            located = Located(_enclosing(type_.id, located.outer), located.value, located)
        else:
            return located
    raise Unresolved("the value lies under too many layers of any")


def without_anys(located: Located) -> Located:
    """The value behind layers of any alone: its typedefs still have their names."""
    while isinstance(located.value, Any_):
        located = Located(located.value.type, located.value.value)
    if isinstance(located.type, Recursive):
        return Located(_enclosing(located.type.id, located.outer), located.value, located)
    return located


def _enclosing(id_: str, outer: Located | None) -> IdlType:
    while outer is not None:
        type_: IdlType | None = outer.type
        while type_ is not None:
            if getattr(type_, "id", None) == id_ and not isinstance(type_, Recursive):
                return type_
            type_ = type_.base if isinstance(type_, Value) else None  # a base's member may speak of the base
        outer = outer.outer
    raise Unresolved(f"the type {id_} is not known here")


def members_of(type_: IdlType) -> tuple[Member, ...] | None:
    """The members of a struct, exception or valuetype (its bases' first); None for other types."""
    if isinstance(type_, Struct | Exception_):
        return type_.members
    if isinstance(type_, Value):
        inherited = members_of(type_.base) if type_.base is not None else ()
        return (*(inherited or ()), *type_.members)
    return None


def active_arm(union: Union, discriminator: Any) -> UnionMember | None:
    """The arm that the discriminator selects, the default arm among them; None where it selects none."""
    default = None
    for member in union.members:
        if member.label is None:
            default = member
        elif member.label == discriminator:
            return member
    return default


def describe(value: Operand) -> str:
    """What an operand is, in words for an error message."""
    if isinstance(value, Located):
        name = getattr(value.type, "name", "")
        return f"{value.type.kind} {name}" if name else f"a value of type {value.type.kind}"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, Character):
        return "a character"
    if isinstance(value, EnumLabel):
        return "an enum label"
    return "a string" if isinstance(value, str) else "a number"


def is_collection(type_: IdlType) -> bool:
    return isinstance(type_, Sequence | Array)


def is_simple(located: Located) -> bool:
    """A number, boolean, character, string or enum label, behind whatever layers."""
    try:
        return not isinstance(operand(located), Located)
    except Unresolved:
        return False


def is_text(type_: IdlType) -> bool:
    """A string behind typedefs."""
    while isinstance(type_, Alias):
        type_ = type_.type
    return isinstance(type_, String | WString)
