"""What a JMS application sees of our STOMP sink, and what our STOMP source sees of a JMS application, on both brokers."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable

import pytest
from pydantic import SecretStr

from adapters.base import Delivery, Outgoing
from adapters.stomp.settings import StompChannel, StompEndpoint
from adapters.stomp.sink import StompSink
from adapters.stomp.source import StompSource
from mappings.model import NON_PERSISTENT, Body, Headers, Message, MessageProperty, StreamElement
from tests.parts.broker import Broker
from tests.parts.jms_client import JmsClient, JmsValue, Received, message, text_message

Unique = Callable[[str], str]

PROPERTIES = (
    MessageProperty("$flag", "boolean", True),
    MessageProperty("$octet", "byte", -128),
    MessageProperty("$level", "short", 7),
    MessageProperty("$Severity", "int", 3),
    MessageProperty("$long", "long", 2**63 - 1),
    MessageProperty("$ratio", "double", 0.25),
    MessageProperty("$Fd1.AlarmName", "String", "LOS: port\n7 \\ Zürich €"),
    MessageProperty("$empty", "String", ""),
)
MAP = (
    MessageProperty("port", "int", 7),
    MessageProperty("site", "String", "Zürich <&>"),
    MessageProperty("up", "boolean", False),
    MessageProperty("offset", "long", -(2**40)),
    MessageProperty("ratio", "double", 0.5),
)
STREAM = (StreamElement("int", 1), StreamElement("String", "two"), StreamElement("double", 3.5))


def _endpoint(broker: Broker) -> StompEndpoint:
    host = f"{broker.host}:{broker.stomp_port}"
    return StompEndpoint(
        type="stomp", hosts=[host], login=broker.login, password=SecretStr(broker.password), broker=broker.kind
    )


def _send(broker: Broker, destination: str, *messages: Message) -> None:
    sink = StompSink(_endpoint(broker), StompChannel(endpoint="broker", destination=destination))
    sink.connect()
    try:
        batch = [Outgoing(payload, f"{destination}#{n}") for n, payload in enumerate(messages)]
        assert sink.send(batch).result(20.0) == ()
    finally:
        sink.close()


def _receive(broker: Broker, destination: str, count: int, selector: str | None = None) -> list[Message]:
    channel = StompChannel(endpoint="broker", destination=destination, selector=selector)
    source = StompSource(_endpoint(broker), channel)
    source.connect()
    deliveries: list[Delivery] = []
    deadline = time.monotonic() + 20.0
    try:
        while len(deliveries) < count and time.monotonic() < deadline:
            deliveries += source.receive(count - len(deliveries), 1.0)
        source.acknowledge(deliveries)
    finally:
        source.close()
    assert [delivery.error for delivery in deliveries] == [None] * count
    return [delivery.payload for delivery in deliveries if isinstance(delivery.payload, Message)]


def test_headers_and_properties_reach_the_jms_consumer(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    topic = f"topic://{unique('alarms')}"
    headers = Headers(
        JMSType="Structured Event",
        JMSPriority=6,
        JMSTimeToLive=600_000,
        JMSCorrelationID="c-1",
        JMSReplyTo="queue://back",
    )
    with jms.connect(broker) as connection:
        consumer = connection.subscribe(topic)
        before = int(time.time() * 1000)
        _send(broker, topic, Message(headers, PROPERTIES, Body("TextMessage", "loss of signal: Zürich €")))
        [received] = consumer.expect()
        after = int(time.time() * 1000)
    assert (received.body_type, received.body) == ("TextMessage", "loss of signal: Zürich €")
    expected = {
        "JMSType": "Structured Event",
        "JMSPriority": 6,
        "JMSDeliveryMode": "PERSISTENT",
        "JMSCorrelationID": "c-1",
        "JMSDestination": topic,
        "JMSRedelivered": False,
    }
    assert {name: received.headers[name] for name in expected} == expected
    assert before + 600_000 <= received.headers["JMSExpiration"] <= after + 600_000
    texts = {
        "$flag": "true",
        "$octet": "-128",
        "$level": "7",
        "$Severity": "3",
        "$long": str(2**63 - 1),
        "$ratio": "0.25",
    }
    texts |= {"$Fd1.AlarmName": "LOS: port\n7 \\ Zürich €", "$empty": ""}
    seen = {name: value for name, value in received.properties.items() if name.startswith("$")}
    assert seen == {name: JmsValue("String", text, "java.lang.String") for name, text in texts.items()}


def test_reply_to_reaches_the_jms_consumer_as_a_destination(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    queue, back = f"queue://{unique('questions')}", f"queue://{unique('answers')}"
    _send(broker, queue, Message(Headers(JMSReplyTo=back), (), Body("TextMessage", "?")))
    with jms.connect(broker) as connection:
        [question] = connection.subscribe(queue).expect()
        assert question.headers["JMSReplyTo"] == back


def test_every_body_reaches_the_jms_consumer(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    queue = f"queue://{unique('bodies')}"
    bodies = [
        Body(),
        Body("TextMessage", ""),
        Body("TextMessage", "a\nb\r\n\tc: Zürich €"),
        Body("BytesMessage", bytes(range(256))),
        Body("BytesMessage", b""),
        Body("StreamMessage", STREAM),
        Body("MapMessage", MAP),
        Body("ObjectMessage", b"\xac\xed\x00\x05t\x00\x05hello"),
    ]
    _send(broker, queue, *(Message(body=body) for body in bodies))
    with jms.connect(broker) as connection:
        none, empty_text, text, octets, no_octets, stream, map_, object_ = connection.subscribe(queue).expect(
            len(bodies)
        )
    assert (text.body_type, text.body) == ("TextMessage", "a\nb\r\n\tc: Zürich €")
    assert (octets.body_type, octets.body) == ("BytesMessage", bytes(range(256)))
    assert (no_octets.body_type, no_octets.body) == ("BytesMessage", b"")
    assert (empty_text.body_type, empty_text.body or "") == ("TextMessage", "")
    assert (none.body_type, none.body or "", none.value("$body")) == ("TextMessage", "", "none")
    assert (object_.body_type, object_.value("$body")) == ("BytesMessage", "object")
    assert object_.body == b"\xac\xed\x00\x05t\x00\x05hello"
    assert _json_of(stream, "stream") == [{"type": type_, "value": value} for type_, value in STREAM]
    if broker.kind == "activemq":
        java = {"int": "java.lang.Integer", "long": "java.lang.Long", "String": "java.lang.String"}
        java |= {"boolean": "java.lang.Boolean", "double": "java.lang.Double"}
        assert map_.body_type == "MapMessage"
        assert map_.body == {name: JmsValue(type_, value, java[type_]) for name, type_, value in MAP}
    else:
        assert _json_of(map_, "map") == [{"name": name, "type": type_, "value": value} for name, type_, value in MAP]


def _json_of(received: Received, mark: str) -> object:
    """OC-BODY-7: what STOMP has no form for is JSON text with a mark."""
    assert (received.body_type, received.value("$body")) == ("TextMessage", mark)
    return json.loads(received.body)


def test_a_jms_producer_reaches_our_source(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    queue, back = f"queue://{unique('in')}", f"queue://{unique('back')}"
    properties = {
        "severity": ("int", 3),
        "site": ("String", "Zürich: €\n\\"),
        "up": ("boolean", True),
        "x": ("double", 0.5),
    }
    headers = {
        "JMSType": "Order",
        "JMSPriority": 7,
        "JMSCorrelationID": "c-9",
        "JMSReplyTo": back,
        "JMSTimeToLive": 600_000,
    }
    with jms.connect(broker) as connection:
        [id_, _] = connection.send(
            queue,
            text_message("hé\n€", properties, **headers),
            message("BytesMessage", bytes(range(256)), JMSDeliveryMode="NON_PERSISTENT"),
        )
    text, octets = _receive(broker, queue, 2)
    assert text.body == Body("TextMessage", "hé\n€")
    assert octets.body == Body("BytesMessage", bytes(range(256)))
    seen = text.headers
    assert (seen.JMSType, seen.JMSPriority, seen.JMSCorrelationID) == ("Order", 7, "c-9")
    assert (seen.JMSDestination, seen.JMSReplyTo) == (queue, back)
    assert (seen.JMSDeliveryMode, octets.headers.JMSDeliveryMode) == ("PERSISTENT", "NON_PERSISTENT")
    assert seen.JMSExpiration is not None
    assert seen.JMSTimestamp is not None
    assert abs(seen.JMSExpiration - seen.JMSTimestamp - 600_000) < 5_000  # Artemis' client looks at the clock twice
    texts = {name: (type_, value) for name, type_, value in text.properties if name in properties}
    assert texts == {
        "severity": ("String", "3"),
        "site": ("String", "Zürich: €\n\\"),
        "up": ("String", "true"),
        "x": ("String", "0.5"),
    }
    del id_


def test_a_map_of_a_jms_producer_reaches_our_source_on_classic(
    activemq: Broker, jms: JmsClient, unique: Unique
) -> None:
    queue = f"queue://{unique('maps')}"
    with jms.connect(activemq) as connection:
        connection.send(queue, message("MapMessage", {name: (type_, value) for name, type_, value in MAP}))
    [received] = _receive(activemq, queue, 1)
    assert received.body.type == "MapMessage"
    assert sorted(received.body.value) == sorted(MAP)


def test_a_round_trip_over_the_broker_keeps_every_body(broker: Broker, unique: Unique) -> None:
    queue = f"queue://{unique('loop')}"
    bodies = [
        Body(),
        Body("TextMessage", None),
        Body("TextMessage", ""),
        Body("TextMessage", "with NUL \0 and 😀"),
        Body("BytesMessage", b"\0"),
        Body("StreamMessage", STREAM),
        Body("MapMessage", MAP),
        Body("ObjectMessage", b"\xac\xed\x00\x05p"),
    ]
    _send(broker, queue, *(Message(properties=PROPERTIES, body=body) for body in bodies))
    received = _receive(broker, queue, len(bodies))
    assert [_sorted(one.body) for one in received] == [_sorted(body) for body in bodies]
    names = {name for name, _, _ in PROPERTIES}
    for one in received:
        values = {name: value for name, _, value in one.properties if name in names}
        assert values["$Fd1.AlarmName"] == "LOS: port\n7 \\ Zürich €"
        assert values.keys() == names


def _sorted(body: Body) -> Body:
    """A map has no order."""
    return Body(body.type, tuple(sorted(body.value))) if body.type == "MapMessage" else body


def test_characters_beyond_the_basic_plane(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    """ActiveMQ's JMS client cannot read such text in plain UTF-8, and makes two question marks of it in a property (AMQ-8398)."""
    queue, text = f"queue://{unique('emoji')}", "ok 😀 Zürich"
    bodies = [
        Body("TextMessage", text),
        Body("TextMessage", f"{text}\0"),
        Body("MapMessage", (MessageProperty("a", "String", text),)),
    ]
    sent = [Message(properties=(MessageProperty("$note", "String", text),), body=body) for body in bodies]
    _send(broker, queue, *sent)
    with jms.connect(broker) as connection:
        plain, *_ = connection.browse(queue)
        assert (plain.body_type, plain.body) == ("TextMessage", text)
        if broker.kind == "artemis":
            assert plain.value("$note") == text
        else:
            assert base64.b64decode(plain.value("$note")).decode() == text
            assert json.loads(plain.value("$stomp$base64")) == ["$note"]
        connection.send(queue, text_message(text))
    received = _receive(broker, queue, 4)
    assert [one.body for one in received] == [*bodies, Body("TextMessage", text)]
    assert [one.properties[0].value for one in received[:3]] == [text] * 3


@pytest.mark.parametrize("selector", ["severity > 2", "site = 'Bern' AND severity BETWEEN 3 AND 4"])
def test_a_numeric_selector_of_ours_on_typed_properties(
    broker: Broker, jms: JmsClient, unique: Unique, selector: str
) -> None:
    queue = f"queue://{unique('selected')}"
    with jms.connect(broker) as connection:
        forms = (text_message(str(n), {"severity": ("int", n), "site": ("String", "Bern")}) for n in range(5))
        connection.send(queue, *forms)
    received = _receive(broker, queue, 2, selector)
    assert [one.body.value for one in received] == ["3", "4"]


@pytest.mark.parametrize(
    ("selector", "matching"),
    [
        # ActiveMQ remembers parsed selectors by their text without the prefix: so no two here have the same.
        ("$Severity > 2", []),  # JMS 3.8.1.1: text is never greater than a number
        ("$Severity = '3'", ["3"]),
        ("convert_string_expressions:$Severity >= 3", ["3", "4"]),
        ("JMSPriority > 5", ["4"]),  # a field is a number for everybody
    ],
)
def test_what_a_jms_selector_sees_of_our_numbers(
    broker: Broker, jms: JmsClient, unique: Unique, selector: str, matching: list[str]
) -> None:
    """As docs/stomp.md says; over an endpoint of type jms they are numbers (test_jms_and_java.py)."""
    queue = f"queue://{unique('numbers')}"
    sent = [
        Message(Headers(JMSPriority=n + 2), (MessageProperty("$Severity", "int", n),), Body("TextMessage", str(n)))
        for n in range(5)
    ]
    _send(broker, queue, *sent)
    with jms.connect(broker) as connection:
        seen = [one.body for one in connection.browse(queue, selector)]
    assert sorted(seen) == matching


def test_a_message_that_may_be_lost_and_an_answer_to_come(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    queue, back = f"queue://{unique('volatile')}", f"topic://{unique('back')}"
    headers = Headers(JMSDeliveryMode=NON_PERSISTENT, JMSReplyTo=back, JMSCorrelationID="ID:x")
    _send(broker, queue, Message(headers, (MessageProperty("$single", "float", 0.5),), Body("TextMessage", "x")))
    with jms.connect(broker) as connection:
        [received] = connection.subscribe(queue).expect()
    assert received.headers["JMSDeliveryMode"] == "NON_PERSISTENT"
    assert (received.headers["JMSReplyTo"], received.headers["JMSCorrelationID"]) == (back, "ID:x")
    assert received.properties["$single"] == JmsValue("String", "0.5", "java.lang.String")


OBJECT = b"\xac\xed\x00\x05t\x00\x05hello"  # java.lang.String "hello", serialized
LOST = {
    ("activemq", "StreamMessage"): [Body()],
    ("activemq", "ObjectMessage"): [Body("TextMessage", "<string>hello</string>")],
    ("activemq", "Message"): [Body()],
    ("artemis", "StreamMessage"): [],  # not delivered at all
    ("artemis", "ObjectMessage"): [Body()],
    ("artemis", "MapMessage"): [Body()],
    ("artemis", "Message"): [Body()],
}


@pytest.mark.parametrize(
    ("body_type", "body"),
    [("StreamMessage", [("int", 1)]), ("ObjectMessage", OBJECT), ("MapMessage", {"n": ("int", 1)}), ("Message", None)],
)
def test_what_stomp_loses_of_a_jms_producer(
    broker: Broker, jms: JmsClient, unique: Unique, body_type: str, body: object
) -> None:
    """The broker turns these into what docs/stomp.md says, or keeps them back; what comes behind them comes."""
    queue = f"queue://{unique('lost')}"
    with jms.connect(broker) as connection:
        connection.send(queue, message(body_type, body, {"n": ("int", 1)}), text_message("behind"))
    source = StompSource(_endpoint(broker), StompChannel(endpoint="broker", destination=queue))
    source.connect()
    deliveries: list[Delivery] = []
    deadline = time.monotonic() + 20.0
    try:
        while not any(text_of(one) == "behind" for one in deliveries) and time.monotonic() < deadline:
            deliveries += source.receive(10, 1.0)
        source.acknowledge(deliveries)
    finally:
        source.close()
    *lost, behind = [one.payload for one in deliveries if isinstance(one.payload, Message)]
    assert behind.body == Body("TextMessage", "behind")
    typed = Body("MapMessage", (MessageProperty("n", "int", 1),))
    assert [one.body for one in lost] == LOST.get((broker.kind, body_type), [typed])
    assert all(MessageProperty("n", "String", "1") in one.properties for one in lost)


def text_of(delivery: Delivery) -> object:
    return delivery.payload.body.value if isinstance(delivery.payload, Message) else None
