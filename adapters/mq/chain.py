"""The headers before a message's body: MQDLH, MQMDE, any number of MQRFH2, and others, which are skipped (RULES.md 9.6).

Each names the Format, code page and Encoding of what follows; the last one's are those of the body.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from adapters.mq import rfh2
from adapters.mq.code_pages import INHERIT, QUEUE_MANAGER, byte_order
from adapters.mq.codec_error import CodecError
from adapters.mq.rfh2 import Rfh2, format_name

DEAD_LETTER: Final = "MQDEAD"
DESCRIPTOR_EXTENSION: Final = "MQHMDE"
SKIPPED: Final = {"MQHRF": b"RFH ", "MQCICS": b"CIH ", "MQIMS": b"IIH ", "MQHWIH": b"WIH ", "MQHREF": b"RMH "}
"""Formats whose structures all begin: StrucId, Version, StrucLength, Encoding, CodedCharSetId, Format, Flags."""

MOST_HEADERS: Final = 32
DLH_LENGTH: Final = 172
MDE_LENGTH: Final = 72
_DLH: Final = {order: struct.Struct(f"{order}4sii48s48sii8si28s8s8s") for order in "<>"}
_MDE: Final = {order: struct.Struct(f"{order}4s4i8si24s4i") for order in "<>"}
_COMMON: Final = {order: struct.Struct(f"{order}4s4i8s") for order in "<>"}


class DeadLetterHeader(NamedTuple):
    reason: int
    queue: str
    queue_manager: str


class Group(NamedTuple):
    """What an MQMDE tells of groups: an MQMD of version 1 has no room for it."""

    id: bytes
    sequence_number: int
    flags: int


class Contents(NamedTuple):
    """A message without its headers."""

    body: bytes
    format: str
    encoding: int
    ccsid: int
    rfh2: tuple[Rfh2, ...] = ()
    dead_letter: DeadLetterHeader | None = None
    group: Group | None = None


def unwrap(data: bytes, format_: str, encoding: int, ccsid: int) -> Contents:
    """Follow the chain that the MQMD's Format begins. Raises CodecError."""
    headers: list[Rfh2] = []
    dead_letter = None
    group = None
    position = 0
    for _ in range(MOST_HEADERS):
        rest = data[position:] if position else data
        if format_ == rfh2.FORMAT:
            header, length = rfh2.parse(rest, encoding)
            headers.append(header)
            following = header.encoding, header.ccsid, header.format
        elif format_ == DEAD_LETTER:
            dead_letter, following = _dead_letter(rest, encoding)
            length = DLH_LENGTH
        elif format_ == DESCRIPTOR_EXTENSION:
            group, following = _extension(rest, encoding)
            length = MDE_LENGTH
        elif format_ in SKIPPED:
            length, following = _skipped(rest, encoding, format_)
        else:
            return Contents(rest, format_, encoding, ccsid, tuple(headers), dead_letter, group)
        position += length
        encoding, following_ccsid, format_ = following
        if following_ccsid not in (INHERIT, QUEUE_MANAGER):
            ccsid = following_ccsid
    raise CodecError(f"a message with more than {MOST_HEADERS} headers")


def dead_letter_header(
    *, reason: int, queue: str, queue_manager: str, encoding: int, ccsid: int, format_: str, application: str, now: str
) -> bytes:
    """An MQDLH in our own byte order, for the front of a message that has these; `now` is YYYYMMDDHHMMSShh."""
    return _DLH["<"].pack(
        b"DLH ", 1, reason, _field(queue, 48), _field(queue_manager, 48), encoding, ccsid, _field(format_, 8),
        6, _field(application, 28), now[:8].encode("ascii"), now[8:16].encode("ascii"),
    )  # fmt: skip


Following = tuple[int, int, str]


def _dead_letter(data: bytes, encoding: int) -> tuple[DeadLetterHeader, Following]:
    if len(data) < DLH_LENGTH:
        raise CodecError(f"an MQDLH of {len(data)} bytes is too short")
    fields = _DLH[byte_order(encoding)].unpack_from(data)
    letters = _letters(fields[0], b"DLH ")
    if fields[1] != 1:
        raise CodecError(f"an MQDLH of Version {fields[1]}, not 1")
    header = DeadLetterHeader(fields[2], format_name(fields[3], letters), format_name(fields[4], letters))
    return header, (fields[5], fields[6], format_name(fields[7], letters))


def _extension(data: bytes, encoding: int) -> tuple[Group, Following]:
    if len(data) < MDE_LENGTH:
        raise CodecError(f"an MQMDE of {len(data)} bytes is too short")
    fields = _MDE[byte_order(encoding)].unpack_from(data)
    letters = _letters(fields[0], b"MDE ")
    if fields[1] != 2 or fields[2] != MDE_LENGTH:
        raise CodecError(f"an MQMDE of Version {fields[1]} and {fields[2]} bytes, not 2 and {MDE_LENGTH}")
    return Group(fields[7], fields[8], fields[10]), (fields[3], fields[4], format_name(fields[5], letters))


def _skipped(data: bytes, encoding: int, format_: str) -> tuple[int, Following]:
    common = _COMMON[byte_order(encoding)]
    if len(data) < common.size:
        raise CodecError(f"a header of format {format_} of {len(data)} bytes is too short")
    struc_id, _, length, inner_encoding, ccsid, inner_format = common.unpack_from(data)
    letters = _letters(struc_id, SKIPPED[format_])
    if not common.size <= length <= len(data):
        raise CodecError(
            f"the StrucLength of a header of format {format_} is {length}, but {len(data)} bytes are there"
        )
    return length, (inner_encoding, ccsid, format_name(inner_format, letters))


def _letters(struc_id: bytes, expected: bytes) -> str:
    """The codec of a structure's character fields: those from z/OS may be in EBCDIC."""
    if struc_id == expected:
        return "ascii"
    if struc_id == expected.decode("ascii").encode("cp500"):
        return "cp500"
    raise CodecError(f"the StrucId of a header is {struc_id!r}, not {expected!r}")


def _field(text: str, size: int) -> bytes:
    return text.encode("ascii", "replace")[:size].ljust(size)
