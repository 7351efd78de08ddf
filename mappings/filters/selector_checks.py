"""What can be told about a selector before any message is seen: it must be a condition, of operands that fit (RULES.md 8.1)."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from mappings.errors import FilterError
from mappings.filters import selector_tree as tree

Kind: TypeAlias = Literal["boolean", "number", "string", "unknown"]

HEADERS: Final = ("JMSDeliveryMode", "JMSPriority", "JMSMessageID", "JMSTimestamp", "JMSCorrelationID", "JMSType")
"""The header fields that a selector may refer to."""


def check(expression: tree.Expression) -> None:
    """Raises FilterError (FLT-TYPE, FLT-NAME, FLT-LIMIT) at the first operand that can never be right."""
    _need(expression, ("boolean",), "a selector needs a condition")
    _check_below(expression)


def kind_of(expression: tree.Expression) -> Kind:
    """The kind that the expression has whenever it is not NULL."""
    match expression:
        case tree.Literal(value=bool()):
            return "boolean"
        case tree.Literal(value=str()):
            return "string"
        case tree.Literal() | tree.Arithmetic() | tree.Sign():
            return "number"
        case tree.Name(name=name):
            return "unknown" if name not in HEADERS else _header_kind(name)
        case _:
            return "boolean"


def _header_kind(name: str) -> Kind:
    return "number" if name in ("JMSPriority", "JMSTimestamp") else "string"


def _check_below(node: tree.Expression) -> None:
    match node:
        case tree.Literal(value=int() as value) if value > tree.LARGEST_WHOLE:
            raise tree.too_large(node.position)
        case tree.Name(name=name):
            _check_name(name, node.position)
        case tree.Not(operand=operand):
            _need(operand, ("boolean",), "NOT needs a condition")
            _check_below(operand)
        case tree.And(operands=operands) | tree.Or(operands=operands):
            for operand in operands:
                _need(
                    operand,
                    ("boolean",),
                    "AND needs conditions" if isinstance(node, tree.And) else "OR needs conditions",
                )
                _check_below(operand)
        case tree.Compare(operator=operator, left=left, right=right):
            for operand in (left, right):
                if operator not in ("=", "<>"):
                    _need(operand, ("number",), f"{operator} compares numbers; strings and booleans know only = and <>")
                _check_below(operand)
        case tree.IsNull(operand=operand):
            _check_below(operand)
        case tree.Like(operand=operand) | tree.InList(operand=operand):
            _need(operand, ("string",), "LIKE and IN need a string")
            _check_below(operand)
            if isinstance(node, tree.Like):
                _check_escapes(node)
        case tree.Between(operand=operand, low=low, high=high):
            for each in (operand, low, high):
                _need(each, ("number",), "BETWEEN needs numbers")
                _check_below(each)
        case tree.Sign(operator=operator, operand=operand):
            _need(operand, ("number",), f"{operator} needs a number")
            _check_below(operand)
        case tree.Arithmetic(first=first, rest=rest):
            for each, operator in ((first, rest[0].operator), *((step.operand, step.operator) for step in rest)):
                _need(each, ("number",), f"{operator} needs numbers")
                _check_below(each)


def _need(operand: tree.Expression, kinds: tuple[Kind, ...], message: str) -> None:
    kind = kind_of(operand)
    if kind not in (*kinds, "unknown"):
        raise FilterError("FLT-TYPE", f"{message}, and this is a {kind}", position=operand.position)


def _check_name(name: str, position: int) -> None:
    """JMS reserves names that begin so; of its own header fields only six may stand in a selector."""
    if name.startswith("JMS") and not name.startswith(("JMSX", "JMS_")) and name not in HEADERS:
        raise FilterError(
            "FLT-NAME",
            f"{name} cannot be used in a selector",
            position=position,
            hint=f"of the header fields only {', '.join(HEADERS)} can",
        )


def _check_escapes(node: tree.Like) -> None:
    if node.escape is not None and _dangling(node.pattern, node.escape):
        raise FilterError("FLT-SYNTAX", "the LIKE pattern ends with its escape character", position=node.position)


def _dangling(pattern: str, escape: str) -> bool:
    trailing = len(pattern) - len(pattern.rstrip(escape))
    return trailing % 2 == 1
