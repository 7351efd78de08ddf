"""Where a component begins in the two forms of event (RULES.md 3.2): the lookup of `$name`, of `$.name`, and of `$`.

What can be decided from the text alone is decided when the filter is compiled; at run time a plain `$x` costs one pass over the
header's fields and one over the body's.
"""

from __future__ import annotations

from contextlib import suppress
from operator import attrgetter
from typing import Final

from mappings.event_forms import ANY_TYPE_NAME, structured_value
from mappings.filters import etcl_tree as tree
from mappings.filters.etcl_components import Clock, Form, Read, Root, steps_of_root
from mappings.filters.etcl_steps import inside
from mappings.filters.etcl_values import Located, Operand, Unresolved, is_simple, operand, simple
from mappings.idl_types import STRING, Struct, unalias
from mappings.known_types import STRUCTURED_EVENT, UTC_T
from mappings.model import NULL_ANY, StructuredEvent, UntypedEvent

_MEMBERS: Final = ("header", "filterable_data", "remainder_of_body")
_FIXED_HEADER: Final = ("domain_name", "type_name", "event_name")
_OF_AN_ANY: Final = {"domain_name": "", "type_name": ANY_TYPE_NAME, "event_name": ""}
_LISTS: Final = {("header", "variable_header"): "variable_header", ("filterable_data",): "filterable_data"}


def _curtime(clock: Clock) -> Root:
    return lambda event: Located(UTC_T, {"time": clock(), "inacclo": 0, "inacchi": 0, "tdf": 0})


# Structured events --------------------------------------------------------------------------------------------------------


def _structured_root(component: tree.Component, clock: Clock) -> Root:
    name = component.name
    if name == "curtime":
        return _curtime(clock)
    if name in _FIXED_HEADER:
        return lambda event: Located(STRING, getattr(event, name))
    if name is not None:
        return lambda event: _field(event, name)
    if not component.steps:
        return _structured_whole(component.last)
    match component.steps[0]:
        case tree.Member(name=member):
            return lambda event: _structured_member(event, member)
        case tree.Position():
            return _as_struct
        case _:
            return _remainder


def _structured_whole(last: str | None) -> Root:
    """`$` alone is the remainder where that is simple, else the struct; `$._length` and `$._d` can only mean the remainder."""
    if last in ("_length", "_d"):
        return _remainder
    if last is not None:
        return _as_struct
    return lambda event: _remainder(event) if is_simple(_remainder(event)) else _as_struct(event)


def _field(event: StructuredEvent, name: str) -> Located:
    for field in event.variable_header:
        if field[0] == name:
            return Located(field[1], field[2])
    for field in event.filterable_data:
        if field[0] == name:
            return Located(field[1], field[2])
    return _no_field(event, name)


def _no_field(event: StructuredEvent, name: str) -> Located:
    """`$name` where no field has that name is `$.name`."""
    if event.remainder_of_body is not NULL_ANY or name in _MEMBERS:
        with suppress(Unresolved):
            return _structured_member(event, name)
    raise Unresolved(f"the event has no field {name}, nor is there one inside its remainder_of_body")


def _structured_member(event: StructuredEvent, name: str) -> Located:
    """`$.name`: a member of the StructuredEvent itself, else something inside remainder_of_body."""
    if name in _MEMBERS:
        struct = _as_struct(event)
        member_type = next(member.type for member in STRUCTURED_EVENT.members if member.name == name)
        return Located(member_type, struct.value[name], struct)
    return inside(_remainder(event), name)


def _remainder(event: StructuredEvent) -> Located:
    return Located(event.remainder_of_body.type, event.remainder_of_body.value)


def _as_struct(event: StructuredEvent) -> Located:
    return Located(STRUCTURED_EVENT, structured_value(event))


def _structured_shortcut(component: tree.Component) -> Read | None:
    """A direct way for what filters ask for most: `$x`, the fixed header, and one named field of either list."""
    if component.last is not None:
        return None
    if component.name is not None and not component.steps:
        return _named_shortcut(component.name)
    if component.name is not None:
        return None
    path, rest = _path_in_event(component.steps)
    if path[:2] == ("header", "fixed_header") and path[-1] in _FIXED_HEADER and not rest:
        return attrgetter(path[-1])
    if path in _LISTS and len(rest) == 1 and isinstance(rest[0], tree.Pair):
        return _listed_shortcut(_LISTS[path], rest[0].name)
    return None


def _path_in_event(steps: tuple[tree.Step, ...]) -> tuple[tuple[str, ...], tuple[tree.Step, ...]]:
    """As many steps as lead by name or by number through the structs of a StructuredEvent, as names; and the others."""
    path: list[str] = []
    type_ = unalias(STRUCTURED_EVENT)
    for step in steps:
        if not isinstance(type_, Struct):
            break
        members = {member.name: member for member in type_.members}
        if isinstance(step, tree.Position) and step.number < len(members):
            name = list(members)[step.number]
        elif isinstance(step, tree.Member) and step.name in members:
            name = step.name
        else:
            break
        path.append(name)
        type_ = unalias(members[name].type)
    return tuple(path), steps[len(path) :]


def _named_shortcut(name: str) -> Read | None:
    if name == "curtime":
        return None

    def read(event: StructuredEvent) -> Operand:
        for field in event.variable_header:
            if field[0] == name:  # by number: the quickest way into a NamedTuple
                return simple(field[1], field[2])
        for field in event.filterable_data:
            if field[0] == name:
                return simple(field[1], field[2])
        return operand(_no_field(event, name))

    return read


def _listed_shortcut(attribute: str, name: str) -> Read:
    def read(event: StructuredEvent) -> Operand:
        for field in getattr(event, attribute):
            if field[0] == name:
                return simple(field[1], field[2])
        raise Unresolved(f"there is no pair named {name}")

    return read


STRUCTURED: Final = Form(_structured_root, _structured_shortcut, _FIXED_HEADER)


# Untyped events -----------------------------------------------------------------------------------------------------------


def _untyped_root(component: tree.Component, clock: Clock) -> Root:
    name = component.name
    if name == "curtime":
        return _curtime(clock)
    if name is None and steps_of_root(component):
        first = component.steps[0]
        assert isinstance(first, tree.Member)
        return lambda event: inside(_whole(event), first.name)
    if name is None:
        return _whole
    if name in _OF_AN_ANY:
        return lambda event: _inside_or_fixed(event, name)
    return lambda event: inside(_whole(event), name)


def _inside_or_fixed(event: UntypedEvent, name: str) -> Located:
    """What the value itself calls `type_name`; else what the event is called in structured form, which is `%ANY`."""
    try:
        return inside(_whole(event), name)
    except Unresolved:
        return Located(STRING, _OF_AN_ANY[name])


def _whole(event: UntypedEvent) -> Located:
    return Located(event.any.type, event.any.value)


UNTYPED: Final = Form(_untyped_root, lambda component: None, ())
