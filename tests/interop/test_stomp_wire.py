"""Our STOMP wire on real brokers: subscriptions, replies, odd text, long values, large frames."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from adapters.base import Outgoing
from adapters.stomp.settings import StompChannel
from adapters.stomp.sink import StompSink
from mappings.model import Body, Headers, Message, MessageProperty
from tests.contract.wires.stomp_brokers import endpoint
from tests.interop.stomp_talk import given_up, message_of, received, send, source_on
from tests.parts.broker import Broker
from tests.parts.jms_client import JmsClient, text_message

Unique = Callable[[str], str]
PATIENCE_SECS = 20.0


@pytest.mark.parametrize("kind", ["queue", "topic"])
def test_an_answer_finds_its_way_to_a_temporary_destination(
    broker: Broker, jms: JmsClient, unique: Unique, kind: str
) -> None:
    questions = f"queue://{unique('questions')}"
    with jms.connect(broker) as connection, source_on(broker, questions) as source:
        temporary = connection.temporary(kind)  # type: ignore[arg-type]
        answers = connection.subscribe(temporary)
        connection.send(questions, text_message("?", JMSReplyTo=temporary, JMSCorrelationID="c-1"))
        [delivery] = received(source, 1)
        source.acknowledge([delivery])
        asked = message_of(delivery).headers
        answer = Message(Headers(JMSCorrelationID=asked.JMSCorrelationID), (), Body("TextMessage", "!"))
        send(broker, questions, answer, to=asked.JMSReplyTo)
        [seen] = answers.expect()
        assert (seen.body, seen.headers["JMSCorrelationID"]) == ("!", "c-1")
        # And passed on with a message of ours it still leads there.
        passed_on = f"queue://{unique('passed')}"
        send(broker, passed_on, Message(Headers(JMSReplyTo=asked.JMSReplyTo), (), Body("TextMessage", "x")))
        [further] = connection.subscribe(passed_on).expect()
        assert further.headers["JMSReplyTo"] == temporary


def test_a_durable_subscription_misses_nothing(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    topic, name = f"topic://{unique('news')}", unique("subscription")
    with source_on(broker, topic, subscription=name):
        pass
    with jms.connect(broker) as connection:
        connection.send(topic, *[text_message(f"{n}", {"sev": ("int", n)}) for n in range(5)])
    with source_on(broker, topic, subscription=name) as source:
        first = received(source, 2)
        source.acknowledge(first)
    with source_on(broker, topic, subscription=name) as source:
        rest = received(source, 3)
        source.acknowledge(rest)
        assert [message_of(d).body.value for d in first + rest] == ["0", "1", "2", "3", "4"]


def test_a_durable_subscription_is_given_up(broker: Broker, unique: Unique) -> None:
    given_up(broker, unique)


def test_a_selector_chooses_by_type_and_text(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    queue = f"queue://{unique('chosen')}"
    with jms.connect(broker) as connection:
        for n in range(4):
            connection.send(
                queue, text_message(f"{n}", {"kind": ("String", "odd" if n % 2 else "even")}, JMSType="Alarm")
            )
    with source_on(broker, queue, selector="kind = 'odd' AND JMSType = 'Alarm'") as source:
        chosen = received(source, 2)
        source.acknowledge(chosen)
        assert [message_of(d).body.value for d in chosen] == ["1", "3"]
        assert source.receive(1, 0.3) == []


def test_released_deliveries_are_kept_by_the_broker(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    """NACK would dead-letter them on ActiveMQ and drop them on Artemis."""
    queue = f"queue://{unique('released')}"
    with jms.connect(broker) as connection:
        connection.send(queue, *[text_message(f"{n}") for n in range(3)])
    with source_on(broker, queue) as source:
        first = received(source, 3)
        source.release(first[1:])
        assert source.receive(1, 0.2) == []  # one is still open: acknowledging it must not be disturbed
        source.acknowledge(first[:1])
        again = received(source, 2)
        assert [message_of(d).body.value for d in again] == ["1", "2"]
        assert [d.id for d in again] == [d.id for d in first[1:]]
        source.acknowledge(again)
    with source_on(broker, queue) as source:
        assert source.receive(1, 0.3) == []


@pytest.mark.parametrize("text", ["a\0b", "😀 astral", "\u2028\t\r\n", " <map/> ", "ÿþ"])
def test_text_of_a_jms_producer_arrives_as_it_was(broker: Broker, jms: JmsClient, unique: Unique, text: str) -> None:
    queue = f"queue://{unique('text')}"
    with jms.connect(broker) as connection:
        connection.send(queue, text_message(text))
    with source_on(broker, queue) as source:
        [delivery] = received(source, 1)
        source.acknowledge([delivery])
        assert message_of(delivery).body == Body("TextMessage", text)


def test_every_property_survives_from_stomp_to_stomp(broker: Broker, unique: Unique) -> None:
    queue = f"queue://{unique('odd')}"
    values = {
        "$Fd1.AlarmName": "LOS: port\n7 \\ \r",
        "with:colon": "a:b",
        "type": "named like a header",
        "destination": "queue://elsewhere",
        "$body": "map",
        "nul": "a\0b",
        "long": "x:\\é" * 20_000,
        "  spaces ": "  kept ",
        "empty": "",
        "$stomp$x": "y",
    }
    message = Message(
        Headers(), tuple(MessageProperty(n, "String", v) for n, v in values.items()), Body("TextMessage", "x")
    )
    send(broker, queue, message)
    with source_on(broker, queue) as source:
        [delivery] = received(source, 1)
        source.acknowledge([delivery])
        assert {p.name: p.value for p in message_of(delivery).properties} == values


def test_batches_under_way_do_not_overtake_one_another(broker: Broker, unique: Unique) -> None:
    queue = f"queue://{unique('order')}"
    sink = StompSink(endpoint(broker), StompChannel(endpoint="broker", destination=queue))
    sink.connect()
    try:
        texts = [f"{n}" for n in range(1000)]
        pairs = [
            [
                Outgoing(Message(Headers(), (), Body("TextMessage", text)), f"{queue}#{text}")
                for text in texts[n : n + 2]
            ]
            for n in range(0, len(texts), 2)
        ]
        for confirmation in [sink.send(pair) for pair in pairs]:
            assert confirmation.result(60.0) == ()
    finally:
        sink.close()
    arrived: list[object] = []
    with source_on(broker, queue) as source:
        while len(arrived) < len(texts) and (deliveries := source.receive(100, PATIENCE_SECS)):
            source.acknowledge(deliveries)
            arrived += [message_of(d).body.value for d in deliveries]
    assert arrived == texts


def test_ids_are_unique_beyond_their_broker(artemis: Broker, unique: Unique) -> None:
    """Artemis only counts its messages; and what has the id of another one would be dropped as a duplicate somewhere."""
    queue = f"queue://{unique('ids')}"
    send(artemis, queue, Message(Headers(), (), Body("TextMessage", "x")))
    with source_on(artemis, queue) as source:
        [first] = received(source, 1)
    with source_on(artemis, queue) as source:
        [again] = received(source, 1)
        source.acknowledge([again])
    headers = message_of(first).headers
    assert first.id == again.id
    assert first.id == f"{artemis.host}:{artemis.stomp_port}/{headers.JMSMessageID}@{headers.JMSTimestamp}"


def test_large_frames_pass(broker: Broker, unique: Unique) -> None:
    queue = f"queue://{unique('large')}"
    body = bytes(range(256)) * 40_000  # ten megabytes, every byte of which may be NUL
    send(broker, queue, Message(Headers(), (), Body("BytesMessage", body)))
    with source_on(broker, queue) as source:
        [delivery] = received(source, 1)
        source.acknowledge([delivery])
        assert message_of(delivery).body.value == body
