"""The operators of ETCL on operands, with promotion and type errors (RULES.md 3.4).

    numbers       whatever the kinds of the two sides, the result is that of exact integers, or of doubles if one side is one
    booleans      count as 1 and 0
    characters    count as their code points, and compare with strings as strings
    enum labels   know only == and !=

Nothing wraps around. Integer division truncates towards zero. Everything else is FLT-MISMATCH.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from mappings.errors import FilterRuntimeError
from mappings.filters.etcl_values import (
    NUMBERS,
    Character,
    EnumLabel,
    Located,
    Operand,
    Unresolved,
    describe,
    simple,
    stripped,
)
from mappings.idl_types import Array, Sequence
from mappings.model import Any_

Number: TypeAlias = int | float

COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

_LARGEST: Final = 2**1000
"""Products beyond this are errors: it is still a finite double, and no chain of factors can grow without bound."""


def compare(symbol: str, left: Operand, right: Operand, position: int) -> bool:
    compared = COMPARISONS[symbol]
    classes = (left.__class__, right.__class__)
    if classes[0] in NUMBERS and classes[1] in NUMBERS:
        return compared(left, right)
    if isinstance(left, str) and isinstance(right, str):
        labels = classes.count(EnumLabel)
        if labels == 0 or (labels == 2 and symbol in ("==", "!=")):
            return compared(left, right)
    elif isinstance(left, Character) and classes[1] in (int, float):
        return compared(ord(left), right)
    elif isinstance(right, Character) and classes[0] in (int, float):
        return compared(left, ord(right))
    raise _mismatch(f"{describe(left)} and {describe(right)} cannot be compared with {symbol}", position, left, right)


def _mismatch(message: str, position: int, *operands: Operand) -> FilterRuntimeError:
    classes = {each.__class__ for each in operands}
    hint = ""
    if classes == {EnumLabel, str}:
        hint = "compare an enum with its bare label, without quotes, and a string with a quoted one"
    elif str in classes and classes & NUMBERS:
        hint = "numbers are written without quotes"
    return FilterRuntimeError("FLT-MISMATCH", message, position=position, hint=hint)


def truth(value: Operand, position: int) -> bool:
    """The value where a condition belongs."""
    if value.__class__ is bool:
        return value
    raise _mismatch(f"{describe(value)} is no condition", position, value)


def substring(part: Operand, whole: Operand, position: int) -> bool:
    """`~`: strings only."""
    if part.__class__ is str and whole.__class__ is str:
        return part in whole
    for side in (part, whole):
        if not isinstance(side, str) or isinstance(side, EnumLabel):
            raise _mismatch(f"~ compares strings, not {describe(side)}", position, side)
    return part in whole  # type: ignore[operator]


def number(value: Operand, position: int) -> Number:
    """The operand as arithmetic takes it."""
    if value.__class__ in NUMBERS:
        return value  # type: ignore[return-value]
    if isinstance(value, Character):
        return ord(value)
    raise _mismatch(f"{describe(value)} is no number", position, value)


def calculate(symbol: str, left: Number, right: Number, position: int) -> Number:
    try:
        return _CALCULATIONS[symbol](left, right)
    except ZeroDivisionError:
        raise FilterRuntimeError("FLT-DIVISION", "division by zero", position=position) from None
    except (OverflowError, ValueError):
        raise FilterRuntimeError("FLT-RANGE", f"the result of {symbol} is too large", position=position) from None


def _product(left: Number, right: Number) -> Number:
    product = left * right
    if product.__class__ is int and not -_LARGEST < product < _LARGEST:
        raise OverflowError
    return product


def _quotient(left: Number, right: Number) -> Number:
    if isinstance(left, float) or isinstance(right, float):
        return left / right
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: Number, right: Number) -> Number:
    """Of the truncated quotient, with the sign of the dividend."""
    if right == 0:
        raise ZeroDivisionError
    if isinstance(left, float) or isinstance(right, float):
        return math.fmod(left, right)
    remainder = abs(left) % abs(right)
    return remainder if left >= 0 else -remainder


_CALCULATIONS: Final[Mapping[str, Callable[[Any, Any], Number]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": _product,
    "/": _quotient,
    "%": _remainder,
}


def member_of(element: Operand, sequence: Operand, position: int) -> bool:
    """`in`: a simple value in a sequence or array of the same kind; in a sequence of any, of elements of the same kind."""
    if isinstance(element, Located):
        raise _mismatch(f"{describe(element)} is not simple", position, element)
    if not isinstance(sequence, Located) or not isinstance(sequence.type, Sequence | Array):
        raise _mismatch(f"`in` needs a sequence, not {describe(sequence)}", position, sequence)
    kind = _kind(element)
    wanted = _comparable(element)
    for value in sequence.value:
        candidate = _candidate(sequence, value)
        if _kind(candidate) == kind:
            if _comparable(candidate) == wanted:
                return True
        elif not isinstance(value, Any_):
            raise _mismatch(
                f"{describe(element)} cannot be in a sequence of {describe(candidate)}s", position, element, candidate
            )
    return False


def _candidate(sequence: Located, value: Any) -> Operand:
    try:
        return simple(sequence.type.element, value, sequence)  # type: ignore[union-attr]
    except Unresolved:
        return stripped(Located(sequence.type, sequence.value))  # a nil value box is equal to nothing


def _kind(value: Operand) -> str:
    if value.__class__ is bool:
        return "boolean"
    if value.__class__ in NUMBERS:
        return "number"
    if isinstance(value, EnumLabel):
        return "label"
    return "string" if isinstance(value, str) else "other"


def _comparable(value: Operand) -> object:
    return float(value) if value.__class__ in (int, float) else value
