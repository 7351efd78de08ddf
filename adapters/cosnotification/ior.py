"""What stands in an object reference: addresses, object key, and what the ORB that wrote it says of itself. Imports no ORB."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from mappings.cdr.references import parse
from mappings.errors import MappingError

TAG_IIOP: Final = 0  # of a profile


class Tag(IntEnum):
    """Of a component."""

    ORB_TYPE = 0
    CODE_SETS = 1
    ALTERNATE_IIOP_ADDRESS = 3
    SSL_SEC_TRANS = 20
    CSI_SEC_MECH_LIST = 33
    OMNIORB_BIDIR = 0x41545401
    OMNIORB_UNIX = 0x41545402
    TAO_ENDPOINTS = 0x54414F02


ORBS: Final[Mapping[int, str]] = MappingProxyType(
    {0x41545400: "omniORB", 0x54414F00: "TAO", 0x4A414300: "JacORB", 0x4F4F4300: "ORBacus", 0x56495300: "VisiBroker"}
)
CODE_SET_NAMES: Final[Mapping[int, str]] = MappingProxyType(
    {
        0x00010001: "ISO-8859-1", 0x00010002: "ISO-8859-2", 0x00010005: "ISO-8859-5", 0x0001000F: "ISO-8859-15",
        0x00010020: "ISO-646 (ASCII)", 0x00010100: "UCS-2", 0x00010104: "UCS-4", 0x00010109: "UTF-16",
        0x05010001: "UTF-8", 0x100204E4: "windows-1252",
    }
)  # fmt: skip


class BadReference(ValueError):
    """This is no object reference."""


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class CodeSets:
    """Names. What is native travels as it is; the others the ORB can convert."""

    native: str
    conversions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tls:
    port: int  # 0: the one of the profile
    address: Address | None = None  # where another host was named


@dataclass(frozen=True, slots=True)
class IiopProfile:
    version: str
    addresses: tuple[Address, ...]  # the first is the profile's own
    key: bytes
    components: tuple[int, ...] = ()  # tags
    orb: str | None = None
    code_sets: CodeSets | None = None
    wide_code_sets: CodeSets | None = None
    tls: tuple[Tls, ...] = ()
    bidirectional: bool = False  # said so; other ORBs than omniORB decide it call by call, and say nothing here
    unix: str | None = None  # path of a socket


@dataclass(frozen=True, slots=True)
class ObjectReference:
    type_id: str
    profiles: tuple[IiopProfile, ...]
    other_profiles: tuple[int, ...]  # tags

    @property
    def is_nil(self) -> bool:
        return not self.profiles and not self.other_profiles


def decode_ior(text: str) -> ObjectReference:
    """Raises BadReference."""
    text = text.strip()
    if text[:4].lower() != "ior:":
        raise BadReference("it does not begin with IOR:")
    try:
        reference = parse("IOR:" + text[4:])
        profiles = tuple(_profile(profile.data) for profile in reference.profiles if profile.tag == TAG_IIOP)
    except MappingError as error:
        raise BadReference(error.message) from error
    except (struct.error, IndexError, ValueError, UnicodeDecodeError) as error:
        raise BadReference(f"a profile of it cannot be read: {error}") from error
    others = tuple(profile.tag for profile in reference.profiles if profile.tag != TAG_IIOP)
    return ObjectReference(reference.type_id.decode("latin-1"), profiles, others)


class _Octets:
    """An encapsulation, read from its start."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._order = "<" if data[0] & 1 else ">"
        self._position = 1

    def number(self, code: str) -> int:
        size = struct.calcsize(f"={code}")
        self._position += -self._position % size
        (found,) = struct.unpack_from(self._order + code, self._data, self._position)
        self._position += size
        return int(found)

    def octets(self) -> bytes:
        length = self.number("L")
        end = self._position + length
        if end > len(self._data):
            raise ValueError("it ends early")
        found = self._data[self._position : end]
        self._position = end
        return found

    def text(self) -> str:
        return self.octets().rstrip(b"\0").decode("latin-1")

    def count(self) -> int:
        count = self.number("L")
        if count > len(self._data):
            raise ValueError("it ends early")
        return count

    @property
    def at_end(self) -> bool:
        return self._position >= len(self._data)


def _profile(data: bytes) -> IiopProfile:
    read = _Octets(data)
    version = f"{read.number('B')}.{read.number('B')}"
    addresses = [Address(read.text(), read.number("H"))]
    key = read.octets()
    components: list[tuple[int, bytes]] = []
    if version != "1.0" and not read.at_end:
        components = [(read.number("L"), read.octets()) for _ in range(read.count())]
    found: dict[str, object] = {}
    tls: list[Tls] = []
    for tag, content in components:
        match tag:
            case Tag.ORB_TYPE if len(content) >= 8:
                found["orb"] = orb_name(_Octets(content).number("L"))
            case Tag.CODE_SETS:
                inside = _Octets(content)
                found["code_sets"], found["wide_code_sets"] = _code_sets(inside), _code_sets(inside)
            case Tag.ALTERNATE_IIOP_ADDRESS:
                inside = _Octets(content)
                addresses.append(Address(inside.text(), inside.number("H")))
            case Tag.SSL_SEC_TRANS:
                inside = _Octets(content)
                inside.number("H"), inside.number("H")  # what it supports and requires
                tls.append(Tls(inside.number("H")))
            case Tag.CSI_SEC_MECH_LIST:
                tls.append(Tls(0))
            case Tag.OMNIORB_BIDIR:
                found["bidirectional"] = True
            case Tag.OMNIORB_UNIX:
                inside = _Octets(content)
                inside.text()  # the host
                found["unix"] = inside.text()
            case Tag.TAO_ENDPOINTS:
                inside = _Octets(content)
                for _ in range(inside.count()):
                    address = Address(inside.text(), inside.number("H"))
                    inside.number("h")  # its priority
                    addresses.append(address)
    unique = tuple(dict.fromkeys(addresses))
    return IiopProfile(version, unique, key, tuple(tag for tag, _ in components), tls=tuple(tls), **found)  # type: ignore[arg-type]


def _code_sets(read: _Octets) -> CodeSets:
    native = read.number("L")
    return CodeSets(_code_set(native), tuple(_code_set(read.number("L")) for _ in range(read.count())))


def _code_set(number: int) -> str:
    return CODE_SET_NAMES.get(number, f"{number:#010x}" if number else "none")


def orb_name(number: int) -> str:
    """Its name where it is known, else what the vendor's four octets spell."""
    letters = struct.pack(">L", number).rstrip(b"\0")
    spelt = letters.decode("latin-1") if letters.isalnum() else ""
    return ORBS.get(number) or (f"{spelt} ({number:#010x})" if spelt else f"{number:#010x}")


def shorten(reference: str) -> str:
    """For messages: an IOR is hundreds of characters of nothing to read."""
    return reference if len(reference) <= 80 else f"{reference[:60]}…"
