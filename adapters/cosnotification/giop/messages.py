"""GIOP messages: where one ends, what a request asks for, how a reply ended. Imports no ORB.

Only GIOP 1.2 is looked into, which is what every ORB of this century speaks; of 1.0 and 1.1 the length is all that is read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

HEADER_SIZE: Final = 12
MAGIC: Final = b"GIOP"

REQUEST: Final = 0
REPLY: Final = 1
CLOSE_CONNECTION: Final = 5
MESSAGE_ERROR: Final = 6
FRAGMENT: Final = 7

NO_EXCEPTION: Final = 0
USER_EXCEPTION: Final = 1
SYSTEM_EXCEPTION: Final = 2

_COMPLETED_NO: Final = 1
CODE_SETS: Final = 1  # id of the service context
UTF_8: Final = 0x05010001
UTF_16: Final = 0x00010109

_LITTLE: Final = 1
_MORE_FRAGMENTS: Final = 2
_ANSWER_WANTED: Final = 3
_BY_KEY: Final = 0

_ULONG: Final = {True: struct.Struct("<L"), False: struct.Struct(">L")}
_TWO: Final = {True: struct.Struct("<LL"), False: struct.Struct(">LL")}


class NotGiop(Exception):
    """The octets are no GIOP message, or one that is longer than allowed."""


class Splitter:
    """Octets as they come in, whole messages out. Long ones are put together once, not with every piece of them."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._pieces: list[bytes] = []
        self._size = 0  # of all pieces
        self._wanted = 0  # so many octets more are wanted before it pays to look again

    def feed(self, data: bytes) -> Iterable[bytes]:
        """The messages that are whole now. Raises NotGiop where no message begins; `rest` is then all that was not given out."""
        if not self._pieces and is_one_message(data):
            return (data,)
        self._pieces.append(data)
        self._size += len(data)
        return self._split() if self._size >= self._wanted else ()

    def _split(self) -> Iterator[bytes]:
        data = self.take_rest()
        start, end = 0, len(data)
        size = 0
        try:
            while start < end:
                size = message_size(data, self._longest, start)
                if size == 0 or size > end - start:
                    break
                start += size
                yield data[start - size : start]
                size = 0
        finally:
            if start < end:
                self._pieces = [data[start:]]
                self._size = end - start
                self._wanted = size

    @property
    def rest(self) -> bytes:
        return b"".join(self._pieces)

    def take_rest(self) -> bytes:
        rest = self.rest
        self._pieces = []
        self._size = self._wanted = 0
        return rest


def is_one_message(data: bytes) -> bool:
    """Exactly one, as it mostly is."""
    if len(data) < HEADER_SIZE or not data.startswith(MAGIC):
        return False
    return bool(_ULONG[bool(data[6] & _LITTLE)].unpack_from(data, 8)[0] + HEADER_SIZE == len(data))


def message_size(data: bytes, longest: int, start: int = 0) -> int:
    """Of the message whose header begins there; 0 where the header is not whole. Raises NotGiop."""
    if len(data) - start < HEADER_SIZE:
        if not MAGIC.startswith(data[start : start + 4]):
            raise NotGiop
        return 0
    if not data.startswith(MAGIC, start):
        raise NotGiop
    size = _ULONG[bool(data[start + 6] & _LITTLE)].unpack_from(data, start + 8)[0] + HEADER_SIZE
    if size > longest:
        raise NotGiop
    return int(size)


def kind(message: bytes) -> int:
    return message[7]


def is_little(message: bytes) -> bool:
    return bool(message[6] & _LITTLE)


def has_more(message: bytes) -> bool:
    """Whether fragments follow."""
    return bool(message[6] & _MORE_FRAGMENTS) and message[5] > 0


def is_whole_request(message: bytes) -> bool:
    """A GIOP 1.2 request, nothing of which comes in fragments."""
    return message[4:6] == b"\1\2" and message[7] == REQUEST and not message[6] & _MORE_FRAGMENTS


def id_of(message: bytes) -> int:
    """Of a GIOP 1.2 request, reply, cancellation or fragment. Raises struct.error where there is none."""
    return int(_ULONG[is_little(message)].unpack_from(message, HEADER_SIZE)[0])


FRAGMENT_HEAD: Final = HEADER_SIZE + 4
"""Octets of a GIOP 1.2 fragment before what it continues."""


class RequestHead(NamedTuple):
    id: int
    key: bytes
    operation: bytes
    answer_wanted: bool
    code_sets: tuple[int, int] | None  # of char and wchar, where this request says them
    arguments_at: int


def read_request(message: bytes) -> RequestHead | None:
    """The head of a GIOP 1.2 request, of which the first fragment is enough; None for any other message."""
    if message[4:6] != b"\1\2" or message[7] != REQUEST:
        return None
    read = _ULONG[is_little(message)].unpack_from
    try:
        if message[20:22] != b"\0\0":  # addressed otherwise than by object key
            return None
        (length,) = read(message, 24)
        at = 28 + length
        key = message[28:at]
        at += -at % 4
        (length,) = read(message, at)
        operation = message[at + 4 : at + 3 + length]
        at += 4 + length
        at += -at % 4
        at, code_sets = _read_contexts(message, at)
        at += -at % 8
        if at > len(message) + 7:
            return None
        return RequestHead(read(message, 12)[0], key, operation, message[16] == _ANSWER_WANTED, code_sets, at)
    except (struct.error, IndexError):
        return None


def _read_contexts(message: bytes, at: int) -> tuple[int, tuple[int, int] | None]:
    """Where the service contexts end, and the code sets that one of them says."""
    little = is_little(message)
    (count,) = _ULONG[little].unpack_from(message, at)
    at += 4
    code_sets = None
    for _ in range(count):
        at += -at % 4
        id_, length = _TWO[little].unpack_from(message, at)
        at += 8
        if id_ == CODE_SETS and length >= 12:
            code_sets = _TWO[bool(message[at] & 1)].unpack_from(message, at + 4)
        at += length
        if at > len(message):
            raise IndexError
    return at, code_sets


class ReplyHead(NamedTuple):
    id: int
    status: int
    results_at: int


def read_reply(message: bytes) -> ReplyHead | None:
    """The head of a GIOP 1.2 reply; None for any other message."""
    if message[4:6] != b"\1\2" or message[7] != REPLY:
        return None
    try:
        id_, status = _TWO[is_little(message)].unpack_from(message, HEADER_SIZE)
        at, _ = _read_contexts(message, HEADER_SIZE + 8)
    except (struct.error, IndexError):
        return None
    return ReplyHead(id_, status, at + -at % 8)


_VOID_REPLY: Final = b"GIOP\1\2\1\1" + _ULONG[True].pack(12)
_NO_EXCEPTION_NO_CONTEXTS: Final = bytes(8)


def void_reply(request_id: int) -> bytes:
    """An operation without results has ended well."""
    return _VOID_REPLY + _ULONG[True].pack(request_id) + _NO_EXCEPTION_NO_CONTEXTS


def refusal(request_id: int, exception: str) -> bytes:
    """A system exception of this name; nothing was done (COMPLETED_NO)."""
    id_ = f"IDL:omg.org/CORBA/{exception}:1.0".encode() + b"\0"
    body = _ULONG[True].pack(len(id_)) + id_ + bytes(-len(id_) % 4) + _TWO[True].pack(0, _COMPLETED_NO)
    head = struct.pack("<LLLL", 12 + len(body), request_id, SYSTEM_EXCEPTION, 0)
    return b"GIOP\1\2\1\1" + head + body


CLOSE: Final = b"GIOP\1\2\1" + bytes((CLOSE_CONNECTION,)) + bytes(4)


class RequestMaker:
    """Requests of one operation of one object, in one byte order; only ids and arguments differ."""

    def __init__(self, key: bytes, operation: bytes, *, little: bool, code_sets: bool = False) -> None:
        """`code_sets`: say on which ones the two have agreed, as the first request of a connection does: UTF-8 and UTF-16."""
        pack = _ULONG[little].pack
        tail = bytearray(b"\3\0\0\0" + b"\0\0\0\0")  # an answer is wanted; addressed by key
        tail += pack(len(key)) + key
        tail += bytes(-len(tail) % 4)
        tail += pack(len(operation) + 1) + operation + b"\0"
        tail += bytes(-len(tail) % 4)
        if code_sets:
            content = bytes((little, 0, 0, 0)) + _TWO[little].pack(UTF_8, UTF_16)
            tail += pack(1) + _TWO[little].pack(CODE_SETS, len(content)) + content
        else:
            tail += pack(0)
        tail += bytes(-len(tail) % 8)  # it begins at 16
        self._tail = bytes(tail)
        self._start = b"GIOP\1\2" + bytes((little, REQUEST))
        self._pack = _TWO[little].pack

    def request(self, id_: int, arguments: bytes) -> bytes:
        """Octet 0 of the arguments stands where 8 divides the offset."""
        tail = self._tail
        return b"".join((self._start, self._pack(4 + len(tail) + len(arguments), id_), tail, arguments))
