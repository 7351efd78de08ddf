"""Where the pads are in what we encode: omniORB leaves in them whatever was in its memory."""

from __future__ import annotations

from typing import Any

import pytest

from mappings.cdr import encoders, output, typecode_writer
from mappings.idl_types import IdlType


def pads(type_: IdlType, value: Any, *, little: bool) -> list[int]:
    """The positions of the octets that change with what pads are filled with."""

    def encode() -> bytes:
        out = output.Output(bytes([little]))
        encoders.Encoders(little=little)(type_)(out, value, 0)
        return bytes(out)

    plain = encode()
    with pytest.MonkeyPatch.context() as patch:
        ones = tuple(b"\xff" * size for size in range(8))
        patch.setattr(output, "PADS", ones)
        patch.setattr(typecode_writer, "PADS", ones)
        marked = encode()
    assert len(marked) == len(plain)
    return [position for position, (one, other) in enumerate(zip(plain, marked, strict=True)) if one != other]
