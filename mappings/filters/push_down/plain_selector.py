"""A part of an ETCL expression as a condition of a selector, by the table of RULES.md 8.4, for fields that are as they seem."""

from __future__ import annotations

from typing import TypeAlias

from mappings.filters import etcl_tree as etcl
from mappings.filters import selector_tree as sql
from mappings.filters.push_down.places import (
    CONSUMED,
    OPERATORS,
    Place,
    component_first,
    fits,
    is_priority,
    jms_priority,
    place_of,
)
from mappings.filters.push_down.selector_nodes import all_of, any_of, is_null, literal, named, negation
from mappings.filters.selector_text import ESCAPE, like_literal

Condition: TypeAlias = sql.Expression | None


def plain_selector(node: etcl.Expression) -> Condition:
    """The node by the table of RULES.md 8.4, for fields that are as they seem."""
    match node:
        case etcl.Literal(value=bool() as value):
            return literal(value)
        case etcl.Not(operand=operand):
            condition = plain_selector(operand)
            return None if condition is None else negation(condition)
        case etcl.And(operands=operands) | etcl.Or(operands=operands):
            conditions = [plain_selector(operand) for operand in operands]
            known = [condition for condition in conditions if condition is not None]
            if len(known) < len(conditions):
                return None
            return all_of(known) if isinstance(node, etcl.And) else any_of(known)
        case etcl.Compare():
            return _comparison(node)
        case etcl.Exist(component=component):
            place = _visible_place(component)
            return None if place is None else is_null(place.name, negated=True)
        case etcl.Component():
            place = _visible_place(node)
            return None if place is None else named(place.name)
        case etcl.Substring(part=etcl.Literal(value=str() as part), whole=etcl.Component() as whole):
            place = _visible_place(whole)
            return None if place is None else _contains(place, part)
        case _:
            return None


def _comparison(node: etcl.Compare) -> Condition:
    operator, component, value = component_first(node)
    if component is not None and is_priority(component):
        return None if value is None else jms_priority(operator, value)
    left, right = _operand(node.left), _operand(node.right)
    if left is None or right is None:
        return None
    symbol = OPERATORS[node.operator]
    numeric = any(_is_numeric(side) for side in (left, right))
    if symbol not in ("=", "<>") and not numeric:
        return None  # the order of strings is not JMS
    if any(isinstance(side, sql.Literal) and isinstance(side.value, bool | str) for side in (left, right)) and numeric:
        return None
    return sql.Compare(0, 1, symbol, left, right)


def _operand(node: etcl.Expression) -> sql.Expression | None:
    match node:
        case etcl.Literal(value=value):
            return literal(value) if fits(value) else None
        case etcl.Label(name=name):
            return literal(name)
        case etcl.Component():
            place = _visible_place(node)
            return None if place is None or is_priority(node) else named(place.name)
        case etcl.Arithmetic():
            return _arithmetic(node)
        case _:
            return None


def _arithmetic(node: etcl.Arithmetic) -> sql.Expression | None:
    first = _number(node.first)
    rest: list[sql.Operation] = []
    before = node.first
    for operation in node.rest:
        operand = _number(operation.operand)
        if operand is None or operation.operator == "%":
            return None
        if operation.operator == "/" and not (_is_double(before) or _is_double(operation.operand)):
            return None  # ETCL truncates where both are integers; a broker need not
        rest.append(sql.Operation(operation.operator, 0, operand))
        before = operation.operand if _is_double(operation.operand) else before
    return None if first is None else sql.Arithmetic(0, 1, first, tuple(rest))


def _number(node: etcl.Expression) -> sql.Expression | None:
    if isinstance(node, etcl.Literal):
        if isinstance(node.value, bool):
            return None
        if isinstance(node.value, str):
            return literal(ord(node.value))
    return _operand(node)


def _is_double(node: etcl.Expression) -> bool:
    return isinstance(node, etcl.Literal) and isinstance(node.value, float)


def _is_numeric(side: sql.Expression) -> bool:
    if isinstance(side, sql.Literal):
        return isinstance(side.value, int | float) and not isinstance(side.value, bool)
    return isinstance(side, sql.Arithmetic)


def _contains(place: Place, part: str) -> sql.Expression:
    pattern = like_literal(part)
    return sql.Like(0, 1, named(place.name), f"%{pattern}%", ESCAPE if pattern != part else None, False)


def _visible_place(component: etcl.Component) -> Place | None:
    place = place_of(component)
    consumed = place is not None and place.section in ("either", "header") and place.path[0] in CONSUMED
    return None if consumed and not is_priority(component) else place
