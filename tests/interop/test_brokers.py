"""The parts themselves: a broker that lives, dies and comes back as told, and a JMS client that tells the truth about types."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.parts.broker import Broker
from tests.parts.jms_client import JmsClient, JmsError, JmsValue, message, text_message

Unique = Callable[[str], str]

PROPERTIES = {
    "a_boolean": ("boolean", True),
    "a_byte": ("byte", -128),
    "a_short": ("short", 32767),
    "an_int": ("int", -(2**31)),
    "a_long": ("long", 2**63 - 1),
    "a_float": ("float", 0.25),
    "a_double": ("double", float("-inf")),
    # Nothing beyond U+FFFF: ActiveMQ's own client does not bring that through in properties and maps (its issue AMQ-8398).
    "a_string": ("String", 'Zürich "€"\n\t\\'),
}
CLASSES = {
    "String": "java.lang.String",
    "boolean": "java.lang.Boolean",
    "byte": "java.lang.Byte",
    "short": "java.lang.Short",
}
CLASSES |= {
    "int": "java.lang.Integer",
    "long": "java.lang.Long",
    "float": "java.lang.Float",
    "double": "java.lang.Double",
}
CLASSES |= {"char": "java.lang.Character", "bytes": "[B"}

ELEMENTS = {**PROPERTIES, "a_char": ("char", "ß"), "some_bytes": ("bytes", b"\x00\xff"), "nothing": ("String", None)}
SERIALIZED_HELLO = b"\xac\xed\x00\x05t\x00\x05hello"  # Java serialization: magic, version 5, TC_STRING, length, text


def _seen(type_: str, value: object) -> JmsValue:
    return JmsValue(type_, value, None if value is None else CLASSES[type_])


def test_properties_keep_their_java_types(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    queue = f"queue://{unique('in')}"
    with jms.connect(broker) as connection:
        sent = text_message(
            "hé", PROPERTIES, JMSType="Alarm", JMSPriority=7, JMSCorrelationID="c-1", JMSReplyTo="topic://back"
        )
        [id_] = connection.send(queue, sent)
        [received] = connection.subscribe(queue).expect()
    properties = {name: value for name, value in received.properties.items() if not name.startswith("JMSX")}
    assert properties == {name: _seen(type_, value) for name, (type_, value) in PROPERTIES.items()}
    assert (received.body_type, received.body) == ("TextMessage", "hé")
    expected = {"JMSMessageID": id_, "JMSType": "Alarm", "JMSPriority": 7, "JMSCorrelationID": "c-1"}
    expected |= {
        "JMSDestination": queue,
        "JMSReplyTo": "topic://back",
        "JMSDeliveryMode": "PERSISTENT",
        "JMSTimeToLive": 0,
    }
    assert {name: received.headers[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("body_type", "body", "seen"),
    [
        ("Message", None, None),
        ("TextMessage", "", ""),
        ("TextMessage", "😀 \0 \u2028", "😀 \0 \u2028"),
        ("BytesMessage", bytes(range(256)), bytes(range(256))),
        ("MapMessage", ELEMENTS, {name: _seen(*element) for name, element in ELEMENTS.items()}),
        ("StreamMessage", list(ELEMENTS.values()), [_seen(*element) for element in ELEMENTS.values()]),
        ("ObjectMessage", SERIALIZED_HELLO, SERIALIZED_HELLO),
    ],
)
def test_every_class_of_message(
    broker: Broker, jms: JmsClient, unique: Unique, body_type: str, body: object, seen: object
) -> None:
    queue = f"queue://{unique('in')}"
    with jms.connect(broker) as connection:
        connection.send(queue, message(body_type, body), transacted=True)
        [received] = connection.subscribe(queue).expect()
    assert (received.body_type, received.body) == (body_type, seen)


def test_selectors_durable_subscriptions_and_settlement(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    topic, client_id = f"topic://{unique('alarms')}", unique("client")
    with jms.connect(broker, client_id=client_id) as connection:
        connection.subscribe(topic, durable="night-shift", selector="severity > 2", acknowledge="client").close()
    with jms.connect(broker, client_id=client_id) as connection:
        connection.send(topic, *(text_message(str(n), {"severity": ("int", n)}) for n in range(5)))
        consumer = connection.subscribe(topic, durable="night-shift", selector="severity > 2", acknowledge="client")
        assert [m.body for m in consumer.expect(2)] == ["3", "4"]
        consumer.give_back()
        again = consumer.expect(2)
        assert [(m.body, m.headers["JMSRedelivered"]) for m in again] == [("3", True), ("4", True)]
        consumer.acknowledge()
        consumer.give_back()
        assert consumer.receive(1, 0.2) == []
        consumer.close()
        connection.unsubscribe("night-shift")


def test_a_temporary_queue_takes_the_answer(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    queue = f"queue://{unique('questions')}"
    with jms.connect(broker) as asking, jms.connect(broker) as answering:
        reply_to = asking.temporary("queue")
        replies = asking.subscribe(reply_to)
        asking.send(queue, text_message("?", JMSReplyTo=reply_to))
        [question] = answering.subscribe(queue).expect()
        answering.send(question.headers["JMSReplyTo"], text_message("!"))
        assert [m.body for m in replies.expect()] == ["!"]


def test_killed_restarted_and_frozen(broker: Broker, jms: JmsClient, unique: Unique) -> None:
    address, pid = (broker.host, broker.stomp_port), broker.pid
    queue = f"queue://{unique('kept')}"
    with jms.connect(broker) as connection:
        connection.send(queue, text_message("persistent"))
    try:
        broker.kill()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, timeout=5.0)
    finally:
        broker.restart()
    assert (broker.host, broker.stomp_port) == address
    assert broker.pid != pid
    with jms.connect(broker) as connection:
        assert [m.body for m in connection.subscribe(queue).expect()] == ["persistent"]
    with socket.create_connection(address, timeout=0.5) as half_open:
        broker.freeze()
        try:
            half_open.sendall(b"CONNECT\naccept-version:1.2\n\n\0")
            with pytest.raises(TimeoutError):
                half_open.recv(1)
        finally:
            broker.thaw()
        half_open.settimeout(20.0)
        assert half_open.recv(5) in (b"ERROR", b"")  # it wants a login; some hang up before they have said so


def test_the_password_counts_and_may_be_changed(broker: Broker, jms: JmsClient) -> None:
    with pytest.raises(JmsError, match="JMSSecurityException"):
        jms.connect(broker, password="wrong")
    before = broker.password
    try:
        broker.set_password("another")
        with pytest.raises(JmsError, match="JMSSecurityException"):
            jms.connect(broker, password=before)
        jms.connect(broker).close()
    finally:
        broker.set_password(before)
    jms.connect(broker).close()


ORPHAN = """
import os, sys
from tests.parts.activemq import activemq
broker = activemq().__enter__()
print(broker.stomp_port, broker.folder, flush=True)
os.kill(os.getpid(), 9)
"""


def test_a_broker_ends_with_the_process_that_started_it(activemq: Broker) -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", ORPHAN], cwd=root, capture_output=True, text=True, timeout=90)
    assert done.returncode == -9, done.stderr
    port, folder = done.stdout.split()
    deadline_attempts = 100
    for _ in range(deadline_attempts):
        try:
            socket.create_connection((activemq.host, int(port)), timeout=5.0).close()
        except ConnectionRefusedError:
            break
        time.sleep(0.1)
    else:
        pytest.fail("the broker is still there")
    shutil.rmtree(folder)
