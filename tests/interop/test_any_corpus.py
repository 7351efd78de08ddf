"""The Any corpus through a real channel in another process, by the adapter's own source and sink, in every kind of client."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args

import pytest

from adapters.base import DeadLetterError, Delivery, Outgoing
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.sink import CosNotificationSink
from adapters.cosnotification.source import CosNotificationSource
from mappings import event_forms
from mappings import idl_types as idl
from mappings.model import Any_, Property, StructuredEvent, UntypedEvent
from tests.contract.wires.cosnotification import Peer
from tests.interop.any_corpus import CARRIED, REFUSED

PATIENCE_SECS = 30.0
Kind = Literal["any", "structured", "sequence"]


class Ends:
    """A sink and a source of one kind at the same channel of the peer."""

    def __init__(self, orb: Orb, peer: Peer, kind: Kind) -> None:
        endpoint = CosNotificationEndpoint(type="cosnotification", factory=str(peer.ior))
        channel = CosNotificationChannel(endpoint="peer", channel=get_args(Kind).index(kind) % 2, events=kind)
        self.kind = kind
        self.sink = CosNotificationSink(orb, endpoint, channel)
        self.source = CosNotificationSource(orb, endpoint, channel)

    def connect(self) -> None:
        self.source.connect()
        self.sink.connect()

    def close(self) -> None:
        self.sink.close()
        self.source.close()

    def send(self, *events: StructuredEvent) -> Any:
        return self.sink.send([Outgoing(event, str(n)) for n, event in enumerate(events)]).result(PATIENCE_SECS)

    def receive(self, count: int) -> list[Delivery]:
        got: list[Delivery] = []
        deadline = time.monotonic() + PATIENCE_SECS
        while len(got) < count and time.monotonic() < deadline:
            got += self.source.receive(count - len(got), 0.5)
        self.source.acknowledge(got)
        return got


@pytest.fixture(scope="module")
def orb_and_peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Orb, Peer]]:
    orb = Orb()
    orb.start()
    peer = Peer(Path(tmp_path_factory.mktemp("corpus")))
    peer.start()
    yield orb, peer
    peer.kill()
    orb.stop()
    assert orb.crashes == 0


@pytest.fixture(scope="module", params=get_args(Kind))
def ends(request: pytest.FixtureRequest, orb_and_peer: tuple[Orb, Peer]) -> Iterator[Ends]:
    ends = Ends(*orb_and_peer, request.param)
    ends.connect()
    yield ends
    ends.close()


def event_with(any_: Any_, kind: Kind) -> StructuredEvent:
    if kind == "any":
        return StructuredEvent("", "%ANY", "", remainder_of_body=any_)
    return StructuredEvent(
        "d", "t", "e", (Property("h", any_.type, any_.value),), (Property("f", any_.type, any_.value),), any_
    )


def test_the_corpus_is_large_and_of_every_kind() -> None:
    assert len(CARRIED) >= 60
    kinds = {idl.unalias(any_.type).kind for any_ in CARRIED.values()}
    sendable = set(idl.BASIC_KINDS) - {"wchar", "longdouble"}
    assert kinds >= sendable | {
        "string", "wstring", "fixed", "struct", "exception", "union", "enum", "sequence", "array", "objref", "value", "value_box",
    }  # fmt: skip


@pytest.mark.parametrize("name", CARRIED)
def test_it_arrives_equal(ends: Ends, name: str) -> None:
    """Of an untyped event, anys around its any are taken off on either way (RULES.md 2)."""
    sent = event_with(CARRIED[name], ends.kind)
    arrives = event_forms.to_structured(UntypedEvent(event_forms.to_any(sent))) if ends.kind == "any" else sent
    assert ends.send(sent) == ()
    (delivery,) = ends.receive(1)
    assert delivery.error is None
    assert delivery.payload == arrives
    assert repr(delivery.payload) == repr(arrives), "equal, and of the same Python types"


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_and_its_neighbours_pass(ends: Ends, name: str) -> None:
    value, code = REFUSED[name]
    neighbours = [event_with(Any_(idl.STRING, text), ends.kind) for text in ("before", "after")]
    refusals = ends.send(neighbours[0], event_with(value, ends.kind), neighbours[1])
    assert [(refusal.index, type(refusal.error), refusal.error.code) for refusal in refusals] == [
        (1, DeadLetterError, code)
    ]
    assert [delivery.payload for delivery in ends.receive(2)] == neighbours
