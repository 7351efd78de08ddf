"""What stands between a payload and the body of its record: compression, then encryption, each optional.

The flags of a record say what was done to it, so that a journal whose options were changed stays readable as a whole.

    ZLIB, ZSTD    the body is compressed (only where that makes it smaller)
    SEALED        the body is: key id (4 bytes), nonce (12 bytes), ciphertext and tag of AES-256-GCM

Each segment is sealed with a key of its own, derived by HKDF from the configured key, the journal's id and the segment's first
sequence; so random nonces are safe for as many records as a journal can ever hold. The sequence, kind and flags of the record are
authenticated with it: a sealed record that was moved or renumbered does not open.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

from gateway.journal.errors import JournalError, KeyMissing
from gateway.journal.format import LARGEST_BODY

Compression = Literal["none", "zlib", "zstd"]

ZLIB: Final = 1
ZSTD: Final = 2
SEALED: Final = 4
_KNOWN: Final = ZLIB | ZSTD | SEALED

_KEY_ID_BYTES: Final = 4
_NONCE_BYTES: Final = 12
_SMALLEST_WORTH_IT: Final = 64  # bytes; below this a compressed form is never smaller by enough


class Unreadable(JournalError):
    """A record whose CRCs are right and whose body still does not open: it was tampered with, or is of a newer version."""

    def __init__(self, message: str) -> None:
        super().__init__("JNL-UNREADABLE", message, hint="keep the segment and report this")


class Envelope:
    """Closes and opens the bodies of one journal. Used by one thread at a time."""

    def __init__(self, journal_id: bytes, compression: Compression = "none", keys: Sequence[bytes] = ()) -> None:
        """The first key seals; all of them open. Raises JournalError where a library is missing or a key is no key."""
        self._journal_id = journal_id
        self._compressor: Callable[[bytes], bytes] | None = None
        self._compression_flag = 0
        if compression == "zlib":
            self._compressor, self._compression_flag = _zlib_compress, ZLIB
        elif compression == "zstd":
            self._compressor, self._compression_flag = _zstd().ZstdCompressor(level=1).compress, ZSTD
        self._keys = {_key_id(key): key for key in map(_checked, keys)}
        self._sealing = _key_id(keys[0]) if keys else None
        self._ciphers: dict[tuple[bytes, int], Any] = {}  # by key id and first sequence of the segment

    @property
    def is_plain(self) -> bool:
        """Nothing to do when closing: the payload is the body."""
        return self._compressor is None and self._sealing is None

    def close(self, payload: bytes, first: int, sequence: int, kind: int) -> tuple[int, bytes]:
        """Flags and body of a record in the segment that begins with `first`."""
        flags = 0
        if self._compressor is not None and len(payload) >= _SMALLEST_WORTH_IT:
            smaller = self._compressor(payload)
            if len(smaller) < len(payload):
                payload, flags = smaller, self._compression_flag
        if self._sealing is not None:
            flags |= SEALED
            nonce = os.urandom(_NONCE_BYTES)
            sealed = self._cipher(self._sealing, first).encrypt(nonce, payload, _bound(sequence, kind, flags))
            payload = self._sealing + nonce + sealed
        return flags, payload

    def open(self, body: bytes, first: int, sequence: int, kind: int, flags: int) -> bytes:
        """The payload. Raises KeyMissing, or Unreadable where this one record cannot be opened."""
        if flags & ~_KNOWN:
            raise Unreadable(f"record {sequence} has flags that this version does not know: {flags:#x}")
        if flags & SEALED:
            body = self._unsealed(body, first, sequence, kind, flags)
        if flags & ZLIB:
            return _zlib_decompress(body, sequence)
        if flags & ZSTD:
            return _zstd_decompress(body, sequence)
        return body

    def check_key(self, body: bytes, sequence: int, flags: int) -> None:
        """Raises KeyMissing where this record is sealed with a key that was not given."""
        key_id = body[:_KEY_ID_BYTES]
        if flags & SEALED and key_id not in self._keys:
            raise KeyMissing(
                "JNL-KEY",
                f"record {sequence} is encrypted with key {key_id.hex()}, which was not given",
                hint="give the key that this journal was written with, as an older key if it was replaced",
            )

    def _unsealed(self, body: bytes, first: int, sequence: int, kind: int, flags: int) -> bytes:
        self.check_key(body, sequence, flags)
        from cryptography.exceptions import InvalidTag

        key_id, nonce = body[:_KEY_ID_BYTES], body[_KEY_ID_BYTES : _KEY_ID_BYTES + _NONCE_BYTES]
        try:
            plain: bytes = self._cipher(key_id, first).decrypt(
                nonce, body[_KEY_ID_BYTES + _NONCE_BYTES :], _bound(sequence, kind, flags)
            )
        except (InvalidTag, ValueError):
            raise Unreadable(
                f"record {sequence} does not open with its key: it was changed after it was written"
            ) from None
        return plain

    def _cipher(self, key_id: bytes, first: int) -> Any:
        cipher = self._ciphers.get((key_id, first))
        if cipher is None:
            if len(self._ciphers) > 64:
                self._ciphers.clear()
            derived = _hkdf(self._keys[key_id], self._journal_id, b"segment" + first.to_bytes(8, "big"))
            cipher = self._ciphers[(key_id, first)] = _aes_gcm()(derived)
        return cipher


def key_from_text(text: str) -> bytes:
    """A key as a secret holds it: 64 hexadecimal digits (32 bytes). Never repeats the text in an error."""
    try:
        key = bytes.fromhex(text.strip())
    except ValueError:
        key = b""
    return _checked(key)


def _checked(key: bytes) -> bytes:
    if len(key) != 32:
        raise JournalError(
            "JNL-KEY-FORM",
            "this is no key of the journal",
            hint="a key is 64 hexadecimal digits; make one with: openssl rand -hex 32",
        )
    return key


def _key_id(key: bytes) -> bytes:
    """Tells keys apart and gives nothing away."""
    return _hkdf(key, b"", b"key id")[:_KEY_ID_BYTES]


def _hkdf(key: bytes, salt: bytes, info: bytes) -> bytes:
    """HKDF-SHA256 (RFC 5869) for the one block of output that an AES-256 key is."""
    extracted = hmac.digest(salt or bytes(32), key, hashlib.sha256)
    return hmac.digest(extracted, info + b"\x01", hashlib.sha256)


def _bound(sequence: int, kind: int, flags: int) -> bytes:
    return sequence.to_bytes(8, "big") + bytes((kind, flags))


def _zlib_compress(payload: bytes) -> bytes:
    return zlib.compress(payload, 1)


def _zlib_decompress(body: bytes, sequence: int) -> bytes:
    machine = zlib.decompressobj()
    try:
        payload = machine.decompress(body, LARGEST_BODY)
    except zlib.error as wrong:
        raise Unreadable(f"record {sequence} does not decompress: {wrong}") from None
    if not machine.eof:
        raise Unreadable(f"record {sequence} decompresses to more than {LARGEST_BODY} bytes, or to nothing whole")
    return payload


def _zstd_decompress(body: bytes, sequence: int) -> bytes:
    zstandard = _zstd()
    try:
        # The frame tells its content's size; it is checked before anything is allocated for it.
        size = zstandard.frame_content_size(body)
        if not 0 <= size <= LARGEST_BODY:
            raise Unreadable(f"record {sequence} says that it decompresses to {size} bytes")
        payload: bytes = zstandard.ZstdDecompressor().decompress(body)
    except zstandard.ZstdError as wrong:
        raise Unreadable(f"record {sequence} does not decompress: {wrong}") from None
    return payload


def _zstd() -> Any:
    try:
        import zstandard
    except ModuleNotFoundError:
        raise _library_missing("zstandard", "compression with zstd") from None
    return zstandard


def _aes_gcm() -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ModuleNotFoundError:
        raise _library_missing("cryptography", "encryption") from None
    return AESGCM


def _library_missing(library: str, purpose: str) -> JournalError:
    return JournalError(
        "JNL-LIBRARY",
        f"{purpose} of the journal needs {library}, which is not installed",
        hint="install Isthmus with its `journal` extra",
    )
