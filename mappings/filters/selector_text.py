"""Writes a selector tree as text: what a translation pushes down, and its residual."""

from __future__ import annotations

import re
from typing import Final

from mappings.filters import selector_tree as tree

ESCAPE: Final = "!"

_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_RESERVED: Final = frozenset(("NULL", "TRUE", "FALSE", "NOT", "AND", "OR", "BETWEEN", "LIKE", "IN", "IS", "ESCAPE"))

# Precedence levels of RULES.md 8.1, low to high; an operand is put in parentheses where its level is below what its place takes.
_OR, _AND, _NOT, _EQUALITY, _COMPARISON, _SUM, _PRODUCT, _SIGN, _PRIMARY = range(9)


def write(expression: tree.Expression | None) -> str:
    """Text that parses to an equal tree."""
    return "" if expression is None else _write(expression, _OR)


def _write(node: tree.Expression, lowest: int) -> str:
    text, level = _written(node)
    return text if level >= lowest else f"({text})"


def _written(node: tree.Expression) -> tuple[str, int]:
    match node:
        case tree.Literal(value=value):
            return _literal(value)
        case tree.Name(name=name):
            return _name(name), _PRIMARY
        case tree.Not(operand=operand):
            # ActiveMQ reads `NOT a = 1` as `(NOT a) = 1`; with parentheses everybody reads the same.
            return f"NOT {_write(operand, _PRIMARY)}", _NOT
        case tree.And(operands=operands):
            return " AND ".join(_write(operand, _NOT) for operand in operands), _AND
        case tree.Or(operands=operands):
            return " OR ".join(_write(operand, _AND) for operand in operands), _OR
        case tree.Compare(operator=operator, left=left, right=right):
            level = _EQUALITY if operator in ("=", "<>") else _COMPARISON
            return f"{_write(left, level)} {operator} {_write(right, level + 1)}", level
        case tree.IsNull(operand=operand, negated=negated):
            return f"{_write(operand, _EQUALITY)} IS {_not(negated)}NULL", _EQUALITY
        case tree.Like(operand=operand, pattern=pattern, escape=escape, negated=negated):
            ending = f" ESCAPE {quoted(escape)}" if escape is not None else ""
            return f"{_write(operand, _COMPARISON)} {_not(negated)}LIKE {quoted(pattern)}{ending}", _COMPARISON
        case tree.InList(operand=operand, values=values, negated=negated):
            return f"{_write(operand, _COMPARISON)} {_not(negated)}IN ({', '.join(map(quoted, values))})", _COMPARISON
        case tree.Between(operand=operand, low=low, high=high, negated=negated):
            ends = f"{_write(low, _SUM)} AND {_write(high, _SUM)}"
            return f"{_write(operand, _COMPARISON)} {_not(negated)}BETWEEN {ends}", _COMPARISON
        case tree.Sign(operator=operator, operand=operand):
            return f"{operator}{_write(operand, _PRIMARY)}", _SIGN
        case tree.Arithmetic():
            return _arithmetic(node)


def _arithmetic(node: tree.Arithmetic) -> tuple[str, int]:
    level = _SUM if node.rest[0].operator in "+-" else _PRODUCT
    rest = "".join(f" {each.operator} {_write(each.operand, level + 1)}" for each in node.rest)
    return _write(node.first, level + 1) + rest, level


def _not(negated: bool) -> str:
    return "NOT " if negated else ""


def _literal(value: bool | int | float | str) -> tuple[str, int]:
    if isinstance(value, bool):
        return ("TRUE" if value else "FALSE"), _PRIMARY
    if isinstance(value, str):
        return quoted(value), _PRIMARY
    text = repr(value).upper()
    return text, _SIGN if text.startswith("-") else _PRIMARY


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def like_literal(text: str) -> str:
    """The text as part of a LIKE pattern with ESCAPE, in which none of its characters is a wildcard."""
    return re.sub(f"[%_{ESCAPE}]", lambda match: ESCAPE + match[0], text)


def _name(name: str) -> str:
    if _IDENTIFIER.fullmatch(name) and name.upper() not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'
