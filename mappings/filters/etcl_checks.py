"""What can be told about the types of an ETCL expression before any event is seen (RULES.md 3.4, static checks).

A constraint that could never match for its types alone is refused when it is written, not discovered at three in the morning.
Numbers where a truth value belongs are let through, as JacORB does (`TRUE or (1/0)`): that is an error only when it is reached.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from mappings.errors import FilterError
from mappings.filters import etcl_tree as tree

Kind: TypeAlias = Literal["boolean", "number", "string", "character", "label", "unknown"]
"""`character` is a string literal of one character, which counts as its code point in arithmetic."""

_TEXT: Final = ("string", "character")


def check(expression: tree.Expression) -> None:
    """Raises FilterError (FLT-TYPE) at the first operand that can never be right."""
    _need_condition(expression, "a filter")
    _check_below(expression)


def kind_of(expression: tree.Expression) -> Kind:
    """The kind that the expression has whenever it has a value at all."""
    match expression:
        case tree.Literal(value=value):
            return _literal_kind(value)
        case tree.Label():
            return "label"
        case tree.Component():
            return "unknown"
        case tree.Arithmetic():
            return "number"
        case _:
            return "boolean"


def _check_below(expression: tree.Expression) -> None:
    match expression:
        case tree.Not(operand=operand):
            _need_condition(operand, "`not`")
            _check_below(operand)
        case tree.And(operands=operands) | tree.Or(operands=operands):
            for operand in operands:
                _need_condition(operand, "`and`" if isinstance(expression, tree.And) else "`or`")
                _check_below(operand)
        case tree.Compare(left=left, right=right):
            _check_comparison(expression)
            _check_below(left)
            _check_below(right)
        case tree.In(element=element):
            _check_membership(expression)
            _check_below(element)
        case tree.Substring(part=part, whole=whole):
            for operand in (part, whole):
                if kind_of(operand) not in (*_TEXT, "unknown"):
                    raise _wrong(operand.position, f"`~` compares strings, not {_named(kind_of(operand))}")
        case tree.Arithmetic(first=first, rest=rest):
            _check_arithmetic(expression)
            for operand in (first, *(operation.operand for operation in rest)):
                _check_below(operand)


def _literal_kind(value: bool | int | float | str) -> Kind:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "character" if len(value) == 1 else "string"
    return "number"


def _need_condition(operand: tree.Expression, what: str) -> None:
    kind = kind_of(operand)
    if kind in _TEXT:
        raise _wrong(operand.position, f"{what} needs a condition, not a string")
    if isinstance(operand, tree.Label):
        raise _wrong(operand.position, f"{what} needs a condition, not a bare word", _field_hint(operand))


def _check_comparison(node: tree.Compare) -> None:
    left, right = kind_of(node.left), kind_of(node.right)
    if "label" in (left, right):
        _check_label(node, left, right)
    elif "unknown" not in (left, right):
        numeric = left in ("number", "boolean") and right in ("number", "boolean")
        if not numeric and not (left in _TEXT and right in _TEXT):
            raise _wrong(node.position, f"{_named(left)} and {_named(right)} cannot be compared")


def _check_label(node: tree.Compare, left: Kind, right: Kind) -> None:
    word, other = (node.left, right) if isinstance(node.left, tree.Label) else (node.right, left)
    assert isinstance(word, tree.Label)
    if other != "unknown":
        raise _wrong(word.position, f"the bare word {word.name} is an enum label", _field_hint(word))
    if node.operator not in ("==", "!="):
        raise _wrong(node.position, "enum labels have no order, only == and !=", _field_hint(word))


def _check_membership(node: tree.In) -> None:
    if isinstance(node.sequence, tree.Label):
        raise _wrong(node.sequence.position, "`in` needs a sequence, not a bare word", _field_hint(node.sequence))


def _check_arithmetic(node: tree.Arithmetic) -> None:
    before = _need_number(node.first, node.rest[0].operator)
    for operation in node.rest:
        kind = _need_number(operation.operand, operation.operator)
        if {before, kind} == {"boolean", "character"}:
            raise _wrong(operation.position, f"`{operation.operator}` cannot join a boolean and a character")
        before = "number"


def _need_number(operand: tree.Expression, operator: str) -> Kind:
    kind = kind_of(operand)
    if kind == "string":
        raise _wrong(operand.position, f"`{operator}` needs numbers, not a string")
    if isinstance(operand, tree.Label):
        raise _wrong(operand.position, f"`{operator}` needs numbers, not a bare word", _field_hint(operand))
    return kind


def _named(kind: Kind) -> str:
    return {"number": "a number", "label": "an enum label", "boolean": "a boolean"}.get(kind, "a string")


def _field_hint(word: tree.Label) -> str:
    if word.name.upper() in ("TRUE", "FALSE"):
        return f"write {word.name.upper()}"
    return f"for the value of a field write ${word.name}, for a string '{word.name}'"


def _wrong(position: int, message: str, hint: str = "") -> FilterError:
    return FilterError("FLT-TYPE", message, position=position, hint=hint)
