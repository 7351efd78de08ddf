"""Numbers, text and octets as JSON (FORMS.md section 2), for IDL values and for JMS values alike.

A whole number of 64 bits outside ±2^53 is written as a decimal string, because JSON readers in other languages keep numbers
as doubles; both spellings are read. A number of 32 bits is written as the shortest decimal that reads back as the same number.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from math import isfinite, isnan
from struct import Struct
from typing import Any, Final, TypeAlias

from mappings.checking import (
    BASIC_CHECKS,
    FLOAT_LIMIT,
    INTEGER_RANGES,
    check_fixed,
    describe,
    out_of_range,
    wrong_type,
)
from mappings.errors import MappingError
from mappings.fixed_point import at_scale
from mappings.idl_types import Fixed

Reader: TypeAlias = Callable[[Any, int], Any]
"""Takes a form and its depth, gives the value; raises MappingError with the path from here downwards."""
Writer: TypeAlias = Callable[[Any, int], Any]
"""Takes a value that fits and its depth, gives its form."""

EXACT: Final = 2**53
"""Every whole number up to here is a double."""

_WHOLE: Final = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_DECIMAL: Final = re.compile(r"-?[0-9]{1,62}(\.[0-9]{1,62})?", re.ASCII)
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]*={0,2}", re.ASCII)
_SPECIAL: Final = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_SINGLE: Final = Struct("<f")


def read_integer(kind: str, low: int, high: int) -> Reader:
    """A reader for whole numbers of at most 32 bits."""

    def read(form: Any, _depth: int) -> int:
        if type(form) is not int:
            raise wrong_type(f"a {kind}", form)
        if not low <= form <= high:
            raise out_of_range(kind, form)
        return form

    return read


def read_wide_integer(kind: str, low: int, high: int) -> Reader:
    """A reader for whole numbers of 64 bits."""

    def read(form: Any, _depth: int) -> int:
        number = form
        if type(form) is str and _WHOLE.fullmatch(form):
            number = int(form)
        if type(number) is not int:
            raise wrong_type(f"a {kind}", form, "a number, or a text of decimal digits")
        if not low <= number <= high:
            raise out_of_range(kind, form)
        return number

    return read


def write_wide_integer(value: int, _depth: int = 0) -> int | str:
    return value if -EXACT <= value <= EXACT else str(value)


def read_double(form: Any, _depth: int = 0) -> float:
    if type(form) is float:
        return form
    if type(form) is int:
        try:
            return float(form)
        except OverflowError:
            raise out_of_range("double", form) from None
    if type(form) is str and form in _SPECIAL:
        return _SPECIAL[form]
    raise wrong_type("a number", form, 'or "NaN", "Infinity", "-Infinity"')


def read_single(form: Any, _depth: int = 0) -> float:
    """Rounds to the nearest number of 32 bits, as every ORB and every JVM will."""
    value = read_double(form)
    if not isfinite(value):
        return value
    if not -FLOAT_LIMIT < value < FLOAT_LIMIT:
        raise out_of_range("float", form)
    single: float = _SINGLE.unpack(_SINGLE.pack(value))[0]
    return single


def write_double(value: float, _depth: int = 0) -> float | str:
    if isfinite(value):
        return value
    if isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def write_single(value: float, _depth: int = 0) -> float | str:
    if not isfinite(value):
        return write_double(value)
    exact = _SINGLE.pack(value)
    for digits in (6, 7, 8):
        shorter = float(f"{value:.{digits}g}")
        if -FLOAT_LIMIT < shorter < FLOAT_LIMIT and _SINGLE.pack(shorter) == exact:
            return shorter
    return float(f"{value:.9g}")  # nine digits tell any two numbers of 32 bits apart


def read_octets(form: Any) -> bytes:
    if type(form) is not dict or form.keys() != {"base64"}:
        raise wrong_type('octets as {"base64": …}', form)
    text = form["base64"]
    if type(text) is not str or len(text) % 4 or not _BASE64.fullmatch(text):
        raise MappingError("MAP-VALUE-TYPE", f"expected base64, found {describe(text)}", path=".base64")
    return base64.b64decode(text)


def write_octets(value: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(value).decode("ascii")}


def read_fixed(type_: Fixed) -> Reader:
    def read(form: Any, _depth: int) -> Decimal:
        if type(form) is not str or not _DECIMAL.fullmatch(form):
            raise wrong_type("a decimal number", form, 'written as a text such as "12.50"')
        value = Decimal(form)
        check_fixed(type_, value)
        return at_scale(type_, value)

    return read


def write_fixed(type_: Fixed) -> Writer:
    return lambda value, _depth: f"{at_scale(type_, value):f}"


def _checked(kind: str) -> Reader:
    check = BASIC_CHECKS[kind]

    def read(form: Any, depth: int) -> Any:
        check(form, depth)
        return form

    return read


BASIC_READERS: Final[Mapping[str, Reader]] = {
    **{kind: read_integer(kind, *limits) for kind, limits in INTEGER_RANGES.items()},
    **{kind: read_wide_integer(kind, *INTEGER_RANGES[kind]) for kind in ("longlong", "ulonglong")},
    **{kind: _checked(kind) for kind in ("null", "void", "boolean", "char", "wchar", "Object")},
    "float": read_single,
    "double": read_double,
    "longdouble": read_double,
}

BASIC_WRITERS: Final[Mapping[str, Writer]] = {
    "longlong": write_wide_integer,
    "ulonglong": write_wide_integer,
    "float": write_single,
    "double": write_double,
    "longdouble": write_double,
}
"""The kinds whose form is not the value itself."""
