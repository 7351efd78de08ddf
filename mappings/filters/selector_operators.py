"""The operators of selectors on values (RULES.md 8.2). NULL, and UNKNOWN, is None.

Exact and approximate numbers compare with each other; other unlike types compare to FALSE; strings and booleans know only = and
<>. What has no number for a result (a division by zero, arithmetic on a string) is NULL.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from mappings.filters.wildcards import ONE, RUN, Matcher, Token, compile_wildcards

Value: TypeAlias = bool | int | float | str | None
Compared: TypeAlias = Callable[[str, Value, Value], bool | None]

NUMBERS: Final = frozenset((int, float))

COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

_LARGEST: Final = 2**1000
"""Products beyond this are NULL: no chain of factors can grow without bound."""

_LONG: Final = re.compile(r"[+-]?[0-9]{1,19}")
_DOUBLE: Final = re.compile(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")


def compare(symbol: str, left: Value, right: Value) -> bool | None:
    if left is None or right is None:
        return None
    first, second = left.__class__, right.__class__
    if first in NUMBERS and second in NUMBERS:
        return COMPARISONS[symbol](left, right)
    if first is second and symbol in ("=", "<>"):
        return COMPARISONS[symbol](left, right)
    return False


def compare_converting(symbol: str, left: Value, right: Value) -> bool | None:
    """`compare` under convert_string_expressions: a string becomes what the other side is, if it reads as that, as in ActiveMQ."""
    if isinstance(left, str) and not isinstance(right, str):
        left = _converted(left, right)
    elif isinstance(right, str) and not isinstance(left, str):
        right = _converted(right, left)
    return compare(symbol, left, right)


def _converted(text: str, like: Value) -> Value:
    if like.__class__ is bool:
        return text.lower() == "true"
    if like.__class__ is int:
        return int(text) if _LONG.fullmatch(text) else text
    if like.__class__ is float:
        return float(text) if _DOUBLE.fullmatch(text) else text
    return text


def number(value: Value) -> int | float | None:
    """The value where arithmetic takes a number."""
    return value if value.__class__ in NUMBERS else None  # type: ignore[return-value]


def number_converting(value: Value) -> int | float | None:
    if isinstance(value, str):
        if _LONG.fullmatch(value):
            return int(value)
        return float(value) if _DOUBLE.fullmatch(value) else None
    return number(value)


def calculate(symbol: str, left: int | float | None, right: int | float | None) -> int | float | None:
    if left is None or right is None:
        return None
    try:
        result: int | float = _CALCULATIONS[symbol](left, right)
    except (ZeroDivisionError, OverflowError):
        return None
    if result.__class__ is int and not -_LARGEST < result < _LARGEST:
        return None
    return result


_CALCULATIONS: Final[Mapping[str, Callable[[Any, Any], int | float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,  # approximate, as in ActiveMQ
}


def truth(value: Value) -> bool | None:
    """The value where a condition belongs: a property that is no boolean is FALSE."""
    return value if value is None or value.__class__ is bool else False


def compile_like(pattern: str, escape: str | None) -> Matcher:
    return compile_wildcards(like_tokens(pattern, escape))


def like_tokens(pattern: str, escape: str | None) -> list[Token]:
    """`%` is any run, `_` any one character; after the escape character both stand for themselves."""
    tokens: list[Token] = []
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            tokens.append(next(characters))
        else:
            tokens.append({"%": RUN, "_": ONE}.get(character, character))
    return tokens
