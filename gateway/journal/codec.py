"""How the items of a journal become payloads, and back."""

from __future__ import annotations

from typing import Protocol, TypeVar

T = TypeVar("T")


class Codec(Protocol[T]):
    def encode(self, item: T) -> bytes:
        """From any thread. At the most `format.LARGEST_BODY` bytes."""

    def decode(self, payload: bytes) -> T:
        """From any thread; raises nothing: what cannot be decoded is an item that says so."""


class RawCodec:
    """The items are the payloads."""

    def encode(self, item: bytes) -> bytes:
        return item

    def decode(self, payload: bytes) -> bytes:
        return payload
