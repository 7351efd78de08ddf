"""A checksum over the payloads of a row, made with the row.

Pages of Parquet have checksums of their own, and say nothing of what was damaged before they were written: in memory, or in the
stream that a gateway writes until a file is whole.
"""

from __future__ import annotations

from zlib import crc32


def checksum(source: bytes | None, sent: bytes | None) -> int:
    """CRC-32 of the two cells as they are in the row, one after the other."""
    begun = 0 if source is None else crc32(source)
    return begun if sent is None else crc32(sent, begun)
