"""A message that went through MQ is the one that was sent; no bytes make anything but a message or the codec's own error."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.mq import reports, rfh2
from adapters.mq.codec import PROVIDERS_OWN, Decoder, Encoder
from adapters.mq.codec_error import CodecError
from adapters.mq.descriptor import Descriptor
from adapters.mq.markup import parse
from adapters.mq.property_names import from_usr, to_usr
from mappings.model import Message, MessageProperty
from tests.properties import strategies

NOW = 1_700_000_000_000
names = strategies.java_text.filter(bool) | st.sampled_from(["$gid", "_x_", "_x__", "_x_a", "In", "JMS", "a:b", "xml"])
properties = st.lists(
    strategies.message_properties
    | st.builds(MessageProperty, names, st.just("String"), strategies.java_text | st.none()),
    max_size=6,
    unique_by=lambda p: p.name,
).map(lambda found: tuple(p for p in found if p.name and not p.name.startswith("JMS")))
messages = st.builds(Message, strategies.headers, properties, strategies.bodies)
encodings = st.sampled_from([273, 546, 785])
formats = st.sampled_from(["MQHRF2", "MQDEAD", "MQHMDE", "MQSTR", "MQCICS", "MQHRF", ""])
code_pages = st.sampled_from([1208, 1200, 500, 819, 0, -2, 1])


@settings(deadline=None)
@given(messages)
def test_what_is_sent_comes_back(message: Message) -> None:
    try:
        descriptor, data = Encoder().encode(message, "queue://OUT", NOW)
    except CodecError:
        assert not _can_pass(message)
        return
    received = Decoder("queue://OUT").decode(descriptor, data, NOW)
    assert _comparable(received.properties) == _comparable(message.properties)
    if message.body.type == "MapMessage":
        assert _comparable(received.body.value) == _comparable({e.name: e for e in message.body.value}.values())
    else:
        assert repr(received.body) == repr(message.body)
    sent, came = message.headers, received.headers
    for field in ("JMSType", "JMSDeliveryMode", "JMSPriority"):
        assert getattr(came, field) == getattr(sent, field)
    if sent.JMSTimestamp is not None:
        assert came.JMSTimestamp == sent.JMSTimestamp
    if sent.JMSTimeToLive:
        assert came.JMSExpiration == NOW + sent.JMSTimeToLive
        assert descriptor.Expiry == -1 or 0 <= descriptor.Expiry * 100 - sent.JMSTimeToLive < 100
    assert (came.JMSCorrelationID or "") == (sent.JMSCorrelationID or "")


def _can_pass(message: Message) -> bool:
    """What our strategies make and MQ cannot carry: an element of a map without a name."""
    return message.body.type != "MapMessage" or all(element.name for element in message.body.value)


def _comparable(elements: Any) -> list[Any]:
    """NaN equals itself here; null has no type."""
    return [
        (e.name, "null" if e.value is None else e.type, "NaN" if e.value != e.value or _is_nan(e.value) else e.value)
        for e in elements
    ]


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


@given(st.text(min_size=1).filter(lambda name: not any(0xD800 <= ord(c) < 0xE000 for c in name)))
@example("_x_" + "a" * 100)
@example("_u000024")
def test_every_name_of_a_property_comes_back_and_is_seen_by_mq(name: str) -> None:
    element = to_usr(name)
    assert from_usr(element) == name
    assert parse(f"<usr><{element}>1</{element}></usr>").children[0].name == element
    assert not element.startswith("JMS")
    assert not set(element) & set(".:$ ")


@given(
    st.lists(strategies.java_text.filter(str.strip), max_size=4), encodings, st.sampled_from([1208, 1200, 13488, 17584])
)
def test_headers_in_every_order_and_code_page(texts: list[str], encoding: int, ccsid: int) -> None:
    folders = tuple(f"<f>{text.replace('<', '')}</f>" for text in texts)
    header = rfh2.Rfh2(folders, encoding=273, ccsid=819, format="MQSTR", flags=1, name_value_ccsid=ccsid)
    data = rfh2.build(header, encoding)
    assert rfh2.parse(data + b"rest", encoding) == (header, len(data))
    assert len(data) % 4 == 0


def _read(data: bytes, format_: str, encoding: int, ccsid: int) -> None:
    try:
        message = Decoder("queue://IN", other_folders=True).decode(
            Descriptor(Format=format_, Encoding=encoding, CodedCharSetId=ccsid), data, NOW
        )
    except CodecError:
        return
    again = replace(message, properties=tuple(p for p in message.properties if p.name not in PROVIDERS_OWN))
    Encoder().encode(again, "queue://OUT", NOW)  # what can be read can be sent


@settings(deadline=None)
@given(st.binary(max_size=300), formats, encodings, code_pages)
def test_hostile_bytes(data: bytes, format_: str, encoding: int, ccsid: int) -> None:
    _read(data, format_, encoding, ccsid)


@settings(deadline=None, max_examples=200)
@given(messages, st.data())
def test_damaged_messages(message: Message, data: st.DataObject) -> None:
    """Bytes of a real message, with a few of them changed, cut or doubled."""
    try:
        descriptor, octets = Encoder().encode(message, "queue://OUT", NOW)
    except CodecError:
        return
    hurt = bytearray(octets)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(hurt) - 1))
        match data.draw(st.sampled_from(["change", "cut", "double", "insert"])):
            case "change":
                hurt[place] = data.draw(st.integers(0, 255))
            case "cut":
                del hurt[place : place + data.draw(st.integers(1, 8))]
                hurt = hurt or bytearray(b"x")
            case "double":
                hurt[place:place] = hurt[place : place + 40]
            case "insert":
                hurt[place:place] = data.draw(
                    st.sampled_from([b"<", b"&#0;", b"</", b"\xff\xff\xff\x7f", b"<!DOCTYPE a>"])
                )
    _read(bytes(hurt), descriptor.Format, data.draw(encodings), 1208)


@settings(deadline=None)
@given(st.text("<>/&;\"'= abcusr!?#x0\0", max_size=60))
def test_markup_of_any_kind(text: str) -> None:
    try:
        parse(text)
    except CodecError:
        return


@given(
    st.integers(-(2**31), 2**31 - 1), st.sampled_from([1, 2, 4, 8]) | st.integers(65_536, 999_999_999), st.integers(0, 2**31 - 1),
    st.booleans(),
)  # fmt: skip
def test_report_options_come_back(report: int, type_: int, feedback: int, has_reply_queue: bool) -> None:
    """Whatever a sender asks for, as far as IBM's classes for JMS can say it; the rest is not passed on."""
    queue = "R" if has_reply_queue else ""
    message = Decoder("queue://IN").decode(
        Descriptor(Report=report, MsgType=type_, Feedback=feedback, ReplyToQ=queue), b"", NOW
    )
    again, _ = Encoder().encode(message, "queue://OUT", NOW)
    known = sum(reports.REPORT_OPTIONS.values())
    assert (again.Report, again.MsgType, again.Feedback) == (report & known, type_, feedback)
