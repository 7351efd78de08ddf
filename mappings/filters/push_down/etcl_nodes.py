"""Short ways to build the tree of an ETCL expression that was not parsed: positions and depths mean nothing there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mappings.filters import etcl_tree as etcl
from mappings.filters.selector_operators import like_tokens
from mappings.filters.wildcards import RUN, Wildcard

OPERATORS: Final[Mapping[str, str]] = {"=": "==", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
"""Comparisons of SQL, and of ETCL."""


def literal(value: bool | int | float | str) -> etcl.Literal:
    return etcl.Literal(0, 1, value)


def equality(operator: str, component: etcl.Component, value: str) -> etcl.Expression:
    """`operator` is SQL's."""
    return etcl.Compare(0, 1, OPERATORS[operator], component, literal(value))


def exist(component: etcl.Component) -> etcl.Expression:
    return etcl.Exist(0, 1, component)


def negation(operand: etcl.Expression) -> etcl.Expression:
    return etcl.Not(0, 1, operand)


def all_of(operands: list[etcl.Expression]) -> etcl.Expression:
    return operands[0] if len(operands) == 1 else etcl.And(0, 1, tuple(operands))


def any_of(operands: list[etcl.Expression]) -> etcl.Expression:
    return operands[0] if len(operands) == 1 else etcl.Or(0, 1, tuple(operands))


def like(component: etcl.Component, pattern: str, escape: str | None) -> etcl.Expression | None:
    """`%s%` is a substring, and a pattern without wildcards an equality; ETCL has no anchors for the rest."""
    tokens = like_tokens(pattern, escape)
    inner = tokens[1:-1] if len(tokens) >= 2 and tokens[0] is RUN and tokens[-1] is RUN else tokens
    if any(isinstance(token, Wildcard) for token in inner):
        return None
    text = "".join(map(str, inner))
    if inner is tokens:
        return equality("=", component, text)
    return etcl.Substring(0, 1, literal(text), component)


def negated_if(constraint: etcl.Expression | None, negated: bool) -> etcl.Expression | None:
    return negation(constraint) if negated and constraint is not None else constraint
