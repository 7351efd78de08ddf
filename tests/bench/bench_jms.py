"""JMS sink and source, persistent and confirmed, against a bare JPype loop with the same client, transactions and getters.

The loop is a process of its own (this file as a program): it has no gateway at the other end of a socket, keeps nothing, and
overlaps nothing with the commits; so the sink, whose worker takes all that waits into one transaction, may come out above it.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from adapters.base import Confirmation, Outgoing
from adapters.jms.settings import JmsChannel, JmsEndpoint
from adapters.jms.sink import JmsSink
from adapters.jms.source import JmsSource
from mappings.model import Body, Headers, Message, MessageProperty
from tests.bench.harness import Bench, Measure
from tests.contract.wires.jms_brokers import endpoint as jms_endpoint
from tests.parts.activemq import activemq
from tests.parts.artemis import artemis
from tests.parts.broker import Broker

BATCH = 100
IN_FLIGHT = 10
COUNT = 10_000
FIELDS = 5
TEXT = "x" * 1000
PROPERTIES = tuple(
    field
    for n in range(FIELDS)
    for field in (
        MessageProperty(f"$Fd1$_Text{n}", "String", f"value {n}"),
        MessageProperty(f"$Fd1$_Number{n}", "int", n),
    )
)
MESSAGE = Message(Headers(JMSType="Alarm"), PROPERTIES, Body("TextMessage", TEXT))
_numbers = itertools.count()


def fresh() -> JmsChannel:
    return JmsChannel(endpoint="broker", destination=f"queue://bench.{next(_numbers)}")


def send(sink: JmsSink) -> None:
    under_way: deque[Confirmation] = deque()
    for number in range(COUNT // BATCH):
        under_way.append(sink.send([Outgoing(MESSAGE, f"{number}-{n}") for n in range(BATCH)]))
        if len(under_way) >= IN_FLIGHT:
            assert under_way.popleft().result(60) == ()
    for confirmation in under_way:
        assert confirmation.result(60) == ()


def receive(source: JmsSource) -> None:
    count = COUNT
    while count:
        deliveries = source.receive(BATCH, 60.0)
        assert deliveries
        source.acknowledge(deliveries)
        count -= len(deliveries)


class Raw:
    """The bare loop in its process."""

    def __init__(self, endpoint: JmsEndpoint) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.bench_jms"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert endpoint.password is not None
        self._tell(
            endpoint.classpath,
            endpoint.jvm_options,
            endpoint.factory,
            endpoint.url,
            endpoint.login,
            endpoint.password.get_secret_value(),
        )

    def run(self, what: str, channel: JmsChannel) -> float:
        """Messages per second."""
        assert self._process.stdout is not None
        self._tell(what, channel.destination.removeprefix("queue://"))
        return COUNT / float(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate(timeout=30)

    def _tell(self, *words: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()


def raw_loop() -> None:
    import jpype

    classpath, options, factory, url, login, password = json.loads(sys.stdin.readline())
    jpype.startJVM("-Xrs", "-XX:+UseSerialGC", *options, classpath=classpath, convertStrings=True)
    connection = jpype.JClass(factory)(url).createConnection(login, password)
    connection.start()
    for line in sys.stdin:
        what, queue = json.loads(line)
        session = connection.createSession(True, 0)
        started = time.perf_counter()
        (raw_send if what == "send" else raw_receive)(session, session.createQueue(queue))
        print(time.perf_counter() - started, flush=True)
        session.close()
    connection.close()


def raw_send(session: Any, queue: Any) -> None:
    producer = session.createProducer(queue)
    for number in range(1, COUNT + 1):
        message = session.createTextMessage(TEXT)
        message.setJMSType("Alarm")
        for n in range(FIELDS):
            message.setStringProperty(f"$Fd1$_Text{n}", f"value {n}")
            message.setIntProperty(f"$Fd1$_Number{n}", n)
        producer.send(message)
        if number % BATCH == 0:
            session.commit()


def raw_receive(session: Any, queue: Any) -> None:
    consumer = session.createConsumer(queue)
    for number in range(1, COUNT + 1):
        message = consumer.receive(60_000)
        message.getText()
        names = message.getPropertyNames()
        while names.hasMoreElements():
            message.getObjectProperty(names.nextElement())
        for getter in ("JMSType", "JMSMessageID", "JMSPriority", "JMSTimestamp", "JMSExpiration", "JMSDeliveryMode"):
            getattr(message, f"get{getter}")()
        if number % BATCH == 0:
            session.commit()


def bench(role: str, name: str, start: Callable[[], AbstractContextManager[Broker]]) -> Bench:
    @contextmanager
    def setup() -> Iterator[tuple[Measure, Measure]]:
        with start() as broker:
            ours = jms_endpoint(broker, jvm_options=["-Xmx256m"])
            bare = Raw(ours)

            def measure(work: Callable[[JmsChannel], float]) -> float:
                channel = fresh()
                if role == "source":
                    bare.run("send", channel)
                result = work(channel)
                if role == "sink":
                    bare.run("receive", channel)  # brokers get slow when they are full
                return result

            def value(channel: JmsChannel) -> float:
                end = JmsSink(ours, channel) if role == "sink" else JmsSource(ours, channel)
                end.connect()  # a JVM starts slowly: not what is measured here
                started = time.perf_counter()
                if isinstance(end, JmsSink):
                    send(end)
                else:
                    receive(end)
                rate = COUNT / (time.perf_counter() - started)
                end.close()
                return rate

            def ceiling(channel: JmsChannel) -> float:
                return bare.run("send" if role == "sink" else "receive", channel)

            for work in (ceiling, value):  # Java gets faster as it runs
                measure(work)
            yield (lambda: measure(value), lambda: measure(ceiling))
            bare.close()

    return Bench(f"jms-{role}-{name}", "messages/s", "bare JPype loop, same client and transactions", setup)


BENCHES = [
    bench(role, name, start)
    for name, start in (("activemq", lambda: activemq(quick=False)), ("artemis", lambda: artemis(quick=False)))
    for role in ("sink", "source")
]

if __name__ == "__main__":
    raw_loop()
