"""Whether a filter can pass events of a certain type at all, as far as its text tells: `$type_name == 'Alarm'` passes no other.

What does not speak of the type may be true or not, so the answer errs on one side only: True where it cannot be told.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from mappings.filters.etcl_tree import And, Compare, Component, Expression, Literal, Member, Not, Or, parse_etcl

_PATH: Final = ("header", "fixed_header", "event_type")
_OPERATORS: Final = {"==": lambda one, other: one == other, "!=": lambda one, other: one != other}


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Expression | None:
    return parse_etcl(text)


def may_pass(text: str, domain_name: str, type_name: str) -> bool:
    """`text` is ETCL that was checked."""
    tree = _parsed(text)
    return tree is None or _truth(tree, {"domain_name": domain_name, "type_name": type_name}) is not False


def _truth(node: Expression, names: dict[str, str]) -> bool | None:
    """False and True are certain (or the filter fails, which is no match either); None: it depends on the event."""
    match node:
        case Literal(value=bool(value)):
            return value
        case Not(operand=operand):
            truth = _truth(operand, names)
            return None if truth is None else not truth
        case And(operands=operands):
            truths = [_truth(operand, names) for operand in operands]
            return False if False in truths else None if None in truths else True
        case Or(operands=operands):
            truths = [_truth(operand, names) for operand in operands]
            return True if True in truths else None if None in truths else False
        case Compare(operator=operator, left=left, right=right) if operator in _OPERATORS:
            values = [_text(side, names) for side in (left, right)]
            return None if None in values else bool(_OPERATORS[operator](*values))
    return None


def _text(node: Expression, names: dict[str, str]) -> str | None:
    match node:
        case Literal(value=str(value)):
            return value
        case Component(name=str(name), steps=(), last=None):
            return names.get(name)
        case Component(name=None, steps=steps, last=None):
            path = tuple(step.name if isinstance(step, Member) else "" for step in steps)
            return names.get(path[-1]) if path[:-1] == _PATH else None
    return None
