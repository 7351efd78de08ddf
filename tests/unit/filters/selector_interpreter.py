"""A small, slow, obviously right interpreter of JMS selectors, to hold the compiled one against (RULES.md 8.1, 8.2).

It shares nothing with `mappings.filters`: expressions are nested tuples that the tests draw at random; a message is a dict.

    ("literal", v)  ("name", n)  ("not", e)  ("and", [e…])  ("or", [e…])  ("compare", op, a, b)  ("null", e, negated)
    ("like", e, pattern, escape, negated)  ("in", e, [s…], negated)  ("between", e, low, high, negated)
    ("arithmetic", a, [(op, b)…])  ("sign", op, e)
"""

from __future__ import annotations

from typing import Any

UNKNOWN = None


def evaluate(expression: Any, message: dict[str, Any], *, converting: bool = False) -> Any:
    """The value, with None for NULL and for UNKNOWN."""

    def value(of: Any) -> Any:
        return evaluate(of, message, converting=converting)

    def truth(of: Any) -> Any:
        result = value(of)
        return result if result is None or isinstance(result, bool) else False

    match expression:
        case ("literal", literal):
            return literal
        case ("name", name):
            return message.get(name)
        case ("not", operand):
            return {True: False, False: True, None: None}[truth(operand)]
        case ("and", operands):
            truths = [truth(operand) for operand in operands]
            return False if False in truths else None if None in truths else True
        case ("or", operands):
            truths = [truth(operand) for operand in operands]
            return True if True in truths else None if None in truths else False
        case ("compare", symbol, left, right):
            return compare(symbol, value(left), value(right), converting)
        case ("null", operand, negated):
            return (value(operand) is None) != negated
        case ("like", operand, pattern, escape, negated):
            return _tested(value(operand), lambda text: like(text, pattern, escape), negated)
        case ("in", operand, values, negated):
            return _tested(value(operand), lambda text: any(text == each for each in values), negated)
        case ("between", operand, low, high, negated):
            inside = ("and", [("compare", ">=", operand, low), ("compare", "<=", operand, high)])
            return value(("not", inside) if negated else inside)
        case ("sign", symbol, operand):
            number = _number(value(operand), converting)
            return None if number is None else -number if symbol == "-" else number
        case ("arithmetic", first, rest):
            result = _number(value(first), converting)
            for symbol, operand in rest:
                result = _calculate(symbol, result, _number(value(operand), converting))
            return result
    raise AssertionError(expression)


def compare(symbol: str, left: Any, right: Any, converting: bool) -> bool | None:
    if left is None or right is None:
        return UNKNOWN
    if converting and isinstance(left, str) != isinstance(right, str):
        if isinstance(left, str):
            left = _as(left, type(right))
        else:
            right = _as(right, type(left))
    numbers = all(isinstance(side, int | float) and not isinstance(side, bool) for side in (left, right))
    if not numbers and (type(left) is not type(right) or symbol not in ("=", "<>")):
        return False
    if symbol == "=":
        return bool(left == right)
    if symbol == "<>":
        return bool(left != right)
    if symbol in ("<", "<="):
        return bool(left < right or (symbol == "<=" and left == right))
    return bool(left > right or (symbol == ">=" and left == right))


def _as(text: str, type_: type) -> Any:
    if type_ is bool:
        return text.lower() == "true"
    if type_ is int and not text.removeprefix("-").isdigit():
        return text
    try:
        return type_(text)
    except ValueError:
        return text


def like(text: str, pattern: str, escape: str | None) -> bool:
    """Whether the text fits, by trying every way."""
    if not pattern:
        return not text
    first, rest = pattern[0], pattern[1:]
    if first == escape:
        return text[:1] == rest[0] and like(text[1:], rest[1:], escape)
    if first == "%":
        return any(like(text[at:], rest, escape) for at in range(len(text) + 1))
    return bool(text) and first in ("_", text[0]) and like(text[1:], rest, escape)


def _tested(value: Any, test: Any, negated: bool) -> bool | None:
    if value is None:
        return UNKNOWN
    return (isinstance(value, str) and test(value)) != negated


def _number(value: Any, converting: bool) -> Any:
    if converting and isinstance(value, str):
        value = _as(value, int) if isinstance(_as(value, int), int) else _as(value, float)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _calculate(symbol: str, left: Any, right: Any) -> Any:
    if left is None or right is None or (symbol == "/" and right == 0):
        return None
    match symbol:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    return left / right


# Text ---------------------------------------------------------------------------------------------------------------------


def text_of(expression: Any) -> str:
    """Every operand in parentheses: precedence is not what is tested with these."""
    match expression:
        case ("literal", value):
            return _literal(value)
        case ("name", name):
            return str(name)
        case ("not", operand):
            return f"NOT ({text_of(operand)})"
        case ("and" | "or" as word, operands):
            return f" {word.upper()} ".join(f"({text_of(operand)})" for operand in operands)
        case ("compare", symbol, left, right):
            return f"({text_of(left)}) {symbol} ({text_of(right)})"
        case ("null", operand, negated):
            return f"({text_of(operand)}) IS {'NOT ' if negated else ''}NULL"
        case ("like", operand, pattern, escape, negated):
            ending = f" ESCAPE {_literal(escape)}" if escape is not None else ""
            return f"({text_of(operand)}) {'NOT ' if negated else ''}LIKE {_literal(pattern)}{ending}"
        case ("in", operand, values, negated):
            return f"({text_of(operand)}) {'NOT ' if negated else ''}IN ({', '.join(map(_literal, values))})"
        case ("between", operand, low, high, negated):
            return f"({text_of(operand)}) {'NOT ' if negated else ''}BETWEEN ({text_of(low)}) AND ({text_of(high)})"
        case ("sign", symbol, operand):
            return f"{symbol}({text_of(operand)})"
        case ("arithmetic", first, rest):
            return f"({text_of(first)})" + "".join(f" {symbol} ({text_of(operand)})" for symbol, operand in rest)
    raise AssertionError(expression)


def _literal(value: bool | int | float | str) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)
