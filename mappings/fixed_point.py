"""Decimal numbers of a fixed<digits, scale> type, exact whatever the decimal context."""

from __future__ import annotations

from decimal import Decimal

from mappings.idl_types import Fixed


def fits(type_: Fixed, value: Decimal) -> bool:
    """Whether the number has no digit before or after those of the type, trailing zeros aside."""
    if not value.is_finite():
        return False
    _sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    significant = "".join(map(str, digits)).lstrip("0")
    if not significant:
        return True
    trailing = len(significant) - len(significant.rstrip("0"))
    return exponent + trailing >= -type_.scale and len(significant) + exponent <= type_.digits - type_.scale


def at_scale(type_: Fixed, value: Decimal) -> Decimal:
    """A number that fits, with exactly the type's decimals; zero has no sign."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    shift = exponent + type_.scale
    number = int("".join(map(str, digits)))
    if number:
        number = number * 10**shift if shift >= 0 else number // 10**-shift
    return Decimal((sign if number else 0, tuple(map(int, str(number))), -type_.scale))
