"""The two kinds of number that `struct` does not know: fixed and long double."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Final

from mappings.idl_types import Fixed

_PLUS: Final = "c"
_MINUS: Final = "d"
_MANTISSA_BITS: Final = 112
_BIAS: Final = 16383
_SPECIAL: Final = 0x7FFF


def fixed_size(type_: Fixed) -> int:
    """Two digits to an octet; the last half holds the sign."""
    return type_.digits // 2 + 1


def fixed_to_octets(type_: Fixed, value: Decimal) -> bytes:
    """The value has exactly the type's scale."""
    sign, digits, _exponent = value.as_tuple()
    text = "".join(map(str, digits)).rjust(fixed_size(type_) * 2 - 1, "0")
    return bytes.fromhex(text + (_MINUS if sign else _PLUS))


def fixed_from_octets(type_: Fixed, octets: bytes) -> Decimal:
    """Raises ValueError for what is no digit, no sign, or a digit too many."""
    text = octets.hex()
    digits, sign = text[:-1], text[-1]
    if not digits.isdecimal() or sign not in (_PLUS, _MINUS) or len(digits.lstrip("0")) > type_.digits:
        raise ValueError(text)
    number = int(digits)
    return Decimal((int(sign == _MINUS and number != 0), tuple(map(int, str(number))), -type_.scale))


def long_double_to_octets(value: float) -> bytes:
    """IEEE 754 binary128, big-endian; every double is one exactly."""
    sign = math.copysign(1.0, value) < 0
    if not math.isfinite(value):
        exponent, fraction = _SPECIAL, (1 << (_MANTISSA_BITS - 1)) if math.isnan(value) else 0
    elif value == 0:
        exponent, fraction = 0, 0
    else:
        mantissa, power = math.frexp(abs(value))  # mantissa in [0.5, 1)
        exponent = power - 1 + _BIAS
        fraction = (int(math.ldexp(mantissa, 53)) << (_MANTISSA_BITS - 52)) - (1 << _MANTISSA_BITS)
    return ((sign << 127) | (exponent << _MANTISSA_BITS) | fraction).to_bytes(16, "big")


def long_double_from_octets(octets: bytes) -> float:
    """The nearest double; beyond the range of doubles, infinity."""
    bits = int.from_bytes(octets, "big")
    sign = -1.0 if bits >> 127 else 1.0
    exponent = (bits >> _MANTISSA_BITS) & _SPECIAL
    fraction = bits & ((1 << _MANTISSA_BITS) - 1)
    if exponent == _SPECIAL:
        return math.nan if fraction else sign * math.inf
    if not exponent:
        return sign * 0.0  # denormal: far below the smallest double
    scale = exponent - _BIAS - _MANTISSA_BITS
    number = fraction | (1 << _MANTISSA_BITS)
    if scale >= 0 and scale + _MANTISSA_BITS > 1100:
        return sign * math.inf
    if scale < -1400:
        return sign * 0.0
    try:
        return sign * (float(number << scale) if scale >= 0 else number / (1 << -scale))  # both round to nearest
    except OverflowError:
        return sign * math.inf
