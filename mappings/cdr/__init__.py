"""CDR encapsulations of values and anys, in both byte orders (OC-BODY-6, OC-TYPE-20).

An encapsulation begins with the octet of its byte order; alignment counts from there. The one of an any holds its TypeCode and
its value, as `IOP::Codec.encode` makes it; the one of a value holds the value alone, as `encode_value` does. The octets are
those of omniORB on a little-endian machine, with these differences: pad octets are zero, and a valuetype's chunk ends where
the value or a nested one demands it, never where a buffer happens to be full. In particular

    - strings are UTF-8; wide strings are UTF-16 with a byte order mark, little-endian in both byte orders;
    - the encapsulations inside a TypeCode are little-endian in both byte orders;
    - a named type that occurs again in a TypeCode is an indirection to its first occurrence;
    - valuetypes are chunked, and carry a repository id only where it is an RMI one.

What is read may be written in any other way that CDR allows.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from mappings.cdr.decoders import decoders_for
from mappings.cdr.encoders import encoders_for
from mappings.cdr.errors import malformed
from mappings.cdr.input import Input
from mappings.cdr.output import Output
from mappings.checking import check_value
from mappings.errors import MappingError
from mappings.idl_types import ANY, IdlType
from mappings.model import Any_

__all__ = ["any_encoder", "decode_any", "decode_value", "encode_any", "encode_bare", "encode_value"]

_MISFITS = (struct.error, LookupError, TypeError, ValueError, AttributeError, OverflowError)


def encode_any(any_: Any_, *, little: bool = True) -> bytes:
    """The encapsulation of an any. Raises MappingError where the value does not fit its type or CDR cannot carry it."""
    return encode_value(ANY, any_, little=little)


def any_encoder(type_: IdlType) -> Callable[[Any], bytes]:
    """`encode_any` for values of one type: the beginning, which is that of all of them, is made once."""
    encoders = encoders_for(True)
    start = b"\1\0\0\0" + encoders.typecode(type_)  # its byte order, and pads up to the TypeCode
    encode = encoders(type_)

    def encode_one(value: Any) -> bytes:
        out = Output(start)
        try:
            encode(out, value, 1)
        except _MISFITS:
            check_value(ANY, Any_(type_, value))
            raise
        return bytes(out)

    return encode_one


def decode_any(data: bytes) -> Any_:
    """The any in an encapsulation. Whatever the octets are, raises MappingError and nothing else (MAP-CDR-…, MAP-DEPTH)."""
    any_: Any_ = decode_value(ANY, data)
    return any_


def encode_value(type_: IdlType, value: Any, *, little: bool = True) -> bytes:
    """The encapsulation of a value alone. Raises as `encode_any` does."""
    return _encode(b"\1" if little else b"\0", type_, value, little)


def encode_bare(type_: IdlType, value: Any, *, little: bool = True) -> bytes:
    """The octets of a value where no octet of a byte order stands before it, and 8 divides the offset."""
    return _encode(b"", type_, value, little)


def _encode(start: bytes, type_: IdlType, value: Any, little: bool) -> bytes:
    out = Output(start)
    try:
        encoders_for(little)(type_)(out, value, 0)
    except _MISFITS:
        check_value(type_, value)  # says what does not fit, and where
        raise
    return bytes(out)


def decode_value(type_: IdlType, data: bytes) -> Any:
    """The value of a known type in an encapsulation. Raises as `decode_any` does."""
    if not data or data[0] > 1:
        raise malformed("MAP-CDR-ORDER", "an encapsulation begins with its byte order, 0 or 1", 0)
    source = Input(bytes(data), 1, little=data[0] == 1)
    try:
        value = decoders_for(data[0] == 1)(type_)(source, 0)
    except MappingError as error:
        error.path = error.path or f"octet {source.pos}"
        raise
    if source.pos != len(data):
        raise malformed("MAP-CDR-REST", f"{len(data) - source.pos} octets are left over", source.pos)
    return value
