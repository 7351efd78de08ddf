"""A GIOP 1.2 client of a few lines, for what no ORB of ours would send: octets in, status of the reply out."""

from __future__ import annotations

import socket
import struct
from typing import Any

from adapters.cosnotification.ior import decode_ior
from mappings.cdr.encoders import encoders_for
from mappings.cdr.output import Output
from mappings.idl_types import IdlType

NO_EXCEPTION, USER_EXCEPTION, SYSTEM_EXCEPTION = 0, 1, 2
_CODE_SETS = b"\1\0\0\0" + struct.pack("<LL", 0x05010001, 0x00010109)  # UTF-8 and UTF-16
TIMEOUT_SECS = 10.0


def encoded(type_: IdlType, value: Any) -> bytes:
    """As it stands at the start of a body."""
    out = Output(b"")
    encoders_for(True)(type_)(out, value, 0)
    return bytes(out)


def call(ior: str, operation: str, body: bytes) -> tuple[int, str]:
    """The status of the reply and, of a system exception, its repository id. Raises OSError where the connection ends."""
    profile = decode_ior(ior).profiles[0]
    request = _Message()
    request.ulong(1)  # request id
    request += b"\3\0\0\0"  # a response is wanted
    request += b"\0\0"  # addressed by object key
    request.octets(profile.key)
    request.octets(operation.encode() + b"\0")
    request.ulong(1)
    request.ulong(1)  # the service context of code sets
    request.octets(_CODE_SETS)
    request += bytes(-(len(request) + 12) % 8) + body
    with socket.create_connection((profile.addresses[0].host, profile.addresses[0].port), TIMEOUT_SECS) as connection:
        connection.sendall(b"GIOP\1\2\1\0" + struct.pack("<L", len(request)) + request)
        header = _exactly(connection, 12)
        order = "<" if header[6] & 1 else ">"
        if header[7] != 1:
            raise ConnectionError(f"message {header[7]} came in place of a reply")
        reply = _exactly(connection, struct.unpack(order + "L", header[8:])[0])
    _, status, contexts = struct.unpack_from(order + "LLL", reply)
    if status != SYSTEM_EXCEPTION:
        return status, ""
    position = 12
    for _ in range(contexts):
        position += -position % 4
        (length,) = struct.unpack_from(order + "L", reply, position + 4)
        position += 8 + length
    position += -(position + 12) % 8
    (length,) = struct.unpack_from(order + "L", reply, position)
    return status, reply[position + 4 : position + 3 + length].decode()


class _Message(bytearray):
    """Alignment counts from the header, which has 12 octets."""

    def ulong(self, number: int) -> None:
        self.extend(bytes(-len(self) % 4) + struct.pack("<L", number))

    def octets(self, data: bytes) -> None:
        self.ulong(len(data))
        self.extend(data)


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = connection.recv(size - len(data))
        if not chunk:
            raise ConnectionError("closed")
        data += chunk
    return data
