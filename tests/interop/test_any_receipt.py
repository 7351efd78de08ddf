"""What peers send and the ORB library cannot receive, in the octets of a faultless ORB: none of it costs another event.

Through the doorway it is read past the library, and all of it arrives. An ORB without one (here: for bidirectional GIOP) has the
library's faults.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from adapters.base import ReconnectError
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.service.host import ServiceHost
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint, OrbSettings
from adapters.cosnotification.source import CosNotificationSource
from mappings import idl_types as idl
from mappings.cdr.original import read_original
from mappings.event_forms import structured_value
from mappings.known_types import STRUCTURED_EVENT
from mappings.model import Any_, Property, StructuredEvent
from tests.interop.any_corpus import CARRIED, REFUSED, struct
from tests.parts import giop

PATIENCE_SECS = 20.0
RELIABLE = (Property("EventReliability", idl.SHORT, 1),)
WIDE = struct("Wide", a=idl.LONG, w=idl.WCHAR, b=idl.LONG, c=idl.STRING)

DEAD_LETTERS = {  # the source gives it as a delivery with this error
    "wchar in a struct": (Any_(WIDE, {"a": 1, "w": "x", "b": 2, "c": "s"}), "COR-WCHAR"),
    "no wchar at all, but a type that has one": (Any_(idl.Sequence(struct("W", w=idl.WCHAR)), []), "COR-WCHAR"),
    "empty exception in a valuetype": (REFUSED["empty exception in a valuetype"].value, "COR-TYPE"),
}
REFUSED_BY_THE_LIBRARY = {  # the peer hears this at once, and we never see the event
    "sequence of wchar": (Any_(idl.Sequence(idl.WCHAR), ["a", "b"]), "BAD_TYPECODE"),
    "long double": (Any_(idl.LONGDOUBLE, 0.5), "BAD_TYPECODE"),
    "long double in a struct": (Any_(struct("Long", d=idl.LONGDOUBLE), {"d": 0.5}), "BAD_TYPECODE"),
    "a type without a repository id": (REFUSED["struct without a repository id"].value, "MARSHAL"),
    "sequence of empty structs": (Any_(idl.Sequence(struct("Empty")), [{}]), "MARSHAL"),
}
CLOSES_THE_CONNECTION = {"wchar": Any_(idl.WCHAR, "x")}
FINE = {
    "unsigned long long from 2^63": REFUSED["sequence of unsigned long long from 2^63"].value,
    "object of an interface": CARRIED["object of an interface"],
    "struct of everything": CARRIED["struct with everything"],
}


Ends = tuple[Orb, CosNotificationSource, str]


@pytest.fixture(scope="module")
def ends() -> Iterator[Ends]:
    """A connected source without a doorway, and the reference of its servant."""
    yield from connected(OrbSettings(bidirectional=True), hold_ms=50)


@pytest.fixture(scope="module")
def through_the_doorway() -> Iterator[Ends]:
    yield from connected(OrbSettings(), hold_ms=20_000)


def connected(settings: OrbSettings, hold_ms: int) -> Iterator[Ends]:
    local, orb = LocalOrb(), Orb(settings)
    local.start()
    orb.start()
    host = ServiceHost(local)
    host.start()
    endpoint = CosNotificationEndpoint(type="cosnotification", factory=host.factory_ior, ping_interval_secs=1.0)
    source = CosNotificationSource(orb, endpoint, CosNotificationChannel(endpoint="peer", channel=0, hold_ms=hold_ms))
    source.connect()
    (proxy,) = host.channels[0].proxies
    yield orb, source, local.to_string(proxy._client)
    source.close()
    host.stop()
    orb.stop()
    local.stop()


def event_of(any_: Any_, header: tuple[Property, ...] = ()) -> StructuredEvent:
    return StructuredEvent("d", "t", "e", header, (Property("f", any_.type, any_.value),), any_)


def push(ior: str, any_: Any_, header: tuple[Property, ...] = ()) -> tuple[int, str]:
    event = event_of(any_, header)
    status, exception = giop.call(ior, "push_structured_event", giop.encoded(STRUCTURED_EVENT, structured_value(event)))
    return status, exception.removesuffix(":1.0").rpartition("/")[2]


def assert_that_others_pass(ends: Ends) -> None:
    orb, source, ior = ends
    assert push(ior, Any_(idl.STRING, "next")) == (giop.NO_EXCEPTION, "")
    (delivery,) = source.receive(10, PATIENCE_SECS)
    source.acknowledge([delivery])
    assert isinstance(delivery.payload, StructuredEvent)
    assert delivery.payload.remainder_of_body.value == "next"
    assert orb.crashes == 0


@pytest.mark.parametrize("name", FINE)
def test_octets_of_another_orb_are_read(ends: Ends, name: str) -> None:
    _, source, ior = ends
    assert push(ior, FINE[name]) == (giop.NO_EXCEPTION, "")
    (delivery,) = source.receive(10, PATIENCE_SECS)
    source.acknowledge([delivery])
    assert isinstance(delivery.payload, StructuredEvent)
    assert delivery.payload.remainder_of_body == FINE[name]


EVERYTHING = {
    **FINE,
    **CLOSES_THE_CONNECTION,
    **{name: any_ for name, (any_, _) in {**DEAD_LETTERS, **REFUSED_BY_THE_LIBRARY}.items()},
    "union with its default arm first": REFUSED["union with its default arm first"].value,
}


@pytest.mark.parametrize("header", [(), RELIABLE], ids=["best-effort", "persistent"])
@pytest.mark.parametrize("name", EVERYTHING)
def test_all_of_it_arrives_past_the_library(through_the_doorway: Ends, name: str, header: tuple[Property, ...]) -> None:
    orb, source, ior = through_the_doorway
    with ThreadPoolExecutor(1) as peer:
        pushed = peer.submit(push, ior, EVERYTHING[name], header)
        (delivery,) = source.receive(10, PATIENCE_SECS)
        source.acknowledge([delivery])
        assert pushed.result(PATIENCE_SECS) == (giop.NO_EXCEPTION, "")
    assert (delivery.error, delivery.payload) == (None, event_of(EVERYTHING[name], header))
    assert delivery.persistent == bool(header)
    assert delivery.original is not None
    assert read_original(delivery.original) == delivery.payload, "what a dead letter would hold"
    assert orb.crashes == 0


@pytest.mark.parametrize("name", DEAD_LETTERS)
def test_it_becomes_a_dead_letter(ends: Ends, name: str) -> None:
    _, source, ior = ends
    any_, code = DEAD_LETTERS[name]
    assert push(ior, any_) == (giop.SYSTEM_EXCEPTION, "TRANSIENT"), "it is not accepted before it is settled"
    (delivery,) = source.receive(10, PATIENCE_SECS)
    assert (delivery.payload, delivery.persistent) == (None, True)
    assert delivery.error is not None
    assert delivery.error.code == code
    assert delivery.original
    source.acknowledge([delivery])
    assert_that_others_pass(ends)


@pytest.mark.parametrize("name", REFUSED_BY_THE_LIBRARY)
def test_the_library_refuses_it(ends: Ends, name: str) -> None:
    _, source, ior = ends
    any_, exception = REFUSED_BY_THE_LIBRARY[name]
    assert push(ior, any_) == (giop.SYSTEM_EXCEPTION, exception)
    assert source.receive(10, 0.1) == []
    assert_that_others_pass(ends)


@pytest.mark.parametrize("name", CLOSES_THE_CONNECTION)
def test_it_costs_its_own_connection_and_no_more(ends: Ends, name: str) -> None:
    _, source, ior = ends
    with pytest.raises(ConnectionError):
        push(ior, CLOSES_THE_CONNECTION[name])
    assert source.receive(10, 0.1) == []
    assert_that_others_pass(ends)


def test_a_union_that_begins_with_its_default_arm_costs_the_worker_and_no_event() -> None:
    """tests/chaos/test_cosnotification_isolation.py has what follows; here are the octets of another ORB."""
    local, orb = LocalOrb(), Orb(OrbSettings(bidirectional=True))
    local.start()
    orb.start()
    host = ServiceHost(local)
    host.start()
    endpoint = CosNotificationEndpoint(type="cosnotification", factory=host.factory_ior)
    source = CosNotificationSource(orb, endpoint, CosNotificationChannel(endpoint="peer", channel=0))
    source.connect()
    try:
        (proxy,) = host.channels[0].proxies
        with pytest.raises(OSError):  # noqa: PT011 - closed or reset
            push(local.to_string(proxy._client), REFUSED["union with its default arm first"].value)
        with pytest.raises(ReconnectError, match="SIGSEGV"):
            source.receive(10, PATIENCE_SECS)
    finally:
        source.close()
        host.stop()
        orb.stop()
        local.stop()
