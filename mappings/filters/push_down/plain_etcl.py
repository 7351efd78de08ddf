"""A part of a selector as ETCL, by the table of RULES.md 8.4, for fields that are as they seem.

Inside `or` every field is guarded with `exist`, because ETCL has no result where it is missing, and the selector can still be TRUE.
"""

from __future__ import annotations

from mappings.filters import etcl_tree as etcl
from mappings.filters import selector_tree as sql
from mappings.filters.push_down.etcl_nodes import (
    OPERATORS,
    all_of,
    any_of,
    equality,
    exist,
    like,
    literal,
    negated_if,
    negation,
)
from mappings.filters.push_down.fields import Constraint, component_of, fixed_test
from mappings.filters.push_down.places import FIXED_HEADER


def plain_etcl(conjunct: sql.Expression) -> Constraint:
    return _plain(conjunct, True, guarded=False)


def _plain(node: sql.Expression, truth: bool, *, guarded: bool) -> Constraint:
    match node:
        case sql.Literal(value=bool() as value):
            return literal(value is truth)
        case sql.Not(operand=operand):
            return _plain(operand, not truth, guarded=guarded)
        case sql.And(operands=operands) | sql.Or(operands=operands):
            together = isinstance(node, sql.And) is truth
            parts = [_plain(operand, truth, guarded=guarded or not together) for operand in operands]
            return _joined(parts, together=together)
        case sql.IsNull(operand=sql.Name(name=name), negated=negated):
            component = component_of(name)
            if component is None:
                return None
            return exist(component) if negated is truth else negation(exist(component))
        case _:
            test = fixed_test(node) or _plain_test(node)
            if test is None:
                return None
            components = _components(test) if guarded else []
            return all_of([*map(exist, components), test if truth else negation(test)])


def _joined(constraints: list[Constraint], *, together: bool) -> Constraint:
    known = [constraint for constraint in constraints if constraint is not None]
    if len(known) < len(constraints):
        return None
    return all_of(known) if together else any_of(known)


def _plain_test(node: sql.Expression) -> Constraint:
    match node:
        case sql.Name(name=name):
            return component_of(name)
        case sql.Compare(operator=operator, left=left, right=right):
            sides = _operand(left), _operand(right)
            if sides[0] is None or sides[1] is None:
                return None
            return etcl.Compare(0, 1, OPERATORS[operator], sides[0], sides[1])
        case sql.Like(operand=sql.Name(name=name), pattern=pattern, escape=escape, negated=negated):
            component = component_of(name)
            return None if component is None else negated_if(like(component, pattern, escape), negated)
        case sql.InList(operand=sql.Name(name=name), values=values, negated=negated):
            component = component_of(name)
            if component is None:
                return None
            return negated_if(any_of([equality("=", component, value) for value in values]), negated)
        case sql.Between(operand=operand, low=low, high=high, negated=negated):
            value, least, most = _operand(operand), _operand(low), _operand(high)
            if value is None or least is None or most is None:
                return None
            inside = [etcl.Compare(0, 1, ">=", value, least), etcl.Compare(0, 1, "<=", value, most)]
            return negated_if(all_of([*inside]), negated)
        case _:
            return None


def _operand(node: sql.Expression) -> Constraint:
    match node:
        case sql.Literal(value=value):
            return literal(value)
        case sql.Name(name=name):
            return component_of(name)
        case sql.Sign(operator=operator, operand=operand):
            signed = _operand(operand)
            if signed is None or operator == "+":
                return signed
            return etcl.Arithmetic(0, 1, literal(-1), (etcl.Operation("*", 0, signed),))
        case sql.Arithmetic(first=first, rest=rest):
            return _arithmetic(first, rest)
        case _:
            return None


def _arithmetic(first: sql.Expression, rest: tuple[sql.Operation, ...]) -> Constraint:
    """ETCL truncates the quotient of integers, and a broker need not: a quotient needs a double in it."""
    start = _operand(first)
    operations = []
    double = _is_double(first)
    for operation in rest:
        operand = _operand(operation.operand)
        double = double or _is_double(operation.operand)
        if operand is None or (operation.operator == "/" and not double):
            return None
        operations.append(etcl.Operation(operation.operator, 0, operand))
    return None if start is None else etcl.Arithmetic(0, 1, start, tuple(operations))


def _is_double(node: sql.Expression) -> bool:
    return isinstance(node, sql.Literal) and isinstance(node.value, float)


def _components(node: etcl.Expression) -> list[etcl.Component]:
    """The fields that a test speaks of, each once."""
    match node:
        case etcl.Component():
            found = [] if node.name in FIXED_HEADER else [node]
        case etcl.Compare(left=left, right=right):
            found = _components(left) + _components(right)
        case etcl.Substring(part=part, whole=whole):
            found = _components(part) + _components(whole)
        case etcl.Not(operand=operand):
            found = _components(operand)
        case etcl.And(operands=operands) | etcl.Or(operands=operands):
            found = [component for operand in operands for component in _components(operand)]
        case etcl.Arithmetic(first=first, rest=rest):
            found = [each for operand in (first, *(step.operand for step in rest)) for each in _components(operand)]
        case _:
            found = []
    return list(dict.fromkeys(found))
