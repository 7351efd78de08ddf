"""STOMP sink and source, persistent and confirmed, against a bare socket that speaks the same protocol with prepared bytes."""

from __future__ import annotations

import itertools
import re
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from adapters.base import Confirmation, Outgoing
from adapters.stomp.codec import Encoder
from adapters.stomp.flavours import FLAVOURS
from adapters.stomp.frames import encode
from adapters.stomp.settings import StompChannel, StompEndpoint
from adapters.stomp.sink import StompSink
from adapters.stomp.source import StompSource
from mappings.model import Body, Headers, Message, MessageProperty
from tests.bench.harness import Bench, Measure
from tests.contract.wires.stomp import BrokerProcess, embedded_endpoint
from tests.contract.wires.stomp_brokers import endpoint as broker_endpoint
from tests.parts.activemq import activemq
from tests.parts.artemis import artemis

BATCH = 100
IN_FLIGHT = 10  # transactions
PROPERTIES = tuple(MessageProperty(f"$Fd1.Field{n}", "String", f"value {n}") for n in range(5))
MESSAGE = Message(Headers(JMSType="Alarm"), PROPERTIES, Body("TextMessage", "x" * 1000))
_numbers = itertools.count()


def fresh(prefetch: int = 1000) -> StompChannel:
    return StompChannel(endpoint="broker", destination=f"queue://bench.{next(_numbers)}", prefetch=prefetch)


class RawClient:
    """The least that the protocol allows: no decoding but of what must be answered."""

    def __init__(self, endpoint: StompEndpoint, channel: StompChannel) -> None:
        self._flavour = FLAVOURS[endpoint.broker]
        self._channel = channel
        host, _, port = endpoint.hosts[0].rpartition(":")
        self._socket = socket.create_connection((host, int(port)), 60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        password = "" if endpoint.password is None else endpoint.password.get_secret_value()
        self._socket.sendall(
            f"CONNECT\naccept-version:1.2\nhost:x\nlogin:{endpoint.login or ''}\npasscode:{password}\n\n\0".encode()
        )
        assert self._socket.recv(65536).startswith(b"CONNECTED")

    def send(self, count: int) -> None:
        # Prepared but for the transaction and, for Artemis, the id of every message.
        encoder = Encoder(self._flavour, "json")
        frame = encoder.encode(MESSAGE, self._channel.destination, "@@", 0, "transaction:##\n")
        unanswered = 0
        for number in range(count // BATCH):
            mine = frame.replace(b"##", b"%d" % number)
            if self._flavour.duplicate_header:
                frames = b"".join([mine.replace(b"@@", b"%d-%d-%d" % (id(self), number, n)) for n in range(BATCH)])
            else:
                frames = mine * BATCH
            self._socket.sendall(
                b"BEGIN\ntransaction:%d\n\n\0%sCOMMIT\ntransaction:%d\nreceipt:%d\n\n\0"
                % (number, frames, number, number)
            )
            unanswered += 1
            while unanswered >= IN_FLIGHT:
                unanswered -= self._socket.recv(65536).count(b"\0")
        while unanswered:
            unanswered -= self._socket.recv(65536).count(b"\0")

    def receive(self, count: int) -> None:
        headers = self._flavour.subscribe_headers(self._channel.destination, self._channel.prefetch, None)
        destination = self._flavour.to_wire(self._channel.destination)
        headers |= {"destination": destination, "id": "1", "ack": "client-individual"}
        self._socket.sendall(encode("SUBSCRIBE", headers.items()))
        rest = b""
        while count:
            data = rest + self._socket.recv(262144)
            end = data.rfind(b"\0") + 1
            rest = data[end:]
            acks = re.findall(rb"\nack:([^\n]*)", data[:end])
            count -= len(acks)
            self._socket.sendall(b"".join([b"ACK\nid:%s\n\n\0" % ack for ack in acks]))
        self._socket.sendall(b"DISCONNECT\nreceipt:bye\n\n\0")
        assert b"bye" in self._socket.recv(65536)

    def close(self) -> None:
        self._socket.close()


def send(endpoint: StompEndpoint, channel: StompChannel, count: int) -> None:
    sink = StompSink(endpoint, channel)
    sink.connect()
    under_way: deque[Confirmation] = deque()
    for number in range(count // BATCH):
        under_way.append(sink.send([Outgoing(MESSAGE, f"{id(sink)}-{number}-{n}") for n in range(BATCH)]))
        if len(under_way) >= IN_FLIGHT:
            assert under_way.popleft().result(60) == ()
    for confirmation in under_way:
        assert confirmation.result(60) == ()
    sink.close()


def receive(endpoint: StompEndpoint, channel: StompChannel, count: int) -> None:
    source = StompSource(endpoint, channel)
    source.connect()
    while count:
        deliveries = source.receive(BATCH, 60.0)
        assert deliveries
        source.acknowledge(deliveries)
        count -= len(deliveries)
    source.close()


def raw(endpoint: StompEndpoint, channel: StompChannel, work: Callable[[RawClient], None]) -> None:
    client = RawClient(endpoint, channel)
    work(client)
    client.close()


def rate(count: int, work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return count / (time.perf_counter() - started)


Endpoint = Callable[[], AbstractContextManager[StompEndpoint]]


def sink_bench(name: str, start: Endpoint, count: int) -> Bench:
    @contextmanager
    def setup() -> Iterator[tuple[Measure, Measure]]:
        with start() as endpoint:

            def measure(work: Callable[[StompChannel], None]) -> float:
                channel = fresh()
                result = rate(count, lambda: work(channel))
                raw(endpoint, channel, lambda client: client.receive(count))  # brokers get slow when they are full
                return result

            def ours(channel: StompChannel) -> None:
                send(endpoint, channel, count)

            def bare(channel: StompChannel) -> None:
                raw(endpoint, channel, lambda client: client.send(count))

            measure(bare)  # a JVM starts slowly
            yield (lambda: measure(ours), lambda: measure(bare))

    return Bench(f"stomp-sink-{name}", "messages/s", "bare socket, transactions", setup)


def source_bench(name: str, start: Endpoint, count: int) -> Bench:
    @contextmanager
    def setup() -> Iterator[tuple[Measure, Measure]]:
        with start() as endpoint:

            def measure(work: Callable[[StompChannel], None]) -> float:
                channel = fresh()
                raw(endpoint, channel, lambda client: client.send(count))
                return rate(count, lambda: work(channel))

            def ours(channel: StompChannel) -> None:
                receive(endpoint, channel, count)

            def bare(channel: StompChannel) -> None:
                raw(endpoint, channel, lambda client: client.receive(count))

            measure(bare)
            yield (lambda: measure(ours), lambda: measure(bare))

    return Bench(f"stomp-source-{name}", "messages/s", "bare socket, same acknowledgements", setup)


@contextmanager
def embedded() -> Iterator[StompEndpoint]:
    broker = BrokerProcess()
    broker.start()
    try:
        yield embedded_endpoint(broker.address)
    finally:
        broker.kill()


@contextmanager
def classic() -> Iterator[StompEndpoint]:
    with activemq(quick=False) as broker:
        yield broker_endpoint(broker)


@contextmanager
def artemis_broker() -> Iterator[StompEndpoint]:
    with artemis(quick=False) as broker:
        yield broker_endpoint(broker)


BENCHES = [
    make(name, start, count)
    for name, start, count in (
        ("activemq", classic, 10_000),
        ("artemis", artemis_broker, 10_000),
        ("embedded", embedded, 30_000),
    )
    for make in (sink_bench, source_bench)
]
