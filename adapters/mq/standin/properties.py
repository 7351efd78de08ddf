"""Message properties on the stand-in: message handles, and properties that travel with a message.

A property's name is kept with its folder (`usr.` where the caller gives none), its value in the bytes of the MQI.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from adapters.mq import values
from adapters.mq.mqi import (
    MQCC_FAILED,
    MQCC_OK,
    MQCC_WARNING,
    MQRC_NONE,
    MQRC_PROPERTY_NAME_ERROR,
    MQRC_PROPERTY_NOT_AVAILABLE,
    MQRC_PROPERTY_TYPE_ERROR,
    MQRC_PROPERTY_VALUE_TOO_BIG,
)
from adapters.mq.standin.connections import MqiError

STRING: Final = 1024
_NULL: Final = 2
_BYTES: Final = 8
_FIXED: Final = {
    4: ("boolean", "i"), 16: ("byte", "b"), 32: ("short", "h"), 64: ("int", "i"), 128: ("long", "q"), 256: ("float", "f"),
    512: ("double", "d"),
}  # fmt: skip
_INQUIRE_NEXT: Final = 8  # MQIMPO_INQ_NEXT
_SHOWN_TO_RFH2: Final = frozenset(("usr", "jms", "mcd", "mqext"))
"""Folders for which the queue attribute PROPCTL(COMPAT), the default, gives all properties as an MQRFH2."""

Properties = dict[str, tuple[int, bytes]]  # by name: type and value


@dataclass(eq=False)
class MessageHandle:
    properties: Properties = field(default_factory=dict)
    at: int = -1  # where an inquiry with wildcards stands


class Found(NamedTuple):
    value: bytes
    length: int
    type: int
    name: bytes
    completion: int = MQCC_OK
    reason: int = MQRC_NONE


def change(handle: MessageHandle, name: bytes, type_: int, value: bytes) -> None:
    if type_ in _FIXED and len(value) != struct.calcsize("@" + _FIXED[type_][1]):
        raise MqiError(MQRC_PROPERTY_TYPE_ERROR)
    if type_ not in (*_FIXED, _NULL, _BYTES, STRING):
        raise MqiError(MQRC_PROPERTY_TYPE_ERROR)
    handle.properties[_whole(name)] = type_, value


def inquire(handle: MessageHandle, options: int, name: bytes, room: int) -> Found:
    found = handle.properties
    if name.endswith(b"%"):
        beginning = name[:-1].decode()
        names = [key for key in found if key.startswith(beginning)]
        handle.at = handle.at + 1 if options & _INQUIRE_NEXT else 0
        if handle.at >= len(names):
            raise MqiError(MQRC_PROPERTY_NOT_AVAILABLE)
        key = names[handle.at]
    else:
        key = _whole(name)
    if key not in found:
        raise MqiError(MQRC_PROPERTY_NOT_AVAILABLE)
    type_, value = found[key]
    shown = key.removeprefix("usr.").encode()
    if len(value) > room:
        return Found(value[:room], len(value), type_, shown, MQCC_FAILED, MQRC_PROPERTY_VALUE_TOO_BIG)
    return Found(value, len(value), type_, shown)


def remove(handle: MessageHandle, name: bytes) -> None:
    if handle.properties.pop(_whole(name), None) is None:
        raise MqiError(MQRC_PROPERTY_NOT_AVAILABLE, MQCC_WARNING)


def need_a_header(properties: Mapping[str, object]) -> bool:
    """Whether whoever asks for nothing special gets them as an MQRFH2."""
    return any(name.partition(".")[0] in _SHOWN_TO_RFH2 for name in properties)


def folders(properties: Properties) -> tuple[str, ...]:
    """As they stand in an MQRFH2."""
    by_folder: dict[str, str] = {}
    for name, (type_, value) in properties.items():
        folder, _, tag = name.partition(".")
        by_folder[folder] = by_folder.get(folder, "") + values.write(tag, *_as_value(type_, value))
    return tuple(f"<{folder}>{content}</{folder}>" for folder, content in by_folder.items())


def packed(type_: int, value: Any, length: int) -> bytes:
    """A value of Python as the C part of a library would hand it on; what has the wrong type is empty, and refused then."""
    if type_ in _FIXED:
        try:
            return struct.pack("@" + _FIXED[type_][1], value)
        except (struct.error, OverflowError):
            return b""
    octets = value.encode() if isinstance(value, str) else bytes(value or b"")
    return octets if length < 0 else octets[:length]


def unpacked(type_: int, value: bytes) -> Any:
    """As the C part of a library gives it back; None where there is nothing."""
    if type_ in _FIXED and len(value) != struct.calcsize("@" + _FIXED[type_][1]):
        return None
    return _as_value(type_, value)[1]


def _as_value(type_: int, value: bytes) -> tuple[str, Any]:
    if type_ in _FIXED:
        kind, code = _FIXED[type_]
        (number,) = struct.unpack("@" + code, value)
        return kind, bool(number) if kind == "boolean" else number
    if type_ == _BYTES:
        return "bytes", value
    return "String", None if type_ == _NULL else value.decode("utf-8", "replace")


def _whole(name: bytes) -> str:
    text = name.decode("utf-8", "replace")
    if not text or text.startswith((".", " ")):
        raise MqiError(MQRC_PROPERTY_NAME_ERROR)
    return text if "." in text else f"usr.{text}"
