"""Cells that are compressed with zstd and encrypted with AES-256-GCM.

    version (1 byte), key id (4), salt (16), number (8), ciphertext and tag

Every writer derives a key of its own from the configured one, by HKDF with its salt, and numbers its cells: no nonce is used twice,
however many cells a key ever seals. A cell is bound to the event that it belongs to and to its column, so that cells cannot be
exchanged. Nothing in here makes random numbers: the salt is the writer's.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from typing import Any, Final

from mappings.captures.errors import CaptureError, library_missing

VERSION: Final = b"\x01"
SALT_BYTES: Final = 16
_KEY_ID_BYTES: Final = 4
_NUMBER_BYTES: Final = 8
_HEAD: Final = 1 + _KEY_ID_BYTES + SALT_BYTES + _NUMBER_BYTES
LARGEST_CELL: Final = 256 * 2**20

Seal = Callable[[bytes, str], bytes]
"""Takes a cell and what it is bound to."""


def key_from_text(text: str) -> bytes:
    """A key as a secret holds it: 64 hexadecimal digits. Never repeats the text in an error."""
    try:
        key = bytes.fromhex(text.strip())
    except ValueError:
        key = b""
    if len(key) != 32:
        raise CaptureError(
            "CAP-KEY-FORM",
            "this is no key of a capture",
            hint="a key is 64 hexadecimal digits; make one with: openssl rand -hex 32",
        )
    return key


def sealer(key: bytes, salt: bytes) -> Seal:
    """Used by one thread. Raises CaptureError where a library is missing."""
    compress = _zstandard().ZstdCompressor(level=1).compress
    key_id = _key_id(key)
    encrypt = _aes_gcm()(_hkdf(key, salt, b"capture")).encrypt
    head = VERSION + key_id + salt
    count = 0

    def seal(plain: bytes, bound: str) -> bytes:
        nonlocal count
        count += 1
        number = count.to_bytes(_NUMBER_BYTES, "big")
        return head + number + bytes(encrypt(b"\0\0\0\0" + number, compress(plain), _bound(bound)))

    return seal


class Opener:
    """Opens cells that were sealed with one of these keys."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = {_key_id(key): key for key in keys}
        self._ciphers: dict[bytes, Any] = {}
        self._decompress = _zstandard().ZstdDecompressor().decompress if keys else None

    def open(self, cell: bytes, bound: str) -> bytes:
        """Raises CaptureError: CAP-KEY (the key was not given), CAP-SEAL (it was changed, or is of a later version)."""
        if cell[:1] != VERSION or len(cell) < _HEAD:
            raise _changed()
        key_id, salt = cell[1 : 1 + _KEY_ID_BYTES], cell[1 + _KEY_ID_BYTES : _HEAD - _NUMBER_BYTES]
        key = self._keys.get(key_id)
        if key is None or self._decompress is None:
            raise CaptureError(
                "CAP-KEY",
                f"the capture is encrypted with key {key_id.hex()}, which was not given",
                hint="name the file of the key with --key-file",
            )
        from cryptography.exceptions import InvalidTag

        cipher = self._ciphers.get(salt)
        if cipher is None:
            if len(self._ciphers) > 1000:
                self._ciphers.clear()
            cipher = self._ciphers[salt] = _aes_gcm()(_hkdf(key, salt, b"capture"))
        try:
            compressed = cipher.decrypt(b"\0\0\0\0" + cell[_HEAD - _NUMBER_BYTES : _HEAD], cell[_HEAD:], _bound(bound))
            return bytes(self._decompress(compressed, max_output_size=LARGEST_CELL))
        except (InvalidTag, ValueError, _zstandard().ZstdError):
            raise _changed() from None


def _changed() -> CaptureError:
    return CaptureError(
        "CAP-SEAL",
        "an encrypted cell does not open: it was changed after it was written, or is of a later version",
        hint="keep the file, and report this",
    )


def _bound(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _key_id(key: bytes) -> bytes:
    """Tells keys apart and gives nothing away."""
    return _hkdf(key, b"", b"capture key id")[:_KEY_ID_BYTES]


def _hkdf(key: bytes, salt: bytes, info: bytes) -> bytes:
    """HKDF-SHA256 (RFC 5869) for one block of output."""
    extracted = hmac.digest(salt or bytes(32), key, hashlib.sha256)
    return hmac.digest(extracted, info + b"\x01", hashlib.sha256)


def _zstandard() -> Any:
    try:
        import zstandard
    except ModuleNotFoundError:
        raise library_missing("zstandard", "an encrypted capture") from None
    return zstandard


def _aes_gcm() -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ModuleNotFoundError:
        raise library_missing("cryptography", "an encrypted capture") from None
    return AESGCM
