"""Clients of a plain Event Service that is nothing else, and not ours: omniEvents."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from adapters.base import Outgoing, ReconnectError
from adapters.cosnotification.left_behind import LeftBehind
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.sink import CosNotificationSink
from adapters.cosnotification.source import CosNotificationSource
from mappings.idl_types import LONG, Sequence
from mappings.model import Any_, StructuredEvent
from tests.parts.availability import available
from tests.parts.omnievents import OmniEvents

PATIENCE_SECS = 30.0
ENDPOINT = CosNotificationEndpoint(
    type="cosnotification", service="event", ping_interval_secs=0.3, call_timeout_ms=5000
)


@pytest.fixture(scope="module")
def peer() -> Iterator[OmniEvents]:
    with ExitStack() as ends:
        yield available(lambda: ends.enter_context(OmniEvents()))


@pytest.fixture(scope="module")
def orb() -> Iterator[Orb]:
    orb = Orb(left_behind=LeftBehind())
    orb.start()
    yield orb
    orb.stop()


@pytest.fixture(params=["push", "pull"])
def ends(
    request: pytest.FixtureRequest, orb: Orb, peer: OmniEvents
) -> Iterator[tuple[CosNotificationSource, CosNotificationSink]]:
    """At one channel, connected."""
    channel = CosNotificationChannel.model_validate(
        {"endpoint": "old", "reference": peer.new_channel(), "events": "any", "style": request.param, "hold_ms": 200}
    )
    source, sink = CosNotificationSource(orb, ENDPOINT, channel), CosNotificationSink(orb, ENDPOINT, channel)
    source.connect()
    sink.connect()
    yield source, sink
    sink.close()
    source.close()


def event(number: int) -> StructuredEvent:
    return StructuredEvent("", "%ANY", "", remainder_of_body=Any_(Sequence(LONG), [number, -number]))


def sent(sink: CosNotificationSink, *numbers: int) -> Any:
    return sink.send([Outgoing(event(number), str(number)) for number in numbers]).result(PATIENCE_SECS)


def received(source: CosNotificationSource, *numbers: int) -> None:
    """These, and nothing else."""
    got: list[Any] = []
    deadline = time.monotonic() + PATIENCE_SECS
    while len(got) < len(numbers) and time.monotonic() < deadline:
        deliveries = source.receive(100, 0.2)
        source.acknowledge(deliveries)
        got += [delivery.payload for delivery in deliveries]
    assert got == [event(number) for number in numbers]
    assert source.receive(100, 0.3) == []


def until_it_fails(source: CosNotificationSource) -> ReconnectError:
    deadline = time.monotonic() + PATIENCE_SECS
    while time.monotonic() < deadline:
        try:
            source.receive(1, 0.2)
        except ReconnectError as error:
            return error
    raise AssertionError("the source never noticed")


def test_events_pass_both_ways(ends: tuple[CosNotificationSource, CosNotificationSink]) -> None:
    source, sink = ends
    for number in range(5):
        assert sent(sink, number) == ()
    received(source, *range(5))


def test_a_service_that_comes_back_with_what_we_had_there(
    ends: tuple[CosNotificationSource, CosNotificationSink], peer: OmniEvents
) -> None:
    """It remembers the proxies of before; none of them brings anything a second time."""
    source, sink = ends
    assert sent(sink, 1) == ()
    received(source, 1)
    peer.kill()
    assert until_it_fails(source).code == "COR-UNREACHABLE"
    for end in (source, sink):
        end.close()
        with pytest.raises(ReconnectError):
            end.connect()
        end.close()
    peer.start()
    for end in (source, sink):
        end.connect()
    for number in (2, 3):
        assert sent(sink, number) == ()
    received(source, 2, 3)
