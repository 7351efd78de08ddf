"""Which objects can be called past the ORB library, and where they are."""

from __future__ import annotations

from typing import Final, NamedTuple

from adapters.cosnotification.ior import Address, BadReference, CodeSets, IiopProfile, decode_ior

_TAG_MULTIPLE_COMPONENTS: Final = 1
_NEWEST: Final = ("1.2", "1.3")  # versions of IIOP that GIOP 1.2 may be spoken to


class Target(NamedTuple):
    addresses: tuple[Address, ...]
    key: bytes


def target_of(ior: str) -> Target | None:
    """None where only the library knows how to call: an older IIOP, TLS, a socket file, bidirectional calls, or other code sets."""
    try:
        reference = decode_ior(ior)
    except BadReference:
        return None
    if len(reference.profiles) != 1 or set(reference.other_profiles) - {_TAG_MULTIPLE_COMPONENTS}:
        return None
    (profile,) = reference.profiles
    return Target(profile.addresses, profile.key) if _is_plain(profile) else None


def _is_plain(profile: IiopProfile) -> bool:
    return (
        profile.version in _NEWEST
        and all(address.port for address in profile.addresses)
        and not profile.tls
        and not profile.bidirectional
        and profile.unix is None
        and _knows(profile.code_sets, "UTF-8")
        and _knows(profile.wide_code_sets, "UTF-16")
    )


def _knows(code_sets: CodeSets | None, name: str) -> bool:
    return code_sets is not None and (code_sets.native == name or name in code_sets.conversions)
