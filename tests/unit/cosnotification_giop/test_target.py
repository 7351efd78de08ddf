"""Who can be called past the ORB library."""

from __future__ import annotations

import struct

import pytest

from adapters.cosnotification.giop.target import target_of
from adapters.cosnotification.ior import Address, Tag
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.settings import OrbSettings
from tests.interop.notification_service.clients import StructuredPushConsumer
from tests.parts.scripted_peer import CODE_SETS, ior

LATIN = struct.pack("<BxxxLLLL", 1, 0x00010001, 0, 0x00010109, 0)
NARROW = struct.pack("<BxxxLLLL", 1, 0x05010001, 0, 0, 0)
CONVERTING = struct.pack("<BxxxLLLLLL", 1, 0x00010001, 1, 0x05010001, 0x00010100, 1, 0x00010109)
TLS = struct.pack("<BxHHH", 1, 0, 0, 2001)
ALTERNATIVE = struct.pack("<BxxxL6sH", 1, 6, b"other\0", 7)


def test_an_object_with_its_address_and_key() -> None:
    assert target_of(ior("host", 99, key=b"key")) == ((Address("host", 99),), b"key")


def test_all_of_its_addresses() -> None:
    found = target_of(ior("host", 99, components=[(1, CODE_SETS), (Tag.ALTERNATE_IIOP_ADDRESS, ALTERNATIVE)]))
    assert found is not None
    assert found.addresses == (Address("host", 99), Address("other", 7))


def test_code_sets_that_it_converts_are_as_good_as_its_own() -> None:
    assert target_of(ior("host", 99, components=[(1, CONVERTING)])) is not None


@pytest.mark.parametrize(
    "reference",
    {
        "old": ior("host", 99, version=1),
        "no code sets": ior("host", 99, components=[]),
        "latin": ior("host", 99, components=[(1, LATIN)]),
        "no wide characters": ior("host", 99, components=[(1, NARROW)]),
        "TLS beside": ior("host", 99, components=[(1, CODE_SETS), (Tag.SSL_SEC_TRANS, TLS)]),
        "no port": ior("host", 0),
        "bidirectional": ior("host", 99, components=[(1, CODE_SETS), (Tag.OMNIORB_BIDIR, b"\1")]),
        "nil": "IOR:010000000000000000000000",
        "nonsense": "corbaloc::host/key",
    }.items(),
    ids=lambda pair: pair[0],
)
def test_whom_the_library_must_call(reference: tuple[str, str]) -> None:
    assert target_of(reference[1]) is None


def test_what_the_orb_library_writes() -> None:
    orb = LocalOrb(OrbSettings())
    orb.start()
    reference = orb.to_string(orb.activate(StructuredPushConsumer(), b"consumer"))
    orb.stop()
    found = target_of(reference)
    assert found is not None
    assert found.addresses[0].host == "127.0.0.1"
    assert found.key.endswith(b"consumer")
