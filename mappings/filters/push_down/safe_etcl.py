"""One conjunct of a selector as an ETCL constraint that loses nothing (RULES.md 8.4).

Where the conjunct is TRUE for a message, the constraint is TRUE for its event. A property shows that there is a field of its name,
and no more: the constraint may find another of the same name first, or an enum, which ETCL compares with no string, and an error
there would lose the event. So of fields it asks whether they exist; what the fixed header says it says exactly.
"""

from __future__ import annotations

from mappings.filters import etcl_tree as etcl
from mappings.filters import selector_tree as sql
from mappings.filters.push_down.etcl_nodes import all_of, any_of, exist, literal, negation
from mappings.filters.push_down.fields import Constraint, field_of, fixed_test


def safe_etcl(conjunct: sql.Expression) -> Constraint:
    return _whenever(conjunct, True)


def _whenever(node: sql.Expression, truth: bool) -> Constraint:
    """A constraint that is TRUE, for certain and without an error, whenever the node has this truth; None where there is none."""
    match node:
        case sql.Literal(value=bool() as value):
            return literal(value is truth)
        case sql.Not(operand=operand):
            return _whenever(operand, not truth)
        case sql.And(operands=operands):
            return _joined([_whenever(operand, truth) for operand in operands], together=truth)
        case sql.Or(operands=operands):
            return _joined([_whenever(operand, truth) for operand in operands], together=not truth)
        case sql.IsNull(operand=operand, negated=negated):
            return _existing(operand) if negated is truth else None
        case _:
            fixed = fixed_test(node)
            if fixed is not None:
                return fixed if truth else negation(fixed)
            return _existing(node)


def _joined(constraints: list[Constraint], *, together: bool) -> Constraint:
    known = [constraint for constraint in constraints if constraint is not None]
    if len(known) < len(constraints):
        return None
    return all_of(known) if together else any_of(known)


def _existing(node: sql.Expression) -> Constraint:
    """That the fields exist without which the node would be UNKNOWN."""
    fields = dict.fromkeys(field for name in _needed(node) if (field := field_of(name)) is not None)
    return all_of([exist(etcl.Component(0, 1, field)) for field in fields]) if fields else None


def _needed(node: sql.Expression) -> list[str]:
    """Names whose absence makes the node UNKNOWN, or NULL."""
    match node:
        case sql.Name(name=name):
            return [name]
        case sql.Compare(left=left, right=right):
            return _needed(left) + _needed(right)
        case (
            sql.Not(operand=operand)
            | sql.Sign(operand=operand)
            | sql.Like(operand=operand)
            | sql.InList(operand=operand)
        ):
            return _needed(operand)
        case sql.Between(operand=operand):
            return _needed(operand)
        case sql.Arithmetic(first=first, rest=rest):
            return [name for operand in (first, *(each.operand for each in rest)) for name in _needed(operand)]
        case _:
            return []


def says_all(node: sql.Expression) -> bool:
    """Whether the translation says all that the node says: it speaks of the fixed header only."""
    match node:
        case sql.Literal():
            return True
        case sql.Not(operand=operand):
            return says_all(operand)
        case sql.And(operands=operands) | sql.Or(operands=operands):
            return all(map(says_all, operands))
        case _:
            return fixed_test(node) is not None
