"""Writes an ETCL tree as text: the residual of a translation, and components in error messages.

Words that some peer reserves are written with a backslash, which every dialect takes for a name (RULES.md 3.1).
"""

from __future__ import annotations

import re
from typing import Final

from mappings.filters import etcl_tree as tree

_RESERVED: Final = frozenset(
    {
        "or", "and", "in", "not", "exist", "default", "TRUE", "FALSE", "_length", "_d", "_type_id", "_repos_id",
        "min", "max", "first", "random", "with", "type",  # by TAO and JacORB
    }
)  # fmt: skip
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

# Precedence levels of RULES.md 3.1, low to high; an operand is put in parentheses where its level is below what its place takes.
_OR, _AND, _COMPARE, _IN, _SUBSTRING, _SUM, _PRODUCT, _NOT, _FACTOR = range(9)


def write(expression: tree.Expression | None) -> str:
    """Text that parses to an equal tree."""
    return "" if expression is None else _write(expression, _OR)


def is_name(text: str) -> bool:
    """Whether every dialect takes the text for a name."""
    return _NAME.fullmatch(text) is not None


def _write(node: tree.Expression, lowest: int) -> str:
    text, level = _written(node)
    return text if level >= lowest else f"({text})"


def _written(node: tree.Expression) -> tuple[str, int]:
    match node:
        case tree.Literal(value=value):
            return _literal(value), _FACTOR
        case tree.Label(name=name):
            return _name(name), _FACTOR
        case tree.Component():
            return _component(node), _FACTOR
        case tree.Exist(component=component):
            return f"exist {_component(component)}", _FACTOR
        case tree.Default(component=component):
            return f"default {_component(component)}", _FACTOR
        case tree.Not(operand=operand):
            return f"not {_write(operand, _FACTOR)}", _NOT
        case tree.And(operands=operands):
            return " and ".join(_write(operand, _COMPARE) for operand in operands), _AND
        case tree.Or(operands=operands):
            return " or ".join(_write(operand, _AND) for operand in operands), _OR
        case tree.Compare(operator=operator, left=left, right=right):
            return f"{_write(left, _IN)} {operator} {_write(right, _IN)}", _COMPARE
        case tree.In(element=element, sequence=sequence):
            return f"{_write(element, _SUBSTRING)} in {_write(sequence, _FACTOR)}", _IN
        case tree.Substring(part=part, whole=whole):
            return f"{_write(part, _SUM)} ~ {_write(whole, _SUM)}", _SUBSTRING
        case tree.Arithmetic():
            return _arithmetic(node)


def _arithmetic(node: tree.Arithmetic) -> tuple[str, int]:
    level = _SUM if node.rest[0].operator in "+-" else _PRODUCT
    rest = "".join(f" {each.operator} {_write(each.operand, level + 1)}" for each in node.rest)
    return _write(node.first, level + 1) + rest, level


def _literal(value: bool | int | float | str) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return quoted(value)
    return _decimal(value) if isinstance(value, float) else str(value)


def _decimal(value: float) -> str:
    """With a `.` for TAO, and a signed exponent for those who need one."""
    text = repr(value)
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{int(exponent):+d}"


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _component(node: tree.Component) -> str:
    parts = ["$", _name(node.name) if node.name is not None else "", *map(_step, node.steps)]
    if node.last is not None:
        parts.append("." + node.last)
    return "".join(parts)


def _step(step: tree.Step) -> str:
    match step:
        case tree.Member(name=name):
            return "." + _name(name)
        case tree.Position(number=number):
            return f".{number}"
        case tree.Arm(label=label):
            return f".({'' if label is None else _literal(label)})"
        case tree.Index(number=number):
            return f"[{number}]"
        case tree.Pair(name=name):
            return f"({_name(name)})"


def _name(name: str) -> str:
    return "\\" + name if name in _RESERVED else name
