"""Messages of JMS from and to plain tuples (adapters.jms.plain), every value with its Java type."""

from __future__ import annotations

from typing import Any, Final

import jpype

from adapters.jms.worker.provider import Provider
from mappings.model import NON_PERSISTENT, PERSISTENT

_SET_BY_PROVIDER: Final = frozenset((
    "JMSXDeliveryCount", "JMSXRcvTimestamp", "JMSXState", "JMSXConsumerTXID", "JMSXProducerTXID", "JMSXUserID", "JMSXAppID",
))  # fmt: skip
_PROVIDERS_OWN: Final = ("_AMQ_", "__AMQ_")  # Artemis' own properties mean nothing elsewhere

_PROPERTY_SETTERS: Final = {
    "boolean": "setBooleanProperty", "byte": "setByteProperty", "short": "setShortProperty", "int": "setIntProperty",
    "long": "setLongProperty", "float": "setFloatProperty", "double": "setDoubleProperty", "String": "setStringProperty",
}  # fmt: skip
_MAP_SETTERS: Final = {
    "boolean": "setBoolean", "byte": "setByte", "short": "setShort", "int": "setInt", "long": "setLong", "float": "setFloat",
    "double": "setDouble", "String": "setString", "char": "setChar", "bytes": "setBytes",
}  # fmt: skip
_STREAM_WRITERS: Final = {
    "boolean": "writeBoolean", "byte": "writeByte", "short": "writeShort", "int": "writeInt", "long": "writeLong",
    "float": "writeFloat", "double": "writeDouble", "String": "writeString", "char": "writeChar", "bytes": "writeBytes",
}  # fmt: skip
_PYTHON_TYPES: Final = {
    "boolean": bool, "byte": int, "short": int, "int": int, "long": int, "float": float, "double": float, "String": str,
    "char": str, "bytes": bytes,
}  # fmt: skip
_BODIES: Final = ("TextMessage", "BytesMessage", "MapMessage", "StreamMessage", "ObjectMessage")


class Unsendable(Exception):
    """This message can never be sent."""


class Unreadable(Exception):
    """This message has something in it that no JMS message may have."""


class Converter:
    """For one session of one provider."""

    def __init__(self, provider: Provider, session: Any) -> None:
        self._provider = provider
        self._session = session
        self._interfaces = [(name, provider.interface(name)) for name in _BODIES]
        self._body_types: dict[Any, str] = {}  # class of the provider -> BODY_TYPES
        self._end_of_stream = provider.interface("MessageEOFException")
        self._kinds = [
            (provider.interface(name), kind, getter)
            for name, kind, getter in (
                ("TemporaryQueue", "temp-queue", "getQueueName"),
                ("TemporaryTopic", "temp-topic", "getTopicName"),
                ("Queue", "queue", "getQueueName"),
                ("Topic", "topic", "getTopicName"),
            )
        ]
        self._names: dict[Any, str] = {}  # destinations come again and again
        self._null_string = jpype.JObject(None, jpype.JClass("java.lang.String"))
        self._byte_array = jpype.JArray(jpype.JByte)
        boxes = {
            "Boolean": ("boolean", bool),
            "Byte": ("byte", int),
            "Short": ("short", int),
            "Integer": ("int", int),
            "Long": ("long", int),
            "Float": ("float", float),
            "Double": ("double", float),
            "Character": ("char", str),
        }
        self._boxes: dict[Any, tuple[str, Any]] = {
            jpype.JClass(f"java.lang.{name}"): box for name, box in boxes.items()
        }

    # To JMS

    def to_jms(self, plain: tuple[Any, ...]) -> tuple[Any, int, int, int]:
        """The message, and what a producer needs besides: delivery mode, priority, time to live. Raises Unsendable, and what Java
        raises."""
        headers, properties, body_type, body = plain
        type_, mode, priority, time_to_live, _, _, _, _, correlation, reply_to, _ = headers
        try:
            message = self._body(body_type, body)
            seen = set()
            for name, kind, value in properties:
                if value is None or name in _SET_BY_PROVIDER:
                    continue
                if name in seen:
                    raise Unsendable(f"the property {name!r} comes twice")
                seen.add(name)
                if type(value) is not _PYTHON_TYPES[kind]:
                    raise Unsendable(f"the property {name!r} of type {kind} has a value that is none")
                getattr(message, _PROPERTY_SETTERS[kind])(name, value)
            if type_ is not None:
                message.setJMSType(type_)
            if correlation is not None:
                message.setJMSCorrelationID(correlation)
            if reply_to is not None:
                message.setJMSReplyTo(self._provider.destination(self._session, reply_to))
        except (TypeError, ValueError, OverflowError, KeyError) as error:
            raise Unsendable(f"{error}") from None
        except jpype.JClass("java.lang.RuntimeException") as error:  # a name or value that Java does not take
            raise Unsendable(f"{error}") from None
        return message, 2 if mode == PERSISTENT else 1, priority, time_to_live

    def _body(self, body_type: str, body: Any) -> Any:
        session = self._session
        if body_type == "TextMessage":
            message = session.createTextMessage()
            if body is not None:
                message.setText(body)
        elif body_type == "BytesMessage":
            message = session.createBytesMessage()
            message.writeBytes(self._byte_array(body))
        elif body_type == "MapMessage":
            message = session.createMapMessage()
            for name, kind, value in body:
                getattr(message, _MAP_SETTERS[kind])(name, self._value(kind, value))
        elif body_type == "StreamMessage":
            message = session.createStreamMessage()
            for kind, value in body:
                getattr(message, _STREAM_WRITERS[kind])(self._value(kind, value))
        elif body_type == "ObjectMessage":
            message = session.createObjectMessage(self._deserialized(body))
        elif body_type == "Message":
            message = session.createMessage()
        else:
            raise Unsendable(f"no message has a body of type {body_type!r}")
        return message

    def _value(self, kind: str, value: Any) -> Any:
        if value is not None and type(value) is not _PYTHON_TYPES[kind]:
            raise Unsendable(f"a value of type {kind} in the body is none")
        if value is None:
            if kind != "String":
                raise Unsendable(f"a value of type {kind} in the body is null")
            return self._null_string
        return self._byte_array(value) if kind == "bytes" else value

    def _deserialized(self, data: bytes) -> Any:
        stream = jpype.JClass("java.io.ByteArrayInputStream")(self._byte_array(data))
        try:
            value = jpype.JClass("java.io.ObjectInputStream")(stream).readObject()
        except jpype.JClass("java.io.InvalidClassException"):
            raise  # by `serial_filter`: the table has a row for it
        except (jpype.JClass("java.io.IOException"), jpype.JClass("java.lang.ClassNotFoundException")) as error:
            raise Unsendable(f"the body is no object of Java: {error}") from None
        return jpype.JObject(value, "java.io.Serializable") if value is None else _as_java(value)

    # From JMS

    def from_jms(self, message: Any) -> tuple[Any, ...]:
        """Raises Unreadable, and what Java raises."""
        body_type = self._body_types.get(type(message)) or self._body_type(message)
        try:
            properties = self._properties(message)
            body = self._read_body(message, body_type)
            headers = (
                message.getJMSType(),
                NON_PERSISTENT if int(message.getJMSDeliveryMode()) == 1 else PERSISTENT,
                int(message.getJMSPriority()),
                0,
                message.getJMSMessageID(),
                int(message.getJMSTimestamp()) or None,
                int(message.getJMSExpiration()),
                self._shown(message.getJMSDestination()),
                message.getJMSCorrelationID(),
                self._shown(message.getJMSReplyTo()),
                bool(message.getJMSRedelivered()),
            )
        except UnicodeError as error:
            raise Unreadable(f"text that is not Unicode: {error}") from None
        return headers, properties, body_type, body

    def _body_type(self, message: Any) -> str:
        found = next((name for name, interface in self._interfaces if isinstance(message, interface)), "Message")
        self._body_types[type(message)] = found
        return found

    def _properties(self, message: Any) -> tuple[tuple[str, str, Any], ...]:
        properties = []
        names = message.getPropertyNames()
        while names.hasMoreElements():
            name = names.nextElement()
            if not name.startswith(_PROVIDERS_OWN):
                value = message.getObjectProperty(name)
                properties.append((name, "String", value) if type(value) is str else (name, *self._typed(value)))
        return tuple(properties)

    def _read_body(self, message: Any, body_type: str) -> Any:
        if body_type == "TextMessage":
            return message.getText()
        if body_type == "BytesMessage":
            length = int(message.getBodyLength())
            octets = self._byte_array(length)
            if length:
                message.readBytes(octets)
            return bytes(memoryview(octets).cast("B")) if length else b""
        if body_type == "MapMessage":
            names = message.getMapNames()
            elements = []
            while names.hasMoreElements():
                name = names.nextElement()
                elements.append((name, *self._typed(message.getObject(name))))
            return tuple(elements)
        if body_type == "StreamMessage":
            return self._stream(message)
        if body_type == "ObjectMessage":
            return self._serialized(message.getObject())
        return None

    def _stream(self, message: Any) -> tuple[tuple[str, Any], ...]:
        elements = []
        while True:
            try:
                elements.append(self._typed(message.readObject()))
            except self._end_of_stream:
                return tuple(elements)

    def _typed(self, value: Any) -> tuple[str, Any]:
        if value is None or type(value) is str:
            return "String", value
        box = self._boxes.get(type(value))
        if box is not None:
            return box[0], box[1](value)
        if isinstance(value, self._byte_array):
            return "bytes", bytes(memoryview(value).cast("B")) if len(value) else b""
        raise Unreadable(f"a value of class {type(value).__name__}, which no JMS message may have")

    def _serialized(self, value: Any) -> bytes:
        out = jpype.JClass("java.io.ByteArrayOutputStream")()
        objects = jpype.JClass("java.io.ObjectOutputStream")(out)
        objects.writeObject(value)
        objects.flush()
        return bytes(memoryview(out.toByteArray()).cast("B"))

    def _shown(self, destination: Any) -> str | None:
        if destination is None:
            return None
        shown = self._names.get(destination)
        if shown is None:
            for interface, kind, getter in self._kinds:
                if isinstance(destination, interface):
                    shown = f"{kind}://{getattr(destination, getter)()}"
                    break
            else:
                shown = str(destination)
            if len(self._names) > 10_000:
                self._names.clear()
            self._names[destination] = shown
        return shown


def _as_java(value: Any) -> Any:
    """JPype has made a str of a String."""
    return jpype.JString(value) if type(value) is str else value
