"""The one error of the MQ codec."""

from __future__ import annotations


class CodecError(ValueError):
    """These bytes, or this message, can never pass."""
