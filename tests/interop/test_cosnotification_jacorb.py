"""What is asked of a peer beyond a connection, at a service that is not ours: JacORB's."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from adapters.base import Outgoing, StopError
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.sink import CosNotificationSink
from adapters.cosnotification.source import CosNotificationSource
from mappings.idl_types import LONG
from mappings.model import Property, StructuredEvent
from tests.parts.availability import available
from tests.parts.jacorb import JacOrb

pytestmark = pytest.mark.java

PATIENCE_SECS = 30.0


@pytest.fixture(scope="module")
def peer() -> Iterator[JacOrb]:
    with ExitStack() as ends:
        yield available(lambda: ends.enter_context(JacOrb()))


@pytest.fixture(scope="module")
def orb() -> Iterator[Orb]:
    orb = Orb()
    orb.start()
    yield orb
    orb.stop()


def channel(**more: Any) -> CosNotificationChannel:
    return CosNotificationChannel.model_validate({"endpoint": "peer", "channel": 0, **more})


def event(type_name: str, number: int) -> StructuredEvent:
    return StructuredEvent("Telecom", type_name, "", (), (Property("n", LONG, number),))


def passed(orb: Orb, peer: JacOrb, asked: CosNotificationChannel, sent: list[StructuredEvent], last: int) -> list[int]:
    """The numbers of the events that came, up to the last."""
    endpoint = CosNotificationEndpoint(type="cosnotification", factory=str(peer.ior))
    source, sink = CosNotificationSource(orb, endpoint, asked), CosNotificationSink(orb, endpoint, channel())
    try:
        source.connect()
        sink.connect()
        assert sink.send([Outgoing(e, str(n)) for n, e in enumerate(sent)]).result(PATIENCE_SECS) == ()
        numbers: list[int] = []
        deadline = time.monotonic() + PATIENCE_SECS
        while last not in numbers and time.monotonic() < deadline:
            deliveries = source.receive(100, 0.5)
            source.acknowledge(deliveries)
            numbers += [d.payload.filterable_data[0].value for d in deliveries]  # type: ignore[union-attr]
        return numbers
    finally:
        sink.close()
        source.close()


def test_filters_are_the_peers_work(orb: Orb, peer: JacOrb) -> None:
    sent = [event("Alarm", 1), event("Alarm", 2), event("Log", 3), event("Alarm", 4)]
    assert passed(orb, peer, channel(event_types=["Telecom/Alarm"], constraint="$n > 1"), sent, 4) == [2, 4]


def test_a_filter_that_it_refuses_stops_the_link(orb: Orb, peer: JacOrb) -> None:
    with pytest.raises(StopError) as caught:
        passed(orb, peer, channel(constraint="$n >"), [], 0)
    assert caught.value.code == "COR-FILTER"


def test_sequences_of_a_size_that_are_not_held_back(orb: Orb, peer: JacOrb) -> None:
    """Though its validate_qos fails whatever it is asked."""
    asked = channel(events="sequence", qos={"maximum_batch_size": 10, "pacing_interval_ms": 50})
    assert passed(orb, peer, asked, [event("Alarm", n) for n in range(25)], 24) == list(range(25))
