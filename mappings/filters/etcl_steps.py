"""The component operators (RULES.md 3.3): each step of a component becomes a function from one located value to the next.

A step that leads nowhere raises Unresolved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from mappings.filters import etcl_tree as tree
from mappings.filters.etcl_values import (
    Located,
    Operand,
    Unresolved,
    active_arm,
    is_collection,
    is_text,
    members_of,
    operand,
    stripped,
    without_anys,
)
from mappings.idl_types import ULONG, Alias, Array, IdlType, Member, Sequence, Struct, Union, UnionMember
from mappings.model import NO_ARM, Any_

Walk: TypeAlias = Callable[[Located], Located]


def compile_step(step: tree.Step) -> Walk:
    match step:
        case tree.Member(name=name):
            return lambda located: member(located, name)
        case tree.Position(number=number):
            return lambda located: _member_at(located, number)
        case tree.Arm(label=label):
            return lambda located: _arm(located, label)
        case tree.Index(number=number):
            return lambda located: _element(located, number)
        case tree.Pair(name=name):
            return lambda located: pair(located, name)


def member(located: Located, name: str) -> Located:
    """`.name`: of a struct, or of a union whose active arm has that name."""
    here = stripped(located)
    if isinstance(here.type, Union):
        return _arm_value(here, _declared_arms(here.type).get(name), f"arm {name}")
    for candidate in _members(here):
        if candidate.name == name:
            return _member_value(here, candidate)
    raise Unresolved(f"{_named(here.type)} has no member {name}")


def _member_at(located: Located, number: int) -> Located:
    """`.N`: the N-th member of a struct; the N-th declared arm of a union, if it is active."""
    here = stripped(located)
    if isinstance(here.type, Union):
        arms = list(_declared_arms(here.type).values())
        return _arm_value(here, arms[number] if number < len(arms) else None, f"arm {number}")
    members = _members(here)
    if number >= len(members):
        raise Unresolved(f"{_named(here.type)} has only {len(members)} members")
    return _member_value(here, members[number])


def _members(here: Located) -> tuple[Member, ...]:
    members = members_of(here.type)
    if members is None:
        raise Unresolved(f"{_named(here.type)} has no members")
    return members


def _member_value(here: Located, which: Member) -> Located:
    if here.value is None:
        raise Unresolved(f"{_named(here.type)} is nil")
    return Located(which.type, here.value[which.name], here)


def _element(located: Located, number: int) -> Located:
    """`[N]`"""
    here = stripped(located)
    if not isinstance(here.type, Sequence | Array):
        raise Unresolved(f"{_named(here.type)} has no elements")
    if number >= len(here.value):
        raise Unresolved(f"there are only {len(here.value)} elements")
    return Located(here.type.element, here.value[number], here)


def pair(located: Located, name: str) -> Located:
    """`(name)`: the value of the first of the name-value pairs that has the name."""
    here = stripped(located)
    if not isinstance(here.type, Sequence | Array):
        raise Unresolved(f"{_named(here.type)} is no sequence of name-value pairs")
    found = _find_pair(here, here.type.element, name)
    if found is None:
        raise Unresolved(f"there is no pair named {name}")
    return found


def _find_pair(here: Located, element: IdlType, name: str) -> Located | None:
    members = members_of(element)
    if members is not None and len(members) == 2 and is_text(members[0].type) and isinstance(element, Struct):
        key, second = members  # the usual case, which need not look at the type of each element
        for value in here.value:
            if value[key.name] == name:
                return Located(second.type, value[second.name], Located(element, value, here))
        return None
    for value in here.value:
        found = _pair_value(stripped(Located(element, value, here)), name)
        if found is not None:
            return found
    return None


def _pair_value(here: Located, name: str) -> Located | None:
    """The second member of a struct of two whose first is a string of that name."""
    members = members_of(here.type)
    if members is None or len(members) != 2 or not is_text(members[0].type) or here.value is None:
        return None
    key, value = members
    return Located(value.type, here.value[value.name], here) if here.value[key.name] == name else None


def inside(located: Located, name: str) -> Located:
    """`$.name` of an event's value: a member, a property of a PropertySeq, a single Property, or a typedef of that name (3.2)."""
    here = stripped(located)
    why = f"{_named(here.type)} has no {name}"
    if isinstance(here.type, Union) or members_of(here.type) is not None:
        try:
            return member(here, name)
        except Unresolved as unresolved:
            why = str(unresolved)
    if is_collection(here.type):
        found = _find_pair(here, here.type.element, name)  # type: ignore[union-attr]
    else:
        found = _pair_value(here, name)
    found = found or _typedef(located, name)
    if found is None:
        raise Unresolved(why)
    return found


def _typedef(located: Located, name: str) -> Located | None:
    while True:
        type_ = located.type
        if isinstance(type_, Alias):
            if type_.name == name:
                return located
            located = Located(type_.type, located.value, located)
        elif isinstance(located.value, Any_):
            located = Located(located.value.type, located.value.value)
        else:
            return None


# Unions -------------------------------------------------------------------------------------------------------------------


def _declared_arms(union: Union) -> dict[str, UnionMember]:
    """Each arm once, in order: an arm with several labels is several entries of the type."""
    arms: dict[str, UnionMember] = {}
    for candidate in union.members:
        arms.setdefault(candidate.name, candidate)
    return arms


def _arm_value(here: Located, wanted: UnionMember | None, what: str) -> Located:
    assert isinstance(here.type, Union)
    if wanted is None:
        raise Unresolved(f"{_named(here.type)} has no {what}")
    active = active_arm(here.type, here.value.d)
    if active is None or active.name != wanted.name or here.value.v is NO_ARM:
        raise Unresolved(f"{what} of {_named(here.type)} is not active")
    return Located(active.type, here.value.v, here)


def _arm(located: Located, label: bool | int | str | None) -> Located:
    """`.(label)`: labels that share an arm stand for each other; a label that is not declared stands for the default arm."""
    here = stripped(located)
    if not isinstance(here.type, Union):
        raise Unresolved(f"{_named(here.type)} is no union")
    arms = here.type.members
    wanted = next((arm for arm in arms if _same_label(arm.label, label)), None)
    if wanted is None and isinstance(label, str):
        wanted = _declared_arms(here.type).get(label)
    if wanted is None:
        wanted = next((arm for arm in arms if arm.label is None), None)
    return _arm_value(here, wanted, "default arm" if label is None else f"arm for label {label}")


def _same_label(declared: bool | int | str | None, label: bool | int | str | None) -> bool:
    return declared.__class__ is label.__class__ and declared == label


def is_default(located: Located) -> bool:
    """`default`: whether the union's default arm is active."""
    here = stripped(located)
    if not isinstance(here.type, Union):
        raise Unresolved(f"{_named(here.type)} is no union")
    active = active_arm(here.type, here.value.d)
    return active is not None and active.label is None


# What ends a component ----------------------------------------------------------------------------------------------------


def length(located: Located) -> Located:
    here = stripped(located)
    if not is_collection(here.type):
        raise Unresolved(f"{_named(here.type)} has no _length")
    return Located(ULONG, len(here.value))


def discriminator(located: Located) -> Located:
    here = stripped(located)
    if not isinstance(here.type, Union):
        raise Unresolved(f"{_named(here.type)} is no union")
    return Located(here.type.discriminator, here.value.d, here)


def type_id(located: Located) -> str:
    return _identity(located, "name")


def repository_id(located: Located) -> str:
    return _identity(located, "id")


def _identity(located: Located, attribute: str) -> str:
    type_ = without_anys(located).type
    text: Any = getattr(type_, attribute, "")
    if not text:
        raise Unresolved(f"the {attribute} of {_named(type_)} is not known")
    return str(text)


LASTS: Final[Mapping[str, Callable[[Located], Operand]]] = {
    "_length": lambda located: operand(length(located)),
    "_d": lambda located: operand(discriminator(located)),
    "_type_id": type_id,
    "_repos_id": repository_id,
}


def _named(type_: IdlType) -> str:
    name = getattr(type_, "name", "")
    return f"{type_.kind} {name}" if name else type_.kind
