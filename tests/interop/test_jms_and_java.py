"""What a Java application sees of our JMS sink, and what our JMS source sees of it, on both brokers: nothing is lost either way."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from adapters.base import DeadLetterError, Delivery, Outgoing, StopError
from adapters.jms.settings import JmsChannel, JmsEndpoint
from adapters.jms.sink import JmsSink
from adapters.jms.source import JmsSource
from mappings.model import NON_PERSISTENT, Body, Headers, Message, MessageProperty, StreamElement
from tests.contract.wires.jms_brokers import endpoint
from tests.parts import maven
from tests.parts.artemis import VERSION
from tests.parts.availability import available
from tests.parts.broker import Broker
from tests.parts.jms_client import JmsClient, JmsValue, message, text_message

Unique = Callable[[str], str]

JAVA = {
    "boolean": "java.lang.Boolean",
    "byte": "java.lang.Byte",
    "short": "java.lang.Short",
    "int": "java.lang.Integer",
    "long": "java.lang.Long",
    "float": "java.lang.Float",
    "double": "java.lang.Double",
    "String": "java.lang.String",
    "char": "java.lang.Character",
    "bytes": "[B",
}
TEXT = "LOS: port\n7 \\ Zürich €"
EMOJI = "ok 😀 Zürich"
PROPERTIES = (
    MessageProperty("flag", "boolean", True),
    MessageProperty("octet", "byte", -128),
    MessageProperty("level", "short", 7),
    MessageProperty("Severity", "int", 3),
    MessageProperty("largest", "long", 2**63 - 1),
    MessageProperty("single", "float", 0.5),
    MessageProperty("ratio", "double", 0.1),
    MessageProperty("AlarmName", "String", TEXT),
    MessageProperty("empty", "String", ""),
    MessageProperty("JMSXGroupID", "String", "g"),
    MessageProperty("JMSXGroupSeq", "int", 2),
)
ELEMENTS = (
    ("boolean", False),
    ("byte", 127),
    ("short", -32768),
    ("int", -(2**31)),
    ("long", 2**40),
    ("float", -0.25),
    ("double", 1e300),
    ("String", TEXT),
    ("char", "€"),
    ("bytes", bytes(range(256))),
)
MAP = tuple(MessageProperty(f"k {type_}", type_, value) for type_, value in ELEMENTS)
STREAM = tuple(StreamElement(type_, value) for type_, value in ELEMENTS)
HELLO = b"\xac\xed\x00\x05t\x00\x05hello"  # java.lang.String "hello", serialized
SEVEN = bytes.fromhex(  # java.lang.Integer 7
    "aced0005737200116a6176612e6c616e672e496e746567657212e2a0a4f781873802000149000576616c7565787200106a6176612e6c616e67"
    "2e4e756d62657286ac951d0b94e08b020000787000000007"
)
BODIES = (
    Body(),
    Body("TextMessage", EMOJI),
    Body("TextMessage", None),
    Body("BytesMessage", bytes(range(256))),
    Body("BytesMessage", b""),
    Body("MapMessage", MAP),
    Body("StreamMessage", STREAM),
    Body("ObjectMessage", HELLO),
    Body("ObjectMessage", SEVEN),
)


def send(ours: JmsEndpoint, destination: str, *messages: Message) -> list[tuple[int, str]]:
    """Index and code of those that were refused. The destination is given with each message, as by a route of a link."""
    sink = JmsSink(ours, JmsChannel(endpoint="broker", destination="queue://elsewhere"))
    sink.connect()
    try:
        batch = [Outgoing(payload, f"{destination}#{n}", destination) for n, payload in enumerate(messages)]
        return [(refusal.index, refusal.error.code) for refusal in sink.send(batch).result(20.0)]
    finally:
        sink.close()


def receive(ours: JmsEndpoint, count: int, **channel: str) -> list[Delivery]:
    source = JmsSource(ours, JmsChannel(endpoint="broker", **channel))  # type: ignore[arg-type]
    source.connect()
    deliveries: list[Delivery] = []
    deadline = time.monotonic() + 20.0
    try:
        while len(deliveries) < count and time.monotonic() < deadline:
            deliveries += source.receive(count - len(deliveries), 1.0)
        source.acknowledge(deliveries)
    finally:
        source.close()
    assert len(deliveries) == count
    return deliveries


def messages_of(deliveries: list[Delivery]) -> list[Message]:
    assert [delivery.error for delivery in deliveries] == [None] * len(deliveries)
    return [delivery.payload for delivery in deliveries if isinstance(delivery.payload, Message)]


def send_ids(ours: JmsEndpoint, destination: str, *ids: str) -> None:
    """One batch; the text of each message is its id."""
    sink = JmsSink(ours, JmsChannel(endpoint="broker", destination=destination))
    sink.connect()
    try:
        batch = [Outgoing(Message(body=Body("TextMessage", id_)), f"{destination}#{id_}") for id_ in ids]
        assert sink.send(batch).result(20.0) == ()
    finally:
        sink.close()


def own(properties: tuple[MessageProperty, ...]) -> list[MessageProperty]:
    """In the order of their names, without what the broker adds."""
    return sorted(field for field in properties if field.name != "JMSXDeliveryCount")


def test_headers_and_typed_properties_reach_the_java_consumer(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    topic, back = f"topic://{unique('alarms')}", f"queue://{unique('back')}"
    headers = Headers(
        JMSType="Structured Event",
        JMSPriority=6,
        JMSTimeToLive=600_000,
        JMSCorrelationID="c-1",
        JMSReplyTo=back,
        JMSDeliveryMode=NON_PERSISTENT,
    )
    with jms.connect(broker) as connection:
        consumer = connection.subscribe(topic)
        before = int(time.time() * 1000)
        assert send(endpoint(broker), topic, Message(headers, PROPERTIES, Body("TextMessage", TEXT))) == []
        [received] = consumer.expect()
        after = int(time.time() * 1000)
    assert (received.body_type, received.body) == ("TextMessage", TEXT)
    expected = {
        "JMSType": "Structured Event",
        "JMSPriority": 6,
        "JMSDeliveryMode": "NON_PERSISTENT",
        "JMSCorrelationID": "c-1",
        "JMSReplyTo": back,
        "JMSDestination": topic,
        "JMSRedelivered": False,
    }
    assert {name: received.headers[name] for name in expected} == expected
    assert before + 600_000 <= received.headers["JMSExpiration"] <= after + 600_000
    seen = {name: value for name, value in received.properties.items() if name != "JMSXDeliveryCount"}
    if broker.kind == "artemis":
        assert seen.pop("_AMQ_DUPL_ID").value == f"{topic}#0"  # the event's id
    assert seen == {name: JmsValue(type_, value, JAVA[type_]) for name, type_, value in PROPERTIES}


def test_every_class_of_message_reaches_the_java_consumer(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    queue = f"queue://{unique('bodies')}"
    assert send(endpoint(broker), queue, *(Message(body=body) for body in BODIES)) == []
    with jms.connect(broker, options="" if broker.kind == "artemis" else "?jms.trustAllPackages=true") as connection:
        received = connection.subscribe(queue).expect(len(BODIES))
    assert [one.body_type for one in received] == [body.type for body in BODIES]
    none, text, no_text, octets, no_octets, map_, stream, object_, seven = received
    assert (none.body, text.body, no_text.body) == (None, EMOJI, None)
    assert (octets.body, no_octets.body, object_.body, seven.body) == (bytes(range(256)), b"", HELLO, SEVEN)
    assert map_.body == {name: JmsValue(type_, value, JAVA[type_]) for name, type_, value in MAP}
    assert stream.body == [JmsValue(type_, value, JAVA[type_]) for type_, value in STREAM]


def test_everything_of_a_java_producer_reaches_our_source(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    queue, back = f"queue://{unique('in')}", f"queue://{unique('back')}"
    properties = {name: (type_, value) for name, type_, value in PROPERTIES}
    headers = {
        "JMSType": "Order",
        "JMSPriority": 7,
        "JMSCorrelationID": "c-9",
        "JMSReplyTo": back,
        "JMSTimeToLive": 600_000,
    }
    with jms.connect(broker) as connection:
        ids = connection.send(
            queue,
            text_message(TEXT, properties, **headers),
            message("BytesMessage", bytes(range(256)), JMSDeliveryMode=NON_PERSISTENT),
            message("MapMessage", {name: (type_, value) for name, type_, value in MAP}),
            message("StreamMessage", ELEMENTS),
            message("ObjectMessage", HELLO),
            message("Message"),
            text_message(None),
        )
    arrived = {delivery.id: delivery for delivery in receive(endpoint(broker), 7, destination=queue)}
    deliveries = [arrived[id_] for id_ in ids]  # JMS keeps no order between persistent messages and others
    assert [delivery.persistent for delivery in deliveries] == [True, False, True, True, True, True, True]
    text, octets, map_, stream, object_, none, no_text = messages_of(deliveries)
    seen = text.headers
    assert (seen.JMSType, seen.JMSPriority, seen.JMSCorrelationID) == ("Order", 7, "c-9")
    assert (seen.JMSDestination, seen.JMSReplyTo, seen.JMSMessageID) == (queue, back, ids[0])
    assert (seen.JMSDeliveryMode, seen.JMSRedelivered) == ("PERSISTENT", False)
    assert seen.JMSExpiration is not None
    assert seen.JMSTimestamp is not None
    assert abs(seen.JMSExpiration - seen.JMSTimestamp - 600_000) < 5_000  # Artemis' client looks at the clock twice
    assert own(text.properties) == sorted(PROPERTIES)
    assert text.body == Body("TextMessage", TEXT)
    assert octets.body == Body("BytesMessage", bytes(range(256)))
    assert map_.body.type == "MapMessage"
    assert sorted(map_.body.value) == sorted(MAP)
    assert stream.body == Body("StreamMessage", STREAM)
    assert object_.body == Body("ObjectMessage", HELLO)
    assert (none.body, no_text.body) == (Body(), Body("TextMessage", None))


def test_characters_beyond_the_basic_plane_in_properties(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    """ActiveMQ's own client cannot read them (AMQ-8398), whoever sends them; see docs/jms.md."""
    queue = f"queue://{unique('emoji')}"
    map_ = Body("MapMessage", (MessageProperty("in a map", "String", EMOJI),))
    assert send(endpoint(broker), queue, Message(Headers(), (MessageProperty("p", "String", EMOJI),), map_)) == []
    with jms.connect(broker) as connection:
        [seen] = connection.browse(queue)
    [received] = messages_of(receive(endpoint(broker), 1, destination=queue))
    expected = EMOJI if broker.kind == "artemis" else EMOJI.replace("😀", "\ufffd\ufffd")
    assert seen.value("p") == expected
    assert own(received.properties) == [MessageProperty("p", "String", expected)]
    assert received.body.value[0].value == expected


def test_our_own_round_trip_keeps_every_body_and_property(broker: Broker, unique: Unique) -> None:
    queue = f"queue://{unique('loop')}"
    ours = endpoint(broker)
    odd = Body("TextMessage", "NUL \0 and 😀 and \r\n")
    bodies = (*BODIES, odd, Body("StreamMessage", (StreamElement("String", None),)))
    assert send(ours, queue, *(Message(properties=PROPERTIES, body=body) for body in bodies)) == []
    received = messages_of(receive(ours, len(bodies), destination=queue))
    for one, body in zip(received, bodies, strict=True):
        assert one.body.type == body.type
        assert one.body == body or sorted(one.body.value) == sorted(body.value)
        assert own(one.properties) == sorted(PROPERTIES)


@pytest.mark.parametrize("selector", ["Severity > 2", "ratio BETWEEN 0.25 AND 0.5 AND up = TRUE"])
def test_numeric_selectors_match_our_properties(broker: Broker, jms: JmsClient, unique: Unique, selector: str) -> None:
    """Over STOMP they would not: every property is text there."""
    queue = f"queue://{unique('selected')}"
    ours = endpoint(broker)
    sent = [
        Message(
            Headers(),
            (
                MessageProperty("Severity", "int", n),
                MessageProperty("ratio", "double", n / 10),
                MessageProperty("up", "boolean", True),
            ),
            Body("TextMessage", str(n)),
        )
        for n in range(6)
    ]
    assert send(ours, queue, *sent) == []
    with jms.connect(broker) as connection:
        seen = [one.body for one in connection.browse(queue, selector)]
    assert seen == ["3", "4", "5"]
    received = messages_of(receive(ours, 3, destination=queue, selector=selector))
    assert [one.body.value for one in received] == ["3", "4", "5"]


def test_artemis_drops_what_was_sent_before(artemis: Broker, unique: Unique) -> None:
    """And only that, in order, though a duplicate spoils the transaction that it comes in."""
    queue = f"queue://{unique('twice')}"
    ours = endpoint(artemis)
    send_ids(ours, queue, "a", "b")
    send_ids(ours, queue, "a", "b")
    send_ids(ours, queue, "c", "b", "d", "d", "e")
    received = messages_of(receive(ours, 5, destination=queue))
    assert [one.body.value for one in received] == ["a", "b", "c", "d", "e"]
    send_ids(ours, queue, "f")
    assert [one.body.value for one in messages_of(receive(ours, 1, destination=queue))] == ["f"]


def test_a_durable_subscription_keeps_what_comes_while_we_are_away(
    broker: Broker, jms: JmsClient, unique: Unique
) -> None:
    name, topic = unique("watch").replace(".", "_"), f"topic://{unique('alarms')}"
    ours = endpoint(broker)
    receive(ours, 0, destination=topic, subscription=name)
    with jms.connect(broker) as connection:
        connection.send(topic, text_message("while away"))
    [received] = messages_of(receive(ours, 1, destination=topic, subscription=name))
    assert received.body.value == "while away"
    with jms.connect(broker) as connection:
        connection.send(topic, text_message("for nobody"))
    channel = JmsChannel.model_validate({"endpoint": "jms", "destination": topic, "subscription": name})
    JmsSource(ours, channel).unsubscribe()
    receive(ours, 0, destination=topic, subscription=name)  # a new one: what waited in the other has gone with it
    with jms.connect(broker) as connection:
        connection.send(topic, text_message("for the new one"))
    [received] = messages_of(receive(ours, 1, destination=topic, subscription=name))
    assert received.body.value == "for the new one"
    JmsSource(ours, channel).unsubscribe()


def test_an_answer_finds_the_temporary_queue_of_whoever_asked(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    queue = f"queue://{unique('questions')}"
    ours = endpoint(broker)
    with jms.connect(broker) as connection:
        temporary = connection.temporary("queue")
        answers = connection.subscribe(temporary)
        connection.send(queue, text_message("?", JMSReplyTo=temporary, JMSCorrelationID="42"))
        [question] = messages_of(receive(ours, 1, destination=queue))
        assert question.headers.JMSReplyTo == temporary
        answer = Message(Headers(JMSCorrelationID="42"), (), Body("TextMessage", "!"))
        assert send(ours, question.headers.JMSReplyTo or "", answer) == []
        [received] = answers.expect()
        assert (received.body, received.headers["JMSCorrelationID"]) == ("!", "42")


def test_an_answer_that_nobody_waits_for_is_a_dead_letter(activemq: Broker, jms: JmsClient, unique: Unique) -> None:
    queue = f"queue://{unique('others')}"
    with jms.connect(activemq) as connection:
        temporary = connection.temporary("queue")
    assert send(endpoint(activemq), temporary, Message()) == [(0, "JMS-ANSWER")]
    assert send(endpoint(activemq), queue, Message()) == []


def test_what_jms_cannot_carry_is_refused_and_the_others_pass(broker: Broker, unique: Unique) -> None:
    queue = f"queue://{unique('refused')}"
    ours = endpoint(broker)
    bad = [
        Message(properties=(MessageProperty("n", "int", 2**31),)),
        Message(properties=(MessageProperty("n", "int", "3"),)),
        Message(properties=(MessageProperty("", "int", 3),)),
        Message(properties=(MessageProperty("n", "long", 1), MessageProperty("n", "long", 2))),
        Message(properties=(MessageProperty("n", "double", object()),)),
        Message(body=Body("ObjectMessage", b"garbage")),
        Message(body=Body("PictureMessage", None)),
        Message(Headers(JMSReplyTo="nowhere")),
    ]
    good = Message(body=Body("TextMessage", "good"))
    mixed = [entry for one in bad for entry in (one, good)]
    assert send(ours, queue, *mixed) == [(index, "JMS-ENCODE") for index in range(0, len(mixed), 2)]
    received = messages_of(receive(ours, len(bad), destination=queue))
    assert [one.body.value for one in received] == ["good"] * len(bad)


def test_java_deserializes_only_what_it_may(artemis: Broker, jms: JmsClient, unique: Unique) -> None:
    queue = f"queue://{unique('objects')}"
    url = b"\xac\xed\x00\x05sr\x00\x0cjava.net.URL\x96%76\x1a\xfc\xe4r\x03\x00\x00xp"
    assert send(endpoint(artemis), queue, Message(body=Body("ObjectMessage", url))) == [(0, "JMS-DESERIALIZE")]
    with jms.connect(artemis) as connection:
        connection.send(queue, message("ObjectMessage", SEVEN))
    [refused] = receive(endpoint(artemis, serial_filter="!*"), 1, destination=queue)
    assert isinstance(refused.error, DeadLetterError)
    assert refused.error.code in ("JMS-DESERIALIZE", "JMS-DECODE")


def test_a_selector_that_is_none_stops_the_link(broker: Broker, unique: Unique) -> None:
    with pytest.raises(StopError) as caught:
        receive(endpoint(broker), 1, destination=f"queue://{unique('q')}", selector="Severity > > 2")
    assert caught.value.code == "JMS-SELECTOR"


def test_a_provider_of_jakarta_jms(artemis: Broker, jms: JmsClient, unique: Unique) -> None:
    coordinates = f"org.apache.activemq:artemis-jakarta-client:{VERSION}"
    jars = available(lambda: maven.jars(f"artemis-jakarta-client-{VERSION}", coordinates))
    assert any(jar.name.startswith("jakarta.jms-api-3") for jar in jars)
    ours = endpoint(artemis, classpath=[str(jars[0].parent / "*.jar")])
    there, back = f"queue://{unique('there')}", f"queue://{unique('back')}"
    assert send(ours, there, *(Message(properties=PROPERTIES, body=body) for body in BODIES)) == []
    with jms.connect(artemis) as connection:
        received = connection.subscribe(there).expect(len(BODIES))
        connection.send(back, *(one.form for one in received))
    assert [one.body_type for one in received] == [body.type for body in BODIES]
    for one, body in zip(messages_of(receive(ours, len(BODIES), destination=back)), BODIES, strict=True):
        assert one.body.type == body.type
        assert one.body == body or sorted(one.body.value) == sorted(body.value)
        assert own(one.properties) == sorted(PROPERTIES)


def test_the_factory_is_looked_up_by_jndi(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    contexts = {
        "artemis": "org.apache.activemq.artemis.jndi.ActiveMQInitialContextFactory",
        "activemq": "org.apache.activemq.jndi.ActiveMQInitialContextFactory",
    }
    properties = {"connectionFactory.ours": broker.jms_url, "queue.jms/in": unique("looked-up")}
    jndi = {
        "initial_context_factory": contexts[broker.kind],
        "provider_url": broker.jms_url,
        "connection_factory": "ours" if broker.kind == "artemis" else "ConnectionFactory",
        "properties": properties,
    }
    ours = endpoint(broker, factory=None, url=None, jndi=jndi)
    assert send(ours, "queue://jndi:jms/in", Message(body=Body("TextMessage", "found"))) == []
    with jms.connect(broker) as connection:
        [received] = connection.subscribe(f"queue://{properties['queue.jms/in']}").expect()
    assert received.body == "found"
