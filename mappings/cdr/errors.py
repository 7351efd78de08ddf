"""The errors of octets that are no CDR; each names the octet where sense ends."""

from __future__ import annotations

from mappings.errors import MappingError


def malformed(code: str, message: str, position: int) -> MappingError:
    return MappingError(code, message, path=f"octet {position}")


def ends_early(position: int) -> MappingError:
    return malformed("MAP-CDR-END", "the octets end in the middle of a value", position)


def unsupported(message: str) -> MappingError:
    """A value or exception that is not what its type announces, or that nobody can read without its own code."""
    return MappingError("MAP-CDR-VALUE", message)
