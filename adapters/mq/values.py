"""Typed values in the markup: the attribute `dt` and the text (RULES.md 9.2, 9.4)."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from typing import Any, Final

from adapters.mq.codec_error import CodecError
from adapters.mq.markup import Element, escape

_INTEGER: Final = re.compile(r"\s*([+-]?[0-9]{1,19})\s*")
_DECIMAL: Final = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?)[fFdD]?\s*")
_SPECIAL: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "INF": math.inf, "-INF": -math.inf}
_HEXADECIMAL: Final = re.compile(r"(?:[0-9A-Fa-f]{2})*")
_LONGEST_DECIMAL: Final = 1000
_BITS: Final = {"byte": 8, "short": 16, "int": 32, "long": 64}
_TYPES: Final = {
    "string": "String", "boolean": "boolean", "i1": "byte", "i2": "short", "i4": "int", "i8": "long", "int": "long",
    "r4": "float", "r8": "double", "char": "char", "bin.hex": "bytes",
}  # fmt: skip
_DT: Final = {type_: name for name, type_ in _TYPES.items() if name not in ("string", "int")}


def read(element: Element) -> tuple[str, Any]:
    """The JMS type and the value; (String, None) for nil. A `dt` that is not known counts as text. Raises CodecError."""
    if element.children:
        raise CodecError(f"<{element.name}> should hold a value, and holds elements")
    if element.is_nil:
        return "String", None
    type_ = _TYPES.get(element.attributes.get("dt", "string"), "String")
    text = element.text
    if type_ == "String":
        return type_, text
    try:
        return type_, _READERS[type_](text)
    except (ValueError, OverflowError):
        raise CodecError(f"<{element.name}> should be a {type_}, and is {text[:40]!r}") from None


def write(tag: str, type_: str, value: Any, attributes: str = "") -> str:
    """An element with a typed value. Raises CodecError where the value is no such type."""
    if value is None:
        return f"<{tag}{attributes} xsi:nil='true'></{tag}>"
    if type_ == "String":
        return f"<{tag}{attributes}>{escape(_checked(str, type_, value))}</{tag}>"
    try:
        text = _WRITERS[type_](value)
        dt = _DT[type_]
    except KeyError:
        raise CodecError(f"no property has the type {type_!r}") from None
    except (TypeError, ValueError, OverflowError, AttributeError, struct.error) as error:
        raise CodecError(f"{tag} is no {type_}: {error}") from None
    return f"<{tag}{attributes} dt='{dt}'>{text}</{tag}>"


def read_long(text: str) -> int:
    """A 64-bit number. Raises ValueError."""
    return _read_integer(text, 64)


def _read_integer(text: str, bits: int) -> int:
    match = _INTEGER.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return _in_range(int(match[1]), bits)


def _in_range(number: int, bits: int) -> int:
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise ValueError(f"{number} needs more than {bits} bits")
    return number


def _read_boolean(text: str) -> bool:
    word = text.strip().lower()
    if word not in ("0", "1", "true", "false"):
        raise ValueError(text)
    return word in ("1", "true")


def _read_double(text: str) -> float:
    special = _SPECIAL.get(text.strip())
    if special is not None:
        return special
    match = _DECIMAL.fullmatch(text) if len(text) <= _LONGEST_DECIMAL else None
    if match is None:
        raise ValueError(text[:40])
    return float(match[1])


def _read_float(text: str) -> float:
    """The nearest 32-bit number."""
    number: float = struct.unpack("<f", struct.pack("<f", _read_double(text)))[0]
    return number


def _read_char(text: str) -> str:
    if len(text) != 1:
        raise ValueError(text)
    return text


def _read_bytes(text: str) -> bytes:
    if _HEXADECIMAL.fullmatch(text) is None:
        raise ValueError(text)
    return bytes.fromhex(text)


def _write_double(value: float) -> str:
    number = float(value)
    if math.isfinite(number):
        return repr(number)
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _write_float(value: float) -> str:
    """A 32-bit number; in so many digits that it is read back as it was."""
    return _write_double(struct.unpack("<f", struct.pack("<f", value))[0])


def _checked(class_: type, type_: str, value: Any) -> Any:
    if type(value) is not class_:
        raise CodecError(f"a {type_} cannot be a {type(value).__name__}")
    return value


def _integer_reader(bits: int) -> Callable[[str], int]:
    return lambda text: _read_integer(text, bits)


def _integer_writer(type_: str, bits: int) -> Callable[[Any], str]:
    return lambda value: str(_in_range(_checked(int, type_, value), bits))


_READERS: Final[dict[str, Callable[[str], Any]]] = {
    **{type_: _integer_reader(bits) for type_, bits in _BITS.items()},
    "boolean": _read_boolean,
    "float": _read_float,
    "double": _read_double,
    "char": _read_char,
    "bytes": _read_bytes,
}
_WRITERS: Final[dict[str, Callable[[Any], str]]] = {
    **{type_: _integer_writer(type_, bits) for type_, bits in _BITS.items()},
    "boolean": lambda value: "1" if _checked(bool, "boolean", value) else "0",
    "float": _write_float,
    "double": _write_double,
    "char": lambda value: escape(_read_char(value)),
    "bytes": lambda value: bytes(value).hex().upper(),
}
