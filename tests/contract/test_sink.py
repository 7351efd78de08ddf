"""The promises of adapters.base.Sink."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import pytest

from adapters.base import Outgoing, ReconnectError, Sink
from tests.contract.wires.base import Wire, connected_sink

PATIENCE_SECS = 20.0


def outgoing(wire: Wire, numbers: Sequence[int]) -> list[Outgoing]:
    return [Outgoing(wire.payload(n), f"id-{n}") for n in numbers]


def test_a_confirmed_batch_is_at_the_peer_in_order(wire: Wire) -> None:
    with connected_sink(wire) as sink:
        assert sink.send(outgoing(wire, range(10))).result(PATIENCE_SECS) == ()
        assert [wire.number(p) for p in wire.drain(10)] == list(range(10))


def test_several_batches_in_flight_keep_their_order(wire: Wire) -> None:
    with connected_sink(wire) as sink:
        finished: list[int] = []
        confirmations = []
        for batch in range(8):
            confirmation = sink.send(outgoing(wire, range(batch * 5, batch * 5 + 5)))
            confirmation.add_done_callback(lambda _, batch=batch: finished.append(batch))  # type: ignore[misc]
            confirmations.append(confirmation)
        assert [c.result(PATIENCE_SECS) for c in confirmations] == [()] * 8
        assert finished == list(range(8))
        assert [wire.number(p) for p in wire.drain(40)] == list(range(40))


def test_a_single_event_is_a_batch_too(wire: Wire) -> None:
    with connected_sink(wire) as sink:
        for n in range(3):
            assert sink.send(outgoing(wire, [n])).result(PATIENCE_SECS) == ()
        assert [wire.number(p) for p in wire.drain(3)] == [0, 1, 2]


def test_the_largest_batch_passes(wire: Wire) -> None:
    with connected_sink(wire) as sink:
        size = sink.capabilities.max_batch
        assert sink.send(outgoing(wire, range(size))).result(60.0) == ()
        assert [wire.number(p) for p in wire.drain(size)] == list(range(size))


def test_send_before_connect_asks_to_connect(wire: Wire) -> None:
    with pytest.raises(ReconnectError):
        wire.make_sink().send(outgoing(wire, [1]))


def test_close_is_allowed_in_every_state_and_connect_after_it(wire: Wire) -> None:
    sink = wire.make_sink()
    sink.close()
    sink.connect()
    sink.close()
    sink.close()
    sink.connect()
    try:
        assert sink.send(outgoing(wire, [4])).result(PATIENCE_SECS) == ()
        assert [wire.number(p) for p in wire.drain(1)] == [4]
    finally:
        sink.close()


def test_a_dying_peer_means_reconnect_and_nothing_is_confirmed_in_vain(wire: Wire) -> None:
    sink = wire.make_sink()
    sink.connect()
    try:
        assert sink.send(outgoing(wire, [0])).result(PATIENCE_SECS) == ()
        assert [wire.number(p) for p in wire.drain(1)] == [0]
        wire.stop_peer()
        with pytest.raises(ReconnectError):
            _send_until_it_fails(sink, wire)
        sink.close()
        with pytest.raises(ReconnectError):
            sink.connect()
        wire.start_peer()
        deadline = time.monotonic() + 60.0
        while True:
            try:
                sink.connect()
                break
            except ReconnectError:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        assert sink.send(outgoing(wire, [1, 2])).result(PATIENCE_SECS) == ()
        assert [wire.number(p) for p in wire.drain(2)] == [1, 2]
    finally:
        sink.close()


def _send_until_it_fails(sink: Sink, wire: Wire) -> None:
    """The peer is dead: no send may be confirmed, and the failure must show within bounded time."""
    for _ in range(3):
        refusals = sink.send(outgoing(wire, [99])).result(60.0)
        assert refusals, "a dead peer cannot have confirmed"


def test_no_thread_stays_behind(wire: Wire) -> None:
    with connected_sink(wire) as warm_up:
        warm_up.send(outgoing(wire, [0])).result(PATIENCE_SECS)
    before = {t.ident for t in threading.enumerate()}
    for _ in range(3):
        with connected_sink(wire) as sink:
            sink.send(outgoing(wire, [0])).result(PATIENCE_SECS)
    deadline = time.monotonic() + 10.0
    while (left := [t for t in threading.enumerate() if t.ident not in before]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []
