"""What the STOMP sink does beyond the contract."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from adapters.base import Confirmation, Outgoing, ReconnectError, Sink
from adapters.stomp.settings import StompChannel
from adapters.stomp.sink import StompSink
from mappings.model import Body, Headers, Message, MessageProperty, StructuredEvent
from tests.contract.wires.stomp import embedded_endpoint
from tests.unit.stomp.raw_client import RawClient

Start = Callable[..., str]
CHANNEL = StompChannel(endpoint="broker", destination="queue://out")


def text(value: str, *properties: MessageProperty) -> Message:
    return Message(Headers(), properties, Body("TextMessage", value))


@contextmanager
def connected(sink: Sink) -> Iterator[Sink]:
    sink.connect()
    try:
        yield sink
    finally:
        sink.close()


def send_all(sink: Sink, messages: list[Message]) -> None:
    for n, message in enumerate(messages):
        sink.send([Outgoing(message, f"{n}")])


def drained(address: str, count: int, destination: str = "/queue/out") -> list[str]:
    with RawClient(address) as client:
        client.connect()
        client.send("SUBSCRIBE", id="s", destination=destination)
        got = [client.message().body.decode() for _ in range(count)]
        client.nothing()
        return got


@pytest.mark.parametrize("confirm", ["batch", "message"])
def test_both_ways_to_confirm(address: str, confirm: str) -> None:
    sink = StompSink(embedded_endpoint(address, confirm=confirm), CHANNEL)
    with connected(sink):
        confirmations = [sink.send([Outgoing(text(f"{b}.{n}"), f"{b}.{n}") for n in range(3)]) for b in range(3)]
        assert [c.result(20) for c in confirmations] == [()] * 3
    assert drained(address, 9) == [f"{b}.{n}" for b in range(3) for n in range(3)]


def test_a_destination_of_its_own(address: str) -> None:
    with connected(StompSink(embedded_endpoint(address), CHANNEL)) as sink:
        batch = [Outgoing(text("here"), "1"), Outgoing(text("there"), "2", destination="queue://else")]
        assert sink.send(batch).result(20) == ()
    assert drained(address, 1) == ["here"]
    assert drained(address, 1, "/queue/else") == ["there"]


def test_what_cannot_be_sent_is_refused_and_the_others_pass(address: str) -> None:
    with connected(StompSink(embedded_endpoint(address), CHANNEL)) as sink:
        batch = [
            Outgoing(text("a"), "1"),
            Outgoing(text("b", MessageProperty("n\0", "String", "")), "2"),
            Outgoing(StructuredEvent("", "", ""), "3"),
            Outgoing(text("\ud800"), "4"),
            Outgoing(text("e"), "5"),
        ]
        refusals = sink.send(batch).result(20)
        assert [(r.index, r.error.code) for r in refusals] == [(1, "STO-ENCODE"), (2, "STO-ENCODE"), (3, "STO-ENCODE")]
        [lone] = sink.send(batch[1:2]).result(20)
        assert lone.index == 0
    assert drained(address, 2) == ["a", "e"]


def test_one_message_that_the_broker_cannot_bear_becomes_a_dead_letter(address: str) -> None:
    """The link's part is played here: whatever ends in ReconnectError goes again, unchanged."""
    sink = StompSink(embedded_endpoint(address), CHANNEL)
    batches = [[Outgoing(text(f"{b}.{n}"), f"{b}.{n}") for n in range(4)] for b in range(3)]
    batches[1][2] = Outgoing(text("poison"), "1.2", destination="nowhere://x")  # ERROR, and the connection is closed
    outcomes = None
    for _ in range(6):
        sink.connect()
        confirmations: list[Confirmation] = []
        try:
            for batch in batches:
                confirmations.append(sink.send(batch))
            outcomes = [c.result(20) for c in confirmations]
            break
        except ReconnectError as error:
            assert error.code == "STO-REFUSED"  # noqa: PT017 - a loop of a link, not a check of one error
            confirmed = sum(c.exception(20) is None for c in confirmations)
            assert all(c.exception(20) is None for c in confirmations[:confirmed]), "in order"
            batches = batches[confirmed:]
        finally:
            sink.close()
    assert outcomes is not None
    refusals = [refusal for outcome in outcomes for refusal in outcome]
    assert [(r.index, r.error.code) for r in refusals] == [(2, "STO-REFUSED")]
    expected = sorted(f"{b}.{n}" for b in range(3) for n in range(4) if (b, n) != (1, 2))
    with RawClient(address) as client:
        client.connect()
        client.send("SUBSCRIBE", id="s", destination="/queue/out")
        got: set[str] = set()
        while len(got) < len(expected):
            got.add(client.message().body.decode())
    assert sorted(got) == expected


def test_close_fails_what_is_open(start_broker: Start) -> None:
    address = start_broker(max_queue_messages=1)
    sink = StompSink(embedded_endpoint(address), CHANNEL)
    with connected(sink):
        sink.send([Outgoing(text("fills"), "0"), Outgoing(text("it"), "1")]).result(20)
        held = sink.send([Outgoing(text("held back"), "2")])
    assert isinstance(held.exception(20), ReconnectError)


def test_a_receipt_that_does_not_come_in_time_is_a_lost_connection(start_broker: Start) -> None:
    address = start_broker(max_queue_messages=1)
    sink = StompSink(embedded_endpoint(address, receipt_timeout_ms=300, heartbeat_ms=0), CHANNEL)
    with connected(sink):
        sink.send([Outgoing(text("fills"), "0"), Outgoing(text("it"), "1")]).result(20)
        held = sink.send([Outgoing(text("held back"), "2")])
        error = held.exception(20)
        assert isinstance(error, ReconnectError)
        assert error.code == "STO-RECEIPT-TIMEOUT"
        with pytest.raises(ReconnectError):
            sink.send([Outgoing(text("no more"), "3")])


def test_a_blocked_send_ends(start_broker: Start) -> None:
    address = start_broker(max_queue_messages=1, heartbeat_ms=0)
    sink = StompSink(embedded_endpoint(address, receipt_timeout_ms=500, heartbeat_ms=0), CHANNEL)
    with connected(sink):
        sink.send([Outgoing(text("fills"), "0"), Outgoing(text("it"), "1")]).result(20)
        large = text("x" * 8_000_000)
        started = time.monotonic()
        with pytest.raises(ReconnectError) as caught:
            send_all(sink, [large] * 10)
        assert caught.value.code in ("STO-SEND-TIMEOUT", "STO-RECEIPT-TIMEOUT")
        assert time.monotonic() - started < 30


def test_the_next_host_is_tried(address: str) -> None:
    endpoint = embedded_endpoint(address, hosts=["127.0.0.1:1", address])
    with connected(StompSink(endpoint, CHANNEL)) as sink:
        assert sink.send([Outgoing(text("x"), "1")]).result(20) == ()


def test_the_error_names_every_host(address: str) -> None:
    sink = StompSink(embedded_endpoint(address, hosts=["127.0.0.1:1", "localhost:2"]), CHANNEL)
    with pytest.raises(ReconnectError) as caught:
        sink.connect()
    assert caught.value.code == "STO-UNREACHABLE"
    assert "127.0.0.1:1" in str(caught.value)
    assert "localhost:2" in str(caught.value)


def test_a_refused_login_says_so_and_shows_no_password(start_broker: Start) -> None:
    address = start_broker(login="gw", password="right")
    sink = StompSink(embedded_endpoint(address, login="gw", password="wrong-secret"), CHANNEL)
    with pytest.raises(ReconnectError) as caught:
        sink.connect()
    assert caught.value.code == "STO-LOGIN"
    assert "wrong-secret" not in str(caught.value) + repr(sink.__dict__)
