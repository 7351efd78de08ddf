"""A message that went through STOMP is the one that was sent, but for the types of its properties."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from adapters.stomp.codec import CodecError, Decoder, Encoder
from adapters.stomp.flavours import FLAVOURS
from adapters.stomp.frames import Frame, FrameParser
from mappings.filters.selector_checks import HEADERS
from mappings.model import Headers, Message, MessageProperty
from tests.properties import strategies

STOMP_NAMES = (
    "type",
    "destination",
    "$body",
    "$base64",
    "$stomp$base64",
    "$stomp$long",
    "$long",
    "$stomp$x",
    "content-length",
    "JMSType",
    "_AMQ_X",
    "a:b",
)
properties = st.lists(
    strategies.message_properties
    | st.builds(MessageProperty, st.sampled_from(STOMP_NAMES), st.just("String"), strategies.java_text)
    | st.builds(
        MessageProperty,
        st.just("x"),
        st.just("String"),
        st.text("a:\\é\0", min_size=1, max_size=9).map(lambda t: t * 3001),
    ),
    max_size=5,
    unique_by=lambda p: p.name,
).map(tuple)
messages = st.builds(Message, strategies.headers, properties, strategies.bodies)
flavours = st.sampled_from(sorted(FLAVOURS))


def as_delivered(sent: bytes, flavour: str) -> Frame:
    """What a subscriber gets: the same headers, and those that only a broker adds."""
    [frame] = FrameParser().feed(sent)
    assert frame.command == b"SEND"
    lines = frame.head[4:]
    if flavour == "rabbitmq":  # it announces the length of every body but the empty one
        lines = lines.replace(b"\ncontent-length:0", b"")
        if frame.content_length_at < 0 and frame.body:
            lines += b"\ncontent-length:%d" % len(frame.body)
    return Frame(b"MESSAGE" + lines + b"\nmessage-id:7,8\nack:9", frame.body)


@settings(deadline=None)
@given(messages, flavours)
def test_what_is_sent_comes_back(message: Message, flavour: str) -> None:
    rules = FLAVOURS[flavour]
    try:
        sent = Encoder(rules, rules.map_bodies).encode(message, "queue://a.b", "id-1", 1_000)
    except CodecError:
        assert not can_pass(message)
        return
    assert can_pass(message)
    received = Decoder(rules).decode(as_delivered(sent, flavour))
    assert {p.name: p.value for p in received.properties} == {
        p.name: int(p.value) if p.name == "JMSXGroupSeq" else text_of(p) for p in message.properties
    }
    assert received.body == message.body
    assert_headers(received.headers, message.headers, flavour)


@settings(deadline=None, max_examples=50)
@given(st.lists(messages, min_size=1, max_size=3), flavours)
def test_a_decoder_that_has_learned_layouts_reads_the_same(sent: list[Message], flavour: str) -> None:
    """And so does a selector, which sees the values without a message being made."""
    rules = FLAVOURS[flavour]
    encoder, decoder = Encoder(rules, rules.map_bodies), Decoder(rules)
    frames = []
    for message in sent:
        try:
            frames.append(as_delivered(encoder.encode(message, "queue://a.b", "id-1", 1_000), flavour))
        except CodecError:
            continue
    for frame in frames * 4:
        alone = Decoder(rules).decode(Frame(frame.head, frame.body))
        assert decoder.decode(Frame(frame.head, frame.body)) == alone
        value = decoder.values(frame)
        fields = {name: getattr(alone.headers, name) for name in HEADERS}
        expected = {p.name: p.value for p in alone.properties} | fields  # a field comes before a property of its name
        assert {name: value(name) for name in expected} == expected
        assert value("no such name") is None


def can_pass(message: Message) -> bool:
    named = [p.name for p in message.properties]
    fields = [message.headers.JMSType, message.headers.JMSCorrelationID]
    return all(name and "\0" not in name for name in named) and not any(field and "\0" in field for field in fields)


def text_of(field: MessageProperty) -> str:
    if field.type == "boolean":
        return "true" if field.value else "false"
    if isinstance(field.value, float):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(field.value) or repr(field.value)
    return str(field.value)


def assert_headers(received: Headers, sent: Headers, flavour: str) -> None:
    same = ("JMSType", "JMSDeliveryMode", "JMSPriority", "JMSCorrelationID", "JMSReplyTo")
    assert {name: getattr(received, name) for name in same} == {name: getattr(sent, name) for name in same}
    assert received.JMSDestination == "queue://a.b"
    assert received.JMSMessageID == {"artemis": "8", "rabbitmq": "ID:id-1"}.get(flavour, "7,8")
    if flavour != "rabbitmq":
        assert received.JMSExpiration == (1_000 + sent.JMSTimeToLive if sent.JMSTimeToLive else None)


@given(st.binary(max_size=100), flavours)
def test_a_frame_that_makes_no_sense_is_a_codec_error(noise: bytes, flavour: str) -> None:
    head, _, body = noise.partition(b"\n\n")
    assume(b"\0" not in head)
    try:
        message = Decoder(FLAVOURS[flavour]).decode(Frame(b"MESSAGE\n" + head, body))
    except CodecError:
        return
    assert isinstance(message, Message)


def test_a_property_named_like_a_part_of_a_long_one_is_refused() -> None:
    long = MessageProperty("x", "String", "y" * 20_000)
    encoder = Encoder(FLAVOURS["activemq"], "json")
    assert encoder.encode(Message(properties=(long,)), "queue://q", "1", 0)
    with pytest.raises(CodecError, match="part of a long one"):
        encoder.encode(Message(properties=(long, MessageProperty("x$2", "String", ""))), "queue://q", "1", 0)


@pytest.mark.parametrize(
    "headers",
    [
        {"$body": "map"},
        {"$body": "map", "content-type": "application/json"},
        {"$body": "stream", "content-type": "application/json"},
        {"$body": "text-base64"},
        {"transformation": "jms-map-xml"},
        {"$stomp$long": '{"a":2}'},
        {"$stomp$long": "[]"},
        {"$stomp$base64": '["nobody"]'},
        {"$stomp$base64": "7"},
        {"priority": "high"},
        {"timestamp": ""},
    ],
)
@pytest.mark.parametrize(
    "body", [b"{", b"[1]", b'[{"type":"int","value":"x"}]', b"<map><x/></map>", b"<!DOCTYPE a><map/>", b"\xff"]
)
def test_what_contradicts_itself_is_a_codec_error(headers: dict[str, Any], body: bytes) -> None:
    lines = "".join(f"\n{name}:{value.replace(':', chr(92) + 'c')}" for name, value in headers.items())
    with pytest.raises(CodecError):
        Decoder(FLAVOURS["activemq"]).decode(
            Frame(b"MESSAGE" + lines.encode(), body if b"\xff" not in body else b"\xff")
        )
