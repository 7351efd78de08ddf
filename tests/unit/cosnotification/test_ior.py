"""References decoded, against the ORB's own and against octets put together by hand."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import jeteve_omniorb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.cosnotification.ior import Address, BadReference, CodeSets, Tls, decode_ior, orb_name
from adapters.cosnotification.local_orb import LocalOrb
from mappings.cdr.references import Profile, Reference, stringify

from adapters.cosnotification.stubs import CosNotifyComm__POA  # isort: skip
import contextlib


class Servant(CosNotifyComm__POA.PushConsumer):  # type: ignore[misc]
    pass


def encapsulated(*parts: bytes) -> bytes:
    return b"\1" + b"".join(parts)


def component(tag: int, data: bytes) -> bytes:
    return struct.pack("<LL", tag, len(data)) + data + bytes(-len(data) % 4)


def ior(*components: bytes, version: bytes = b"\1\2", host: bytes = b"peer.host", port: int = 4711) -> str:
    text = host + b"\0"
    body = version + b"\0" + struct.pack("<L", len(text)) + text
    body += bytes(-(len(body) + 1) % 2) + struct.pack("<H", port)
    body += bytes(-(len(body) + 1) % 4) + struct.pack("<L", 3) + b"key\0"
    if version != b"\1\0":
        body += struct.pack("<L", len(components)) + b"".join(components)
    made = stringify(Reference(b"IDL:X:1.0", (Profile(0, encapsulated(body)),)))
    assert made is not None
    return made


def test_a_reference_of_our_own_orb(orb: LocalOrb) -> None:
    text = orb.to_string(orb.activate(Servant(), b"a key"))
    try:
        reference = decode_ior(text)
        (profile,) = reference.profiles
        catior = Path(jeteve_omniorb.__file__).parent / "bin" / "catior"
        shown = subprocess.run([catior, text], capture_output=True, text=True, check=True).stdout
        assert reference.type_id == "IDL:omg.org/CosNotifyComm/PushConsumer:1.0"
        assert f"IIOP {profile.version}" in shown
        assert f"{profile.addresses[0].host} {profile.addresses[0].port}" in shown
        assert profile.orb == "omniORB"
        assert profile.code_sets == CodeSets("UTF-8", ("UTF-8",))
        assert profile.wide_code_sets == CodeSets("UTF-16", ("UTF-16",))
        assert profile.key.endswith(b"a key")
        assert not profile.bidirectional
    finally:
        orb.deactivate(b"a key")


def test_all_that_a_profile_can_say() -> None:
    (profile,) = decode_ior(
        ior(
            component(0, encapsulated(b"\0\0\0", struct.pack("<L", 0x4A414300))),
            component(1, encapsulated(b"\0\0\0", struct.pack("<LLLLL", 0x00010001, 1, 0x05010001, 0x00010109, 0))),
            component(3, encapsulated(b"\0\0\0", struct.pack("<L", 4), b"alt\0", struct.pack("<H", 99))),
            component(20, encapsulated(b"\0", struct.pack("<HHH", 0x66, 0x40, 684))),
            component(0x41545401, encapsulated(b"\0")),
        )
    ).profiles
    assert profile.version == "1.2"
    assert profile.addresses == (Address("peer.host", 4711), Address("alt", 99))
    assert profile.key == b"key"
    assert profile.orb == "JacORB"
    assert profile.code_sets == CodeSets("ISO-8859-1", ("UTF-8",))
    assert profile.wide_code_sets == CodeSets("UTF-16", ())
    assert profile.tls == (Tls(684),)
    assert profile.bidirectional


def test_an_old_profile_says_less() -> None:
    (profile,) = decode_ior(ior(version=b"\1\0")).profiles
    assert (profile.version, profile.components, profile.code_sets) == ("1.0", (), None)


def test_vendors_are_spelt_where_they_are_not_known() -> None:
    assert orb_name(0x54414F00) == "TAO"
    assert orb_name(0x58595A00) == "XYZ (0x58595a00)"
    assert orb_name(1) == "0x00000001"


def test_addresses_are_written_as_in_a_configuration() -> None:
    assert [str(Address("a.b", 1)), str(Address("::1", 2))] == ["a.b:1", "[::1]:2"]


@pytest.mark.parametrize("text", ["", "IOR:", "IOR:0", "IOR:xy", "corbaloc::a/b", "IOR:00"])
def test_what_is_none(text: str) -> None:
    with pytest.raises(BadReference):
        decode_ior(text)


@given(st.binary(max_size=200))
def test_octets_at_random_are_refused_and_do_not_crash(octets: bytes) -> None:
    for text in ("IOR:" + octets.hex(), stringify(Reference(b"x", (Profile(0, octets),)))):
        with contextlib.suppress(BadReference):
            decode_ior(text or "")


@given(st.integers(0, 400), st.binary(min_size=1, max_size=4))
def test_a_damaged_reference_is_refused_or_read(at: int, damage: bytes) -> None:
    whole = bytes.fromhex(ior(component(1, encapsulated(b"\0\0\0", struct.pack("<LLLL", 1, 0, 1, 0))))[4:])
    at %= len(whole)
    with contextlib.suppress(BadReference):
        decode_ior("IOR:" + (whole[:at] + damage + whole[at + len(damage) :]).hex())
