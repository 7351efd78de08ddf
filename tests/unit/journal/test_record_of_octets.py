"""Form `o` of a record, written by hand as docs/journal.md has it: what is on disk today has to be read in ten years."""

from __future__ import annotations

import json
import struct

import pytest

from gateway.journal.delivery_codec import DeliveryCodec
from mappings.idl_types import DOUBLE
from mappings.model import Any_, StructuredEvent


@pytest.mark.parametrize("begin", [0, 4])
@pytest.mark.parametrize("order", ["<", ">"])
def test_an_event_by_its_octets(order: str, begin: int) -> None:
    def text(value: bytes) -> bytes:
        return struct.pack(f"{order}L", len(value) + 1) + value + b"\0"

    event = text(b"Telecom") + text(b"x1") + b"\0" + text(b"los") + struct.pack(f"{order}LL", 0, 0)
    tk_double = struct.pack(f"{order}L", 7)
    pad = bytes(-(begin + len(event) + len(tk_double)) % 8)
    original = bytes((order == "<", begin, *bytes(6 + begin))) + event + tk_double + pad + struct.pack(f"{order}d", 0.5)
    body = json.dumps(["id-7", 12.5, 1 | 4, None, [len(original)]]).encode()
    got = DeliveryCodec().decode(struct.pack(">BcII", 1, b"o", 0, len(body)) + body + original)
    assert got.error is None
    assert got.payload == StructuredEvent("Telecom", "x1", "los", (), (), Any_(DOUBLE, 0.5))
    assert (got.id, got.received_at, got.persistent, got.redelivered) == ("id-7", 12.5, True, False)
    assert got.original == original
