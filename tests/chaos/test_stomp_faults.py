"""The STOMP wire when the way or the broker is ill: only errors of the contract leave it, in bounded time, and nothing is lost."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from adapters.base import Delivery, Outgoing, ReconnectError, Sink, Source
from adapters.embedded_broker import Broker
from adapters.stomp.settings import StompChannel, StompEndpoint
from adapters.stomp.sink import StompSink
from adapters.stomp.source import StompSource
from mappings.model import Body, Headers, Message
from tests.chaos.stomp_proxy import Proxy
from tests.contract.wires.stomp import BrokerProcess, embedded_endpoint

CHANNEL = StompChannel(endpoint="broker", destination="queue://chaos")
PATIENCE_SECS = 20.0


def message(number: int) -> Message:
    return Message(Headers(), (), Body("TextMessage", str(number)))


def impatient(address: str, **settings: object) -> StompEndpoint:
    quick = {"heartbeat_ms": 200, "receipt_timeout_ms": 1000, "connect_timeout_ms": 1000}
    return embedded_endpoint(address, **{**quick, **settings})


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with ExitStack() as ends:
        broker = Broker("127.0.0.1", 0, heartbeat_ms=100)
        ends.callback(broker.stop)
        yield ends.enter_context(Proxy(broker.start()))


@contextmanager
def connected(end: Source | Sink) -> Iterator[None]:
    end.connect()
    try:
        yield
    finally:
        end.close()


def code_of(action: Callable[[], object]) -> str:
    with pytest.raises(ReconnectError) as caught:
        action()
    return caught.value.code


def receive_until_it_fails(source: Source) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while time.monotonic() < deadline:
        source.receive(10, 0.5)


def test_half_open_connections_are_noticed_by_both(proxy: Proxy) -> None:
    source, sink = (make(impatient(proxy.address), CHANNEL) for make in (StompSource, StompSink))
    with connected(source), connected(sink):
        sink.send([Outgoing(message(1), "1")]).result(PATIENCE_SECS)
        assert len(source.receive(1, PATIENCE_SECS)) == 1
        proxy.freeze()
        confirmation = sink.send([Outgoing(message(2), "2")])
        assert code_of(lambda: confirmation.result(PATIENCE_SECS)) in ("STO-SILENT", "STO-RECEIPT-TIMEOUT")
        assert code_of(lambda: receive_until_it_fails(source)) == "STO-SILENT"


def test_a_frozen_way_is_noticed_while_a_large_send_is_blocked(proxy: Proxy) -> None:
    sink = StompSink(impatient(proxy.address, receipt_timeout_ms=60_000), CHANNEL)
    with connected(sink):
        proxy.freeze()
        large = Message(Headers(), (), Body("BytesMessage", bytes(32 * 1024 * 1024)))
        # Heart-beats tell, long before the time-out of the send.
        assert code_of(lambda: sink.send([Outgoing(large, "1")]).result(PATIENCE_SECS)) == "STO-SILENT"


def test_a_stopped_broker_process_is_noticed_while_sending() -> None:
    broker = BrokerProcess("--heartbeat-ms", "200")
    broker.start()
    try:
        sink = StompSink(impatient(broker.address, receipt_timeout_ms=60_000), CHANNEL)
        with connected(sink):
            os.kill(broker.pid, signal.SIGSTOP)
            large = Message(Headers(), (), Body("BytesMessage", bytes(32 * 1024 * 1024)))
            assert code_of(lambda: sink.send([Outgoing(large, "1")]).result(PATIENCE_SECS)) == "STO-SILENT"
    finally:
        broker.kill()


@pytest.mark.parametrize("make", [StompSource, StompSink])
def test_a_broker_that_never_answers(make: Callable[..., Source | Sink]) -> None:
    with Proxy(None) as mute:
        assert code_of(make(impatient(mute.address), CHANNEL).connect) == "STO-NO-ANSWER"


def test_a_port_that_takes_no_connection() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        assert code_of(StompSink(impatient(address), CHANNEL).connect) == "STO-UNREACHABLE"


MALFORMED = [
    (b"\0", "STO-PROTOCOL"),
    (b"HTTP/1.1 400 Bad Request\r\n\r\n\0", "STO-PROTOCOL"),
    (b"RECEIPT\n\n\0", "STO-PROTOCOL"),
    (b"RECEIPT\nno colon\n\n\0", "STO-PROTOCOL"),
    (b"RECEIPT\nreceipt-id:\\t\n\n\0", "STO-PROTOCOL"),
    (b"MESSAGE\ncontent-length:1\n\nlonger\0", "STO-PROTOCOL"),
    pytest.param(b"x" * 17_000_000, "STO-PROTOCOL", id="endless head"),
    (b"ERROR\nmessage:boom\n\n\0", "STO-REFUSED"),
    (b"ERROR\nmessage:User gw is not authorized to write to queue\n\n\0", "STO-ACCESS"),
    (b"ERROR\n\n\0", "STO-REFUSED"),
]


@pytest.mark.parametrize(("data", "code"), MALFORMED)
def test_malformed_frames_from_the_broker(proxy: Proxy, data: bytes, code: str) -> None:
    source, sink = (make(impatient(proxy.address, heartbeat_ms=0), CHANNEL) for make in (StompSource, StompSink))
    with connected(source), connected(sink):
        proxy.inject(data)
        assert code_of(lambda: receive_until_it_fails(source)) == code
        assert (
            code_of(lambda: [sink.send([Outgoing(message(n), "x")]).result(PATIENCE_SECS) for n in range(50)]) == code
        )
    # And the next connection is as good as new.
    with connected(sink):
        assert sink.send([Outgoing(message(7), "7")]).result(PATIENCE_SECS) == ()


@pytest.mark.parametrize(
    "head",
    [
        b"MESSAGE\nno colon\nack:1\nmessage-id:m",
        b"MESSAGE\na:\\t\nack:1\nmessage-id:m",
        b"MESSAGE\nx:\xff\nack:1",
        b"MESSAGE\nmessage-id:m",
        b"MESSAGE\nack:1\npriority:?",
    ],
)
def test_an_unreadable_message_is_a_delivery_with_an_error(proxy: Proxy, head: bytes) -> None:
    source = StompSource(impatient(proxy.address), CHANNEL)
    with connected(source):
        proxy.inject(head + b"\n\nx\0")
        [delivery] = source.receive(1, PATIENCE_SECS)
        assert delivery.error is not None
        assert delivery.error.code == "STO-DECODE"
        assert delivery.id
        assert delivery.original == head + b"\n\nx\0"


def test_receipts_that_nobody_asked_for_are_ignored(proxy: Proxy) -> None:
    sink = StompSink(impatient(proxy.address), CHANNEL)
    with connected(sink):
        proxy.inject(b"RECEIPT\nreceipt-id:999\n\n\0")
        assert sink.send([Outgoing(message(1), "1")]).result(PATIENCE_SECS) == ()


def test_cut_connections_lose_nothing(proxy: Proxy) -> None:
    """The way breaks again and again while numbered batches pass; the sender repeats what was not confirmed."""
    sink = StompSink(impatient(proxy.address), CHANNEL)
    source = StompSource(impatient(proxy.address), CHANNEL)
    total, size = 60, 20
    batches = [[Outgoing(message(b * size + n), f"{b}-{n}") for n in range(size)] for b in range(total)]
    try:
        for number, batch in enumerate(batches):
            cut = number % 10 == 5
            deadline = time.monotonic() + PATIENCE_SECS
            while True:
                assert time.monotonic() < deadline
                try:
                    confirmation = sink.send(batch)
                    if cut:
                        proxy.cut()
                        cut = False
                    assert confirmation.result(PATIENCE_SECS) == ()
                    break
                except ReconnectError:
                    sink.close()
                    sink.connect()
    finally:
        sink.close()
    got: set[str] = set()
    with connected(source):
        while len(got) < total * size and (deliveries := source.receive(100, 5.0)):
            source.acknowledge(deliveries)
            got |= {d.payload.body.value for d in deliveries}  # type: ignore[union-attr]
    assert got == {str(n) for n in range(total * size)}


def test_a_slow_way_costs_time_and_nothing_else(proxy: Proxy) -> None:
    """Each piece takes longer than a heart-beat's period, a whole batch longer than the time-out of receipts."""
    source, sink = (make(impatient(proxy.address), CHANNEL) for make in (StompSource, StompSink))
    with connected(source), connected(sink):
        proxy.slow(piece_bytes=4096, pause_secs=0.02)
        sent = [sink.send([Outgoing(large(b * 10 + n), f"{b}-{n}") for n in range(10)]) for b in range(6)]
        got: list[object] = []
        while len(got) < 60:
            deliveries = source.receive(10, PATIENCE_SECS)
            assert deliveries
            source.acknowledge(deliveries)
            got += [number_of(delivery) for delivery in deliveries]
        assert [confirmation.result(PATIENCE_SECS) for confirmation in sent] == [()] * 6
        assert got == list(range(60))


def large(number: int) -> Message:
    return Message(Headers(), (), Body("TextMessage", f"{number} " + "x" * 4000))


def number_of(delivery: Delivery) -> int:
    assert isinstance(delivery.payload, Message)
    return int(delivery.payload.body.value.split()[0])


def test_a_broker_that_takes_no_more_clients_says_so() -> None:
    with ExitStack() as ends:
        broker = Broker("127.0.0.1", 0, max_clients=1)
        ends.callback(broker.stop)
        address = broker.start()
        source, sink = (make(impatient(address), CHANNEL) for make in (StompSource, StompSink))
        with connected(source):
            with pytest.raises(ReconnectError, match="as many clients as it takes") as caught:
                sink.connect()
            assert caught.value.code == "STO-CONNECT"
        deadline = time.monotonic() + PATIENCE_SECS
        while not connects(sink):
            assert time.monotonic() < deadline
        assert sink.send([Outgoing(message(1), "1")]).result(PATIENCE_SECS) == ()
        sink.close()


def connects(sink: Sink) -> bool:
    try:
        sink.connect()
    except ReconnectError:
        return False
    return True
