"""The MQRFH2 header: 36 bytes, then folders, each with its length (RULES.md 9.1).

Its integers are in the byte order that the structure *before* it names (the MQMD, for the first); Encoding, CodedCharSetId and
Format inside it are about what *follows*. `parse` never trusts a length.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from adapters.mq.code_pages import NAME_VALUE_CODE_PAGES, NATIVE_ENCODING, UTF_8, byte_order, codec
from adapters.mq.codec_error import CodecError
from adapters.mq.markup import PADDING

FORMAT: Final = "MQHRF2"
FIXED: Final = 36
MOST_FOLDERS: Final = 1000
BYTE_ORDER_MARK: Final = "\ufeff"
_FIELDS: Final = {order: struct.Struct(f"{order}4s4i8s2i") for order in "<>"}
_STRUC_ID: Final = b"RFH "
_STRUC_ID_EBCDIC: Final = "RFH ".encode("cp500")


class Rfh2(NamedTuple):
    """One header; `folders` are texts, without their padding."""

    folders: tuple[str, ...] = ()
    encoding: int = NATIVE_ENCODING  # of what follows, as the next two
    ccsid: int = UTF_8
    format: str = ""
    flags: int = 0
    name_value_ccsid: int = UTF_8


def parse(data: bytes, encoding: int) -> tuple[Rfh2, int]:
    """The header at the beginning of `data`, and its length. Raises CodecError."""
    if len(data) < FIXED:
        raise CodecError(f"an MQRFH2 of {len(data)} bytes is too short")
    order = byte_order(encoding)
    struc_id, version, length, inner_encoding, ccsid, format_, flags, name_value_ccsid = _FIELDS[order].unpack_from(
        data
    )
    if struc_id not in (_STRUC_ID, _STRUC_ID_EBCDIC):
        raise CodecError(f"no MQRFH2: its StrucId is {struc_id!r}")
    if version != 2:
        raise CodecError(f"an MQRFH2 of Version {version}, not 2: a wrong byte order, or no MQRFH2")
    if not FIXED <= length <= len(data):
        raise CodecError(f"the StrucLength of an MQRFH2 is {length}, but {len(data)} bytes are there")
    if name_value_ccsid not in NAME_VALUE_CODE_PAGES:
        raise CodecError(f"an MQRFH2 with NameValueCCSID {name_value_ccsid}: only 1208, 1200, 13488, 17584 are allowed")
    folders = _folders(data, length, order, codec(name_value_ccsid, encoding))
    letters = "ascii" if struc_id == _STRUC_ID else "cp500"
    name = format_name(format_, letters)
    return Rfh2(folders, inner_encoding, ccsid, name, flags, name_value_ccsid), length


def build(header: Rfh2, encoding: int = NATIVE_ENCODING) -> bytes:
    """The bytes, with integers in the byte order of `encoding`, which the MQMD (or header) before must name. Raises CodecError."""
    order = byte_order(encoding)
    name = codec(header.name_value_ccsid, encoding)
    blank = " ".encode(name)
    pieces = [b""]
    for folder in header.folders:
        try:
            text = folder.encode(name)
        except UnicodeEncodeError as error:
            raise CodecError(f"text that is not Unicode: {error.reason}") from None
        text += blank * (-len(text) % 4 // len(blank))
        pieces += struct.pack(f"{order}i", len(text)), text
    length = FIXED + sum(map(len, pieces))
    format_ = header.format.encode("ascii").ljust(8)
    pieces[0] = _FIELDS[order].pack(
        _STRUC_ID, 2, length, header.encoding, header.ccsid, format_, header.flags, header.name_value_ccsid
    )
    return b"".join(pieces)


def format_name(field: bytes, letters: str = "ascii") -> str:
    """A Format field without its padding; what is no letter is kept, visibly."""
    return field.decode(letters, "backslashreplace").rstrip(PADDING)


def _folders(data: bytes, end: int, order: str, name: str) -> tuple[str, ...]:
    found: list[str] = []
    position = FIXED
    while position < end:
        size = _length_at(data, position, end, order)
        position += 4
        try:
            text = _decoded(data[position : position + size], name)
        except UnicodeDecodeError as error:
            raise CodecError(f"a folder of an MQRFH2 is not {name}: {error.reason}") from None
        position += size
        if size % 4:
            position = _after_odd(data, position, end, order)
        if text:
            found.append(text)
            if len(found) > MOST_FOLDERS:
                raise CodecError(f"an MQRFH2 with more than {MOST_FOLDERS} folders")
    return tuple(found)


def _decoded(data: bytes, name: str) -> str:
    """A folder's text. IBM's Java classes write UTF-16 with byte order marks, and in an order that the header does not name."""
    if name.startswith("utf-16"):
        beginning = data[:2]
        if beginning in (b"\xfe\xff", b"\0<"):
            name = "utf-16-be"
        elif beginning in (b"\xff\xfe", b"<\0"):
            name = "utf-16-le"
    return data.decode(name).strip(PADDING + BYTE_ORDER_MARK)


def _length_at(data: bytes, position: int, end: int, order: str) -> int:
    if end - position < 4:
        raise CodecError("an MQRFH2 with stray bytes behind its folders")
    size: int = struct.unpack_from(f"{order}i", data, position)[0]
    if not 0 <= size <= end - position - 4:
        raise CodecError(f"a folder of an MQRFH2 has the length {size}, but {end - position - 4} bytes are left")
    return size


def _after_odd(data: bytes, position: int, end: int, order: str) -> int:
    """Where the next folder begins after one whose length is no multiple of 4: foreign writers pad behind it, or not at all."""
    aligned = min(end, position + -position % 4)
    for candidate in (position, aligned):
        if candidate == end:
            return candidate
        try:
            size = _length_at(data, candidate, end, order)
        except CodecError:
            continue
        if data[candidate + 4 : candidate + 4 + size].lstrip(b"\0")[:1] in (b"<", b""):
            return candidate
    return position
