"""One conjunct of an ETCL expression as a condition of a selector that loses nothing (RULES.md 8.4).

Where the conjunct is TRUE for an event, the condition is TRUE for its message. Two questions are asked of every node, and answered
or not: which condition holds whenever the node is TRUE, and which whenever it is FALSE. `not` swaps them. Where ETCL has no
result, the conjunct does not match, and nothing need hold.

    $x > 2          $x IS NULL OR NOT ($x <= 2)       a String (fixed, large numbers, all of STOMP) compares as FALSE: it passes
    $x == 'a'       $x IS NULL OR $x = 'a'
    $x.m == 'a'     $x IS NOT NULL OR $x$_m IS NULL OR $x$_m = 'a'       the whole of x may have gone as one encoded property
    $.filterable_data(x) == 'a'     the same, and passes where there is a second x, because the first may be of the header

`IS NULL` lets pass what the message does not show: a member of the body, a value that was not taken apart.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from mappings.filters import etcl_tree as etcl
from mappings.filters import selector_tree as sql
from mappings.filters.push_down.places import (
    CONSUMED,
    Place,
    component_first,
    is_priority_of_header,
    is_short,
    jms_priority,
    place_of,
)
from mappings.filters.push_down.selector_nodes import all_of, any_of, compared, is_null, literal, named, negation
from mappings.translate.names import STRICT

_OPPOSITE: Final = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

Condition: TypeAlias = sql.Expression | None


def safe_selector(conjunct: etcl.Expression) -> Condition:
    return _whenever(conjunct, True)


def _whenever(node: etcl.Expression, truth: bool) -> Condition:
    """A condition that is TRUE whenever the node has this truth; None where there is none to be had."""
    match node:
        case etcl.Literal(value=bool() as value):
            return literal(value is truth)
        case etcl.Not(operand=operand):
            return _whenever(operand, not truth)
        case etcl.And(operands=operands):
            return _joined(operands, truth, together=truth)
        case etcl.Or(operands=operands):
            return _joined(operands, truth, together=not truth)
        case etcl.Compare():
            return _compared(node, truth)
        case etcl.Exist(component=component):
            return _absent(component) if not truth else None
        case etcl.Component():
            place = _safe_place(node)
            if place is None or place.section == "fixed":
                return None
            return _guarded(place, named(place.name) if truth else negation(named(place.name)))
        case _:
            return None


def _joined(operands: tuple[etcl.Expression, ...], truth: bool, *, together: bool) -> Condition:
    conditions = [_whenever(operand, truth) for operand in operands]
    known = [condition for condition in conditions if condition is not None]
    if len(known) < len(conditions):
        return None
    return all_of(known) if together else any_of(known)


def _compared(node: etcl.Compare, truth: bool) -> Condition:
    operator, component, value = component_first(node)
    if component is None or value is None:
        return None
    if is_priority_of_header(component):
        return _priority(operator, value, truth)
    place = _safe_place(component)
    if place is None:
        return None
    if isinstance(value, str):
        if operator not in ("=", "<>") or not is_short(value):
            return None
        return _guarded(place, compared(operator if truth else _OPPOSITE[operator], place.name, value))
    if isinstance(value, bool) and operator not in ("=", "<>"):
        return None
    if place.section == "fixed":
        return None
    return _guarded(place, negation(compared(_OPPOSITE[operator] if truth else operator, place.name, value)))


def _guarded(place: Place, condition: sql.Expression) -> sql.Expression:
    """The condition, or one of the reasons for which the message may not show the value."""
    if place.section == "fixed":
        return condition
    reasons: list[sql.Expression] = [
        is_null(STRICT.encode(place.path[:length]), negated=True) for length in range(1, len(place.path))
    ]
    if place.section == "body":
        reasons.append(is_null(STRICT.numbered(place.name, 2), negated=True))
    return any_of([*reasons, is_null(place.name, negated=False), condition])


def _safe_place(component: etcl.Component) -> Place | None:
    """Where the value is, if it is anywhere in the message; None where another value could be in that place."""
    place = place_of(component)
    if place is None or any(isinstance(step, etcl.Index) for step in component.steps) or component.last == "_length":
        return None  # a typedef's name may stand before the ordinal, or not
    if place.section in ("either", "header") and place.path[0] in CONSUMED:
        return None
    return place


def _absent(component: etcl.Component) -> Condition:
    """Whenever there is no such field at all, there is no such property."""
    place = _safe_place(component)
    if place is None or len(place.path) > 1 or place.section != "either":
        return None
    return is_null(place.name, negated=False)


def _priority(operator: str, value: bool | int | float | str, truth: bool) -> Condition:
    """`$.header.variable_header(Priority)`: in JMSPriority (OC-VAR-1, clamp), or as a property where it was not a fit priority."""
    if not truth:
        operator = _OPPOSITE[operator]
    priority = jms_priority(operator, value)
    if priority is None:
        return None
    name = STRICT.root("Priority")
    return any_of([priority, negation(compared(_OPPOSITE[operator], name, value))])


def says_all(node: etcl.Expression) -> bool:
    """Whether the translation says all that the node says: it speaks of the fixed header only, which every message shows."""
    match node:
        case etcl.Literal():
            return True
        case etcl.Not(operand=operand):
            return says_all(operand)
        case etcl.And(operands=operands) | etcl.Or(operands=operands):
            return all(map(says_all, operands))
        case etcl.Compare():
            _, component, _ = component_first(node)
            place = None if component is None else place_of(component)
            labels = isinstance(node.left, etcl.Label) or isinstance(node.right, etcl.Label)  # always an error in ETCL
            return place is not None and place.section == "fixed" and not labels
        case _:
            return False
