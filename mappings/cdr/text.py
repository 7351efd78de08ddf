"""Wide text by the rules of GIOP 1.2: UTF-16, big-endian unless a byte order mark says otherwise."""

from __future__ import annotations

from mappings.cdr.errors import malformed


def wide_text(octets: bytes, position: int) -> str:
    """The text of a wstring. Raises MAP-CDR-TEXT for what is no UTF-16, and for NUL."""
    try:
        if octets.startswith(b"\xff\xfe"):
            text = octets[2:].decode("utf-16-le")
        else:
            text = octets.removeprefix(b"\xfe\xff").decode("utf-16-be")
    except UnicodeDecodeError:
        raise malformed("MAP-CDR-TEXT", "wide text is not UTF-16", position) from None
    if "\0" in text:
        raise malformed("MAP-CDR-TEXT", "a wstring holds NUL", position)
    return text


def wide_character(octets: bytes, position: int) -> str:
    """A wchar: one code unit, which may have a byte order mark before it."""
    if octets == b"\0\0":
        return "\0"
    text = octets.decode("utf-16-be", "replace") if len(octets) == 2 else wide_text(octets, position)
    if len(text) != 1 or text > "\uffff" or (text == "\ufffd" and octets != b"\xff\xfd"):
        raise malformed("MAP-CDR-TEXT", f"{octets[:8].hex()} is no wchar", position)
    return text
