"""The bytes of a segment file. docs/journal.md draws them; this file is the only one that knows them.

    segment = header, record, record, …
    header  = magic, format version, header length, code set, first sequence, time of creation, journal id, zeros, CRC   64 bytes
    record  = marker, body length, sequence, kind, flags, CRC of the body, CRC of all before it                          26 bytes
              body

All numbers are big-endian. The CRC of a record's head is seeded with the journal's id and the segment's first sequence, so that
bytes of a record of another journal or segment, for instance inside the body of an event, never pass for a record of this one.
The head has a CRC of its own, so that a length is not believed before it is known to be one of ours.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Final, NamedTuple
from zlib import crc32

MAGIC: Final = b"\x89ISJ\r\n\x1a\n"  # a text-mode copy or a 7-bit channel breaks it, and is seen
VERSION: Final = 1
UTF_8: Final = 0x05010001  # of the OSF code set registry, as CORBA names it: the code set of text in bodies

_HEADER: Final = struct.Struct(">8sHHIQQ16s12s")
HEADER_BYTES: Final = _HEADER.size + 4

MARKER: Final = b"\xe1Jr\x1c"
_HEAD: Final = struct.Struct(">4sIQBBI")
_CRC: Final = struct.Struct(">I")
_WHOLE_HEAD: Final = struct.Struct(">4sIQBBII")
HEAD_BYTES: Final = _HEAD.size + _CRC.size
_CHECKED_BYTES: Final = _HEAD.size

_PACK_HEAD: Final = _HEAD.pack
_PACK_CRC: Final = _CRC.pack

LARGEST_BODY: Final = 256 * 1024 * 1024

DATA: Final = 1  # the body is what was appended, through the envelope that the flags name
GAP: Final = 2  # written by repair: the body is the first missing sequence, the record's own sequence the last


class Header(NamedTuple):
    """What a segment says of itself."""

    version: int
    code_set: int
    first: int
    created_ms: int
    journal_id: bytes


class Head(NamedTuple):
    """The head of a record whose own CRC is right."""

    length: int
    sequence: int
    kind: int
    flags: int
    body_crc: int


def pack_header(first: int, created_ms: int, journal_id: bytes) -> bytes:
    packed = _HEADER.pack(MAGIC, VERSION, HEADER_BYTES, UTF_8, first, created_ms, journal_id, bytes(12))
    return packed + _CRC.pack(crc32(packed))


def unpack_header(data: bytes) -> Header | None:
    """None where these are not the bytes of a whole header."""
    if len(data) < HEADER_BYTES or not data.startswith(MAGIC):
        return None
    if crc32(data[: _HEADER.size]) != _CRC.unpack_from(data, _HEADER.size)[0]:
        return None
    _, version, _, code_set, first, created_ms, journal_id, _ = _HEADER.unpack_from(data)
    return Header(version, code_set, first, created_ms, journal_id)


def seed_of(journal_id: bytes, first: int) -> int:
    """What the CRC of every head in a segment starts from."""
    return crc32(journal_id + first.to_bytes(8, "big"))


def pack_record(seed: int, sequence: int, kind: int, flags: int, body: bytes) -> bytes:
    """The head; the body follows it."""
    head = _HEAD.pack(MARKER, len(body), sequence, kind, flags, crc32(body))
    return head + _CRC.pack(crc32(head, seed))


def pack_plain(seed: int, first: int, bodies: Iterable[bytes]) -> list[bytes]:
    """Heads and bodies of consecutive DATA records without flags, to be joined: the same as above, without a call for each."""
    parts: list[bytes] = []
    add = parts.append
    for sequence, body in enumerate(bodies, first):
        head = _PACK_HEAD(MARKER, len(body), sequence, DATA, 0, crc32(body))
        add(head)
        add(_PACK_CRC(crc32(head, seed)))
        add(body)
    return parts


def unpack_head(data: bytes, at: int, seed: int) -> Head | None:
    """None where no head of ours stands at this place; `data` holds at least HEAD_BYTES from there on."""
    marker, length, sequence, kind, flags, body_crc, head_crc = _WHOLE_HEAD.unpack_from(data, at)
    if marker != MARKER or length > LARGEST_BODY or crc32(data[at : at + _CHECKED_BYTES], seed) != head_crc:
        return None
    return Head(length, sequence, kind, flags, body_crc)
