"""What a real JMS application sees and sends: a Java program (java/jms/) with the brokers' own JMS clients, driven from Python.

One JVM serves a whole test run. Operations come one at a time; each waits no longer than it is told to.

    with JmsClient() as jms, jms.connect(broker) as connection:
        consumer = connection.subscribe("topic://nms.alarms", selector="Severity > 2")
        ...
        [message] = consumer.expect(1)
        assert message.properties["Severity"] == JmsValue("int", 3, "java.lang.Integer")
        connection.send("queue://in", text_message("hello", {"n": ("int", 3)}))
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from tests.parts import activemq, artemis
from tests.parts.broker_part import CONFIG
from tests.parts.java import compiled, joined, tool
from tests.parts.json_process import JsonProcess

GRACE_SECS = 30.0  # how much longer than its own time-out an operation may take before the JVM counts as hung
FACTORIES = {
    "artemis": "org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory",
    "activemq": "org.apache.activemq.ActiveMQConnectionFactory",
}

Form = dict[str, Any]  # a message in the JSON form of FORMS.md section 4


class JmsError(Exception):
    """The JMS client raised this; `java` is the name of the class."""

    def __init__(self, java: str, message: str) -> None:
        super().__init__(f"{java}: {message}")
        self.java = java


class JmsValue(NamedTuple):
    """One property, or one element of a map or stream."""

    type: str  # boolean byte short int long float double String char bytes
    value: Any
    java: str | None  # the class of the object that the getter returned; None for null


@dataclass(frozen=True, slots=True)
class Received:
    """One message as the getters of the JMS interface told it."""

    headers: Mapping[str, Any]  # those of FORMS.md section 4, and JMSExpiration, JMSRedelivered
    properties: Mapping[str, JmsValue]
    body_type: str  # TextMessage BytesMessage MapMessage StreamMessage ObjectMessage Message
    body: Any  # str, bytes, dict of JmsValue, list of JmsValue, bytes (serialized), None
    java: str  # the provider's class
    form: Form  # as FORMS.md section 4 has it, properties in order of their names

    def value(self, name: str) -> Any:
        return self.properties[name].value


class Peer(Protocol):
    """What connect() needs to know; a Broker has it."""

    @property
    def kind(self) -> str: ...
    @property
    def jms_url(self) -> str: ...
    @property
    def login(self) -> str: ...
    @property
    def password(self) -> str: ...


class JmsClient:
    """The JVM. A context manager; start() and close() by hand where that suits better."""

    def __init__(self) -> None:
        self._process: JsonProcess | None = None
        self._names = itertools.count(1)

    def start(self) -> None:
        jars = {"artemis": artemis.client_jars(), "activemq": activemq.client_jars()}
        interface = [jar for jar in jars["artemis"] if jar.name.startswith("jakarta.jms-api-")]
        providers = [word for name, paths in jars.items() for word in (name, joined(paths), FACTORIES[name])]
        options = ["-Xms32M", "-Xmx256M", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
        options.append(f"-Dlog4j2.configurationFile={(CONFIG / 'jms_client' / 'log4j2.properties').as_uri()}")
        program = ["-cp", joined([compiled("jms", interface), *interface]), "jms.Driver"]
        self._process = JsonProcess("the JMS client", [tool("java"), *options, *program, *providers])

    def connect(
        self,
        broker: Peer,
        *,
        login: str | None = None,
        password: str | None = None,
        client_id: str | None = None,
        options: str = "",
    ) -> JmsConnection:
        """`options` is appended to the broker's address, as the provider has it ("?jms.prefetchPolicy.all=1")."""
        name = f"connection-{next(self._names)}"
        self.call(
            op="connect",
            connection=name,
            provider=broker.kind,
            url=broker.jms_url + options,
            login=broker.login if login is None else login,
            password=broker.password if password is None else password,
            client_id=client_id,
        )
        return JmsConnection(self, name)

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    def __enter__(self) -> JmsClient:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, *, timeout_secs: float = 0.0, **command: Any) -> Any:
        assert self._process is not None, "not started"
        answer = self._process.ask(command, timeout_secs + GRACE_SECS)
        if "error" in answer:
            raise JmsError(answer["error"]["class"], answer["error"]["message"])
        return answer["result"]


class JmsConnection:
    def __init__(self, client: JmsClient, name: str) -> None:
        self._client = client
        self._name = name
        self._names = itertools.count(1)

    def subscribe(
        self,
        destination: str,
        *,
        selector: str | None = None,
        durable: str | None = None,
        acknowledge: Literal["auto", "client", "transacted"] = "auto",
    ) -> JmsConsumer:
        """A consumer of a queue or topic; what is sent from now on reaches it. `durable` needs a client id and a topic."""
        name = f"consumer-{next(self._names)}"
        self.call(
            "subscribe",
            consumer=name,
            destination=destination,
            selector=selector,
            durable=durable,
            acknowledge=acknowledge,
        )
        return JmsConsumer(self, name)

    def send(self, destination: str, *messages: Form, transacted: bool = False) -> list[str]:
        """Returns the JMSMessageID of each. `transacted`: all in one transaction."""
        result: list[str] = self.call("send", destination=destination, messages=messages, transacted=transacted)
        return result

    def browse(self, destination: str, selector: str | None = None) -> list[Received]:
        """What is in a queue, which stays as it is."""
        return [_received(form) for form in self.call("browse", destination=destination, selector=selector)]

    def temporary(self, kind: Literal["queue", "topic"]) -> str:
        """A new temporary destination of this connection: temp-queue://… or temp-topic://…"""
        name: str = self.call("temporary", kind=kind)
        return name

    def unsubscribe(self, durable: str) -> None:
        self.call("unsubscribe", durable=durable)

    def close(self) -> None:
        self.call("close")

    def call(self, op: str, *, timeout_secs: float = 0.0, **command: Any) -> Any:
        return self._client.call(timeout_secs=timeout_secs, op=op, connection=self._name, **command)

    def __enter__(self) -> JmsConnection:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            self.close()
        except JmsError:  # its broker may be dead, as some tests want it
            if kind is None:
                raise


class JmsConsumer:
    def __init__(self, connection: JmsConnection, name: str) -> None:
        self._connection = connection
        self._name = name

    def receive(self, count: int = 1, timeout_secs: float = 10.0) -> list[Received]:
        """Up to `count` messages in the order of the broker; fewer when the time is up."""
        words = {"count": count, "timeout_ms": int(timeout_secs * 1000)}
        forms = self._connection.call("receive", consumer=self._name, timeout_secs=timeout_secs, **words)
        return [_received(form) for form in forms]

    def expect(self, count: int = 1, timeout_secs: float = 20.0) -> list[Received]:
        """Exactly `count` messages: it is a failure when fewer come in time."""
        messages = self.receive(count, timeout_secs)
        assert len(messages) == count, f"{len(messages)} of {count} messages within {timeout_secs} s: {messages}"
        return messages

    def drain(self, quiet_secs: float = 1.0) -> list[Received]:
        """All that comes, until for so long nothing has come."""
        messages: list[Received] = []
        while more := self.receive(1_000, quiet_secs):
            messages += more
        return messages

    def acknowledge(self) -> None:
        """What has been received is settled: acknowledged, or committed."""
        self._connection.call("acknowledge", consumer=self._name)

    def give_back(self) -> None:
        """What has been received and not settled comes again: recover, or roll back."""
        self._connection.call("give_back", consumer=self._name)

    def close(self) -> None:
        self._connection.call("close_consumer", consumer=self._name)


def message(
    body_type: str,
    body: Any = None,
    properties: Mapping[str, tuple[str, Any]] | None = None,
    **headers: Any,
) -> Form:
    """A form to send. `body`, by class of message: str, bytes, a mapping or a sequence of (type, value), serialized bytes, None."""
    value: Any = body
    if body_type in ("BytesMessage", "ObjectMessage"):
        value = _bytes_form(body)
    elif body_type == "MapMessage":
        value = _named(body)
    elif body_type == "StreamMessage":
        value = [{"type": type_, "value": _value_form(type_, element)} for type_, element in body]
    return {
        "headers": headers,
        "properties": _named(properties or {}),
        "body": {"type": body_type, "value": value},
    }


def text_message(text: str | None, properties: Mapping[str, tuple[str, Any]] | None = None, **headers: Any) -> Form:
    return message("TextMessage", text, properties, **headers)


def _named(values: Mapping[str, tuple[str, Any]]) -> list[Form]:
    return [{"name": name, "type": type_, "value": _value_form(type_, v)} for name, (type_, v) in values.items()]


def _value_form(type_: str, value: Any) -> Any:
    if type_ == "bytes" and value is not None:
        return _bytes_form(value)
    if type_ in ("float", "double") and value is not None:
        return {float("inf"): "Infinity", float("-inf"): "-Infinity"}.get(value, value if value == value else "NaN")
    return str(value) if type_ == "long" else value


def _bytes_form(data: bytes) -> Form:
    return {"base64": base64.b64encode(data).decode("ascii")}


def _received(answer: Form) -> Received:
    body_type = answer["body"]["type"]
    shown = answer["body"]["value"]
    body: Any = shown
    if body_type in ("BytesMessage", "ObjectMessage"):
        body = base64.b64decode(shown["base64"])
    elif body_type == "MapMessage":
        body = _by_name(shown)
    elif body_type == "StreamMessage":
        body = [_value(element) for element in shown]
    known = {k: v for k, v in answer["headers"].items() if k not in ("JMSExpiration", "JMSRedelivered")}
    form = {
        "headers": known,
        "properties": _plain(answer["properties"]),
        "body": {"type": body_type, "value": _plain(shown) if isinstance(shown, list) else shown},
    }
    return Received(answer["headers"], _by_name(answer["properties"]), body_type, body, answer["java"], form)


def _by_name(elements: Iterable[Form]) -> dict[str, JmsValue]:
    return {element["name"]: _value(element) for element in elements}


def _value(element: Form) -> JmsValue:
    type_, value = element["type"], element["value"]
    if type_ == "bytes":
        value = base64.b64decode(value["base64"])
    elif type_ == "long":
        value = int(value)
    elif type_ in ("float", "double"):
        value = float(value)
    return JmsValue(type_, value, element["java"])


def _plain(elements: Sequence[Form]) -> list[Form]:
    return [{k: v for k, v in element.items() if k != "java"} for element in elements]
