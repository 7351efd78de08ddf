"""Object references: between the stringified IOR of a value and the IOR that stands in CDR.

A stringified IOR is itself an encapsulation, in either byte order; the one in CDR is not, so that the order is lost. References
that are read are written little-endian, as omniORB does.
"""

from __future__ import annotations

from struct import pack, unpack_from
from typing import Final, NamedTuple

from mappings.errors import MappingError

PREFIX: Final = "IOR:"


class Profile(NamedTuple):
    tag: int
    data: bytes


class Reference(NamedTuple):
    """An IOR. A nil reference has neither a type id nor profiles."""

    type_id: bytes
    profiles: tuple[Profile, ...]


NIL: Final = Reference(b"", ())


def parse(text: str) -> Reference:
    """Raises MAP-VALUE-REFERENCE where the text is no IOR."""
    try:
        return _parse(bytes.fromhex(text[len(PREFIX) :]))
    except (ValueError, IndexError, ArithmeticError) as error:
        raise MappingError("MAP-VALUE-REFERENCE", f"the IOR cannot be read: {error}") from None


def _parse(data: bytes) -> Reference:
    order = "<" if data[0] & 1 else ">"
    position = 1

    def ulong() -> int:
        nonlocal position
        position = (position + 3) & ~3
        if position + 4 > len(data):
            raise ValueError("it ends early")
        number: int = unpack_from(f"{order}L", data, position)[0]
        position += 4
        return number

    def octets() -> bytes:
        nonlocal position
        length = ulong()
        if position + length > len(data):
            raise ValueError("it ends early")
        position += length
        return data[position - length : position]

    type_id = octets()[:-1]
    profiles = tuple(Profile(ulong(), octets()) for _ in range(_checked(ulong(), len(data))))
    return Reference(type_id, profiles)


def _checked(count: int, size: int) -> int:
    if count * 8 > size:
        raise ValueError("it ends early")
    return count


def stringify(reference: Reference) -> str | None:
    """The little-endian stringified IOR; None for a nil reference."""
    if not reference.profiles:
        return None
    out = bytearray(b"\1")

    def ulong(number: int) -> None:
        out.extend(bytes(-len(out) & 3) + pack("<L", number))

    ulong(len(reference.type_id) + 1)
    out.extend(reference.type_id + b"\0")
    ulong(len(reference.profiles))
    for tag, data in reference.profiles:
        ulong(tag)
        ulong(len(data))
        out.extend(data)
    return PREFIX + out.hex()
