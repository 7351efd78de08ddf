"""Our STOMP wire on RabbitMQ: what passes, and what RabbitMQ would take for orders of its own if we let it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from adapters.base import Outgoing, ReconnectError
from adapters.stomp.settings import StompChannel
from adapters.stomp.sink import StompSink
from mappings.model import NON_PERSISTENT, Body, Headers, Message, MessageProperty, StreamElement
from tests.contract.wires.stomp_brokers import endpoint
from tests.interop.stomp_talk import given_up, message_of, received, send, source_on
from tests.parts.rabbitmq import RabbitMQ
from tests.unit.stomp.raw_client import RawClient

Unique = Callable[[str], str]

BODIES = [
    Body("Message", None),
    Body("TextMessage", "plain text, ünïcode 😀"),
    Body("TextMessage", ""),
    Body("TextMessage", None),
    Body("TextMessage", "with\0NUL"),
    Body("BytesMessage", bytes(range(256)) * 3),
    Body("BytesMessage", b""),
    Body("ObjectMessage", b"\xac\xed\x00\x05"),
    Body("MapMessage", (MessageProperty("port", "int", 7), MessageProperty("raw", "bytes", b"\x01\x02"))),
    Body("StreamMessage", (StreamElement("long", 2**40), StreamElement("String", "x"))),
]


def test_every_kind_of_body_comes_back(rabbitmq: RabbitMQ, unique: Unique) -> None:
    queue = f"queue://{unique('bodies')}"
    send(rabbitmq, queue, *[Message(Headers(), (), body) for body in BODIES])
    with source_on(rabbitmq, queue) as source:
        deliveries = received(source, len(BODIES))
        source.acknowledge(deliveries)
    assert [message_of(d).body for d in deliveries] == BODIES


def test_header_fields_come_back(rabbitmq: RabbitMQ, unique: Unique) -> None:
    queue = f"queue://{unique('fields')}"
    sent = Headers(
        JMSType="Alarm" * 100,
        JMSCorrelationID="c:1\n",
        JMSReplyTo="queue://re/ply %",
        JMSPriority=9,
        JMSTimeToLive=600_000,
    )
    send(rabbitmq, queue, Message(sent, (), Body("TextMessage", "x")))
    with source_on(rabbitmq, queue) as source:
        [delivery] = received(source, 1)
        source.acknowledge([delivery])
    got = message_of(delivery).headers
    names = ("JMSType", "JMSCorrelationID", "JMSReplyTo", "JMSPriority", "JMSDeliveryMode")
    assert [getattr(got, name) for name in names] == [getattr(sent, name) for name in names]
    assert got.JMSDestination == queue
    assert delivery.persistent


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("user-id", "somebody else"),  # refused, with the connection
        ("durable", "false"),  # a queue that only the sender may read
        ("exclusive", "true"),
        ("auto-delete", "true"),
        ("x-max-length", "1"),  # a queue that nobody else can declare
        ("x-message-ttl", "1"),
        ("x-queue-type", "stream"),
        ("app-id", "a"),
        ("content-encoding", "gzip"),
        ("amqp-message-id", "ID:mine"),
        ("persistent", "false"),
        ("a:b\nc", "ü😀\r\n\\"),
        ("long", "v" * 100_000),
    ],
)
def test_a_property_is_data_and_nothing_else(rabbitmq: RabbitMQ, unique: Unique, name: str, value: str) -> None:
    queue = f"queue://{unique('property')}"
    field = MessageProperty(name, "String", value)
    send(rabbitmq, queue, Message(Headers(), (field,), Body("TextMessage", "x")))
    with source_on(rabbitmq, queue) as source:
        [delivery] = received(source, 1)
        source.acknowledge([delivery])
    assert message_of(delivery).properties == (field,)


def test_a_message_that_is_not_persistent_leaves_the_queue_to_everybody(rabbitmq: RabbitMQ, unique: Unique) -> None:
    """`persistent:false` would lock the queue to the connection that sent first."""
    queue = f"queue://{unique('volatile')}"
    send(rabbitmq, queue, Message(Headers(JMSDeliveryMode=NON_PERSISTENT), (), Body("TextMessage", "x")))
    with source_on(rabbitmq, queue) as source:
        [delivery] = received(source, 1)
        source.acknowledge([delivery])
    assert not delivery.persistent


@pytest.mark.parametrize("name", ["with space", "per%cent", "sl/ash", "stär*#"])
def test_names_of_queues_are_taken_as_they_are(rabbitmq: RabbitMQ, unique: Unique, name: str) -> None:
    queue = f"queue://{name}.{unique('name')}"
    send(rabbitmq, queue, Message(Headers(), (), Body("TextMessage", "x")))
    with source_on(rabbitmq, queue) as source:
        [delivery] = received(source, 1)
        source.acknowledge([delivery])
    assert message_of(delivery).headers.JMSDestination == queue


def test_ids_stay_the_same_over_redelivery(rabbitmq: RabbitMQ, unique: Unique) -> None:
    queue = f"queue://{unique('again')}"
    send(rabbitmq, queue, *[Message(Headers(), (), Body("TextMessage", f"{n}")) for n in range(2)])
    with source_on(rabbitmq, queue) as source:
        first = received(source, 2)
    with source_on(rabbitmq, queue) as source:
        again = received(source, 2)
        source.acknowledge(again)
    assert [d.id for d in again] == [d.id for d in first]
    assert len({d.id for d in first}) == 2
    assert all(d.redelivered for d in again)


def test_a_durable_subscription_misses_nothing(rabbitmq: RabbitMQ, unique: Unique) -> None:
    topic, name = f"topic://{unique('news')}", unique("subscription")
    with source_on(rabbitmq, topic, subscription=name):
        pass
    send(rabbitmq, topic, *[Message(Headers(), (), Body("TextMessage", f"{n}")) for n in range(5)])
    with source_on(rabbitmq, topic, subscription=name) as source:
        first = received(source, 2)
        source.acknowledge(first)
    with source_on(rabbitmq, topic, subscription=name) as source:
        rest = received(source, 3)
        source.acknowledge(rest)
    assert [message_of(d).body.value for d in first + rest] == ["0", "1", "2", "3", "4"]


def test_a_durable_subscription_is_given_up(rabbitmq: RabbitMQ, unique: Unique) -> None:
    given_up(rabbitmq, unique)


def test_an_answer_finds_its_way(rabbitmq: RabbitMQ, unique: Unique) -> None:
    questions, answers = f"queue://{unique('questions')}", f"queue://{unique('answers')}"
    send(
        rabbitmq, questions, Message(Headers(JMSReplyTo=answers, JMSCorrelationID="c-1"), (), Body("TextMessage", "?"))
    )
    with source_on(rabbitmq, questions) as source:
        [delivery] = received(source, 1)
        source.acknowledge([delivery])
    asked = message_of(delivery).headers
    answer = Message(Headers(JMSCorrelationID=asked.JMSCorrelationID), (), Body("TextMessage", "!"))
    send(rabbitmq, questions, answer, to=asked.JMSReplyTo)
    with source_on(rabbitmq, answers) as source:
        [delivery] = received(source, 1)
        source.acknowledge([delivery])
    assert (message_of(delivery).headers.JMSCorrelationID, message_of(delivery).body.value) == ("c-1", "!")


@pytest.mark.parametrize(
    ("settings", "code"), [({"password": "wrong"}, "STO-LOGIN"), ({"vhost": "/nowhere"}, "STO-CONNECT")]
)
def test_a_refusal_tells_what_to_mend(rabbitmq: RabbitMQ, settings: dict[str, str], code: str) -> None:
    sink = StompSink(endpoint(rabbitmq, **settings), StompChannel(endpoint="broker", destination="queue://x"))
    with pytest.raises(ReconnectError) as refused:
        sink.connect()
    assert refused.value.code == code
    assert "wrong" not in str(refused.value)


def count_of(message: Message) -> object:
    return next((field.value for field in message.properties if field.name == "JMSXDeliveryCount"), None)


def test_quorum_queues_count_deliveries(rabbitmq: RabbitMQ, unique: Unique) -> None:
    queue = f"queue://{unique('quorum')}"
    channel = StompChannel(endpoint="broker", destination=queue, queue_type="quorum")
    sink = StompSink(endpoint(rabbitmq), channel)
    sink.connect()
    batch = [Outgoing(Message(Headers(), (), Body("TextMessage", f"{n}")), f"id-{n}") for n in range(3)]
    assert sink.send(batch).result(20.0) == ()
    sink.close()
    counts = []
    for _ in range(3):
        with source_on(rabbitmq, queue, queue_type="quorum") as source:
            deliveries = received(source, 3)
            assert [message_of(d).body.value for d in deliveries] == ["0", "1", "2"]
            counts.append([count_of(message_of(delivery)) for delivery in deliveries])
    assert counts == [[None] * 3, [2] * 3, [3] * 3]
    with source_on(rabbitmq, queue, queue_type="quorum") as source:
        source.acknowledge(received(source, 3))
    # Who does not know that it is one is told.
    plain = StompSink(endpoint(rabbitmq), StompChannel(endpoint="broker", destination=queue))
    plain.connect()
    try:
        with pytest.raises(ReconnectError) as refused:
            plain.send(batch).result(20.0)
        assert refused.value.code == "STO-DESTINATION"
    finally:
        plain.close()


def test_a_queue_with_arguments_of_its_own_accuses_no_message(rabbitmq: RabbitMQ, unique: Unique) -> None:
    """RabbitMQ closes the connection. The message is fine, and waits for somebody to mend the queue."""
    name = unique("foreign")
    with RawClient(f"{rabbitmq.host}:{rabbitmq.stomp_port}") as client:
        client.connect(host="/", login=rabbitmq.login, passcode=rabbitmq.password)
        client.send("SEND", b"first", destination=f"/queue/{name}", x_max_length="7", receipt="1")
        client.receipt("1")
    sink = StompSink(endpoint(rabbitmq), StompChannel(endpoint="broker", destination=f"queue://{name}"))
    for _ in range(4):
        sink.connect()
        try:
            confirmation = sink.send([Outgoing(Message(Headers(), (), Body("TextMessage", "x")), "id-1")])
            with pytest.raises(ReconnectError) as refused:
                confirmation.result(20.0)
        finally:
            sink.close()
        assert refused.value.code == "STO-DESTINATION"
