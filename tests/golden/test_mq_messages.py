"""MQMD ⇄ JMS header fields, row by row of RULES.md 9.5, and the bodies of 9.4."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

import pytest

from adapters.mq import chain, reports, rfh2
from adapters.mq.codec import Decoder, Encoder, kept_id, message_id
from adapters.mq.codec_error import CodecError
from adapters.mq.descriptor import NO_ID, Descriptor
from mappings.model import EMPTY_BODY, NON_PERSISTENT, Body, Headers, Message, MessageProperty, StreamElement

NOW = 1_700_000_000_123
ID = bytes(range(1, 25))
ID_TEXT = "ID:0102030405060708090a0b0c0d0e0f101112131415161718"


PLAIN = Headers()


def sent(
    headers: Headers = PLAIN, *properties: MessageProperty, body: Body = EMPTY_BODY
) -> tuple[Descriptor, list[str], bytes]:
    descriptor, data = Encoder().encode(Message(headers, properties, body), "queue://OUT", NOW)
    header, length = rfh2.parse(data, descriptor.Encoding)
    assert (descriptor.Format, header.name_value_ccsid, header.ccsid) == ("MQHRF2", 1208, 1208)
    return descriptor, list(header.folders), data[length:]


def got(data: bytes = b"", folders: tuple[str, ...] | None = None, **fields: Any) -> Message:
    if folders is not None:
        data = rfh2.build(rfh2.Rfh2(folders, format=fields.pop("body_format", "MQSTR"))) + data
        fields["Format"] = "MQHRF2"
    return Decoder("queue://IN").decode(Descriptor(**fields), data, NOW)


def test_a_plain_message_as_it_is_sent() -> None:
    descriptor, folders, body = sent(body=Body("TextMessage", "hé"))
    assert folders == [
        "<mcd><Msd>jms_text</Msd></mcd>",
        "<jms><Dst>queue:///OUT</Dst><Tms>1700000000123</Tms><Pri>4</Pri><Dlv>2</Dlv></jms>",
    ]
    assert body == b"h\xc3\xa9"
    assert descriptor == Descriptor(Format="MQHRF2")


@pytest.mark.parametrize(
    ("body", "msd", "format_", "data"),
    [
        (Body(), "jms_none", "", b""),
        (Body("TextMessage", "a<b"), "jms_text", "MQSTR", b"a<b"),
        (Body("BytesMessage", b"\0\xff"), "jms_bytes", "", b"\0\xff"),
        (Body("ObjectMessage", b"\xac\xed"), "jms_object", "", b"\xac\xed"),
        (
            Body("MapMessage", (MessageProperty("n & m", "int", 1), MessageProperty("s", "String", "<"))),
            "jms_map",
            "MQSTR",
            b'<map><elt name="n &amp; m" dt=\'i4\'>1</elt><elt name="s">&lt;</elt></map>',
        ),
        (
            Body("StreamMessage", (StreamElement("bytes", b"\xca"), StreamElement("String", None))),
            "jms_stream",
            "MQSTR",
            b"<stream><elt dt='bin.hex'>CA</elt><elt xsi:nil='true'></elt></stream>",
        ),
    ],
)
def test_bodies(body: Body, msd: str, format_: str, data: bytes) -> None:
    descriptor, wire = Encoder().encode(Message(body=body), "queue://OUT", NOW)
    header, length = rfh2.parse(wire, descriptor.Encoding)
    assert (header.folders[0], header.format, wire[length:]) == (f"<mcd><Msd>{msd}</Msd></mcd>", format_, data)
    assert got(data, header.folders, body_format=format_).body == body


def test_a_null_text_is_not_an_empty_one() -> None:
    _, folders, body = sent(body=Body("TextMessage", None))
    assert folders[0] == "<mcd><Msd>jms_text</Msd><msgbody xsi:nil='true'></msgbody></mcd>"
    assert got(body, tuple(folders)).body == Body("TextMessage", None)
    assert got(b"", ("<mcd><Msd>jms_text</Msd></mcd>",)).body == Body("TextMessage", "")


def test_maps_of_old_writers_have_elements_named_by_key() -> None:
    body = got(b"<map><a dt='i4'>1</a><b>x</b></map>", ("<mcd><Msd>jms_map</Msd></mcd>",)).body
    assert body.value == (MessageProperty("a", "int", 1), MessageProperty("b", "String", "x"))


def test_unescaped_ampersands_and_quotes_of_foreign_writers() -> None:
    body = got(b"<stream><elt>a & b 'c' \"d\"</elt></stream>", ("<mcd><Msd>jms_stream</Msd></mcd>",)).body
    assert body.value == (StreamElement("String", "a & b 'c' \"d\""),)


@pytest.mark.parametrize(
    ("format_", "ccsid", "data", "body"),
    [
        ("MQSTR", 1208, "hé".encode(), Body("TextMessage", "hé")),
        ("MQSTR", 500, "hé".encode("cp500"), Body("TextMessage", "hé")),
        ("MQSTR", 1200, "hé".encode("utf-16-le"), Body("TextMessage", "hé")),
        ("MQSTR", 819, b"h\xe9", Body("TextMessage", "hé")),
        ("", 819, b"h\xe9", Body("BytesMessage", b"h\xe9")),
        ("MQPCF", 819, b"h\xe9", Body("BytesMessage", b"h\xe9")),
    ],
)
def test_without_an_rfh2(format_: str, ccsid: int, data: bytes, body: Body) -> None:
    assert got(data, Format=format_, CodedCharSetId=ccsid).body == body


def test_text_in_an_unknown_code_page_is_refused() -> None:
    with pytest.raises(CodecError, match="code page 4711"):
        got(b"x", Format="MQSTR", CodedCharSetId=4711)


def test_delivery_mode() -> None:
    descriptor, folders, _ = sent(Headers(JMSDeliveryMode=NON_PERSISTENT))
    assert descriptor.Persistence == 0
    assert "<Dlv>1</Dlv>" in folders[1]
    assert got(Persistence=0).headers.JMSDeliveryMode == "NON_PERSISTENT"
    assert got(folders=("<jms><Dlv>2</Dlv></jms>",), Persistence=0).headers.JMSDeliveryMode == "PERSISTENT"


@pytest.mark.parametrize(
    ("headers", "tenths", "expiration"),
    [
        (Headers(), -1, None),
        (Headers(JMSTimeToLive=1), 1, NOW + 1),
        (Headers(JMSTimeToLive=60_000), 600, NOW + 60_000),
        (Headers(JMSTimeToLive=60_001), 601, NOW + 60_001),
        (Headers(JMSTimeToLive=99_999_999_900), 999_999_999, NOW + 99_999_999_900),
        (Headers(JMSTimeToLive=99_999_999_901), -1, NOW + 99_999_999_901),
        (Headers(JMSExpiration=NOW + 250), 3, NOW + 250),
        (Headers(JMSExpiration=NOW - 5), 1, NOW + 1),
        (Headers(JMSExpiration=0), -1, None),
    ],
)
def test_expiry_in_tenths(headers: Headers, tenths: int, expiration: int | None) -> None:
    descriptor, folders, _ = sent(headers)
    assert descriptor.Expiry == tenths
    assert got(folders=tuple(folders)).headers.JMSExpiration == expiration


def test_the_expiry_of_a_message_without_rfh2() -> None:
    assert got(Expiry=25).headers.JMSExpiration == NOW + 2500


def test_priority_comes_from_the_descriptor() -> None:
    assert sent(Headers(JMSPriority=7))[0].Priority == 7
    assert got(folders=("<jms><Pri>2</Pri></jms>",), Priority=7).headers.JMSPriority == 7


def test_message_id_and_redelivery() -> None:
    headers = got(MsgId=ID, BackoutCount=2).headers
    assert (headers.JMSMessageID, headers.JMSRedelivered) == (ID_TEXT, True)
    assert got().headers.JMSRedelivered is False
    assert message_id("x") == message_id("x") != message_id("y")
    assert len(message_id("x")) == 24


def test_timestamp() -> None:
    assert sent(Headers(JMSTimestamp=5))[1][1].count("<Tms>5</Tms>") == 1
    assert got(PutDate="20231114", PutTime="22132012").headers.JMSTimestamp == 1_700_000_000_120
    assert got(PutDate="20231399", PutTime="22132012").headers.JMSTimestamp is None
    assert got().headers.JMSTimestamp is None
    assert got(folders=("<jms><Tms>7</Tms></jms>",), PutDate="20231114", PutTime="22132012").headers.JMSTimestamp == 7


@pytest.mark.parametrize(
    ("text", "octets", "in_folder"),
    [
        (ID_TEXT, ID, False),
        ("order 7", b"order 7".ljust(24, b"\0"), True),
        ("é" * 20, ("é" * 12).encode(), True),
        ("ID:" + "0" * 48, ("ID:" + "0" * 21).encode(), True),
        (
            "ID:" + "AB" * 24,
            ("ID:" + "AB" * 10 + "A").encode(),
            True,
        ),  # hexadecimal digits are small when they come back
    ],
)
def test_correlation_id(text: str, octets: bytes, in_folder: bool) -> None:
    descriptor, folders, _ = sent(Headers(JMSCorrelationID=text))
    assert descriptor.CorrelId == octets
    assert ("<Cid>" in folders[1]) == in_folder
    assert got(folders=tuple(folders), CorrelId=octets).headers.JMSCorrelationID == text


def test_reply_to_makes_a_request() -> None:
    descriptor, folders, _ = sent(Headers(JMSReplyTo="queue://REPLIES@QM2"))
    assert (descriptor.MsgType, descriptor.ReplyToQ, descriptor.ReplyToQMgr) == (1, "REPLIES", "QM2")
    assert "<Rto>queue://QM2/REPLIES</Rto>" in folders[1]
    assert got(ReplyToQ="REPLIES", ReplyToQMgr="QM2").headers.JMSReplyTo == "queue://REPLIES@QM2"
    assert got(folders=("<jms><Rto>queue:///R?targetClient=1</Rto></jms>",)).headers.JMSReplyTo == "queue://R"


@pytest.mark.parametrize("reply_to", ["topic://a/b", "temp-queue://x", "queue://a name that MQ cannot have"])
def test_a_reply_to_that_is_no_queue_of_mq_travels_in_the_folder_alone(reply_to: str) -> None:
    descriptor, folders, _ = sent(Headers(JMSReplyTo=reply_to))
    assert (descriptor.MsgType, descriptor.ReplyToQ) == (8, "")
    assert got(folders=tuple(folders)).headers.JMSReplyTo == reply_to


@pytest.mark.parametrize(
    ("jms_type", "folder"),
    [
        ("Alarm", "<mcd><Msd>jms_text</Msd><Type>Alarm</Type></mcd>"),
        ("mcd://xml/s/t?format=f", "<mcd><Msd>xml</Msd><Set>s</Set><Type>t</Type><Fmt>f</Fmt></mcd>"),
        ("mcd://xml//t", "<mcd><Msd>xml</Msd><Type>t</Type></mcd>"),
    ],
)
def test_type(jms_type: str, folder: str) -> None:
    _, folders, body = sent(Headers(JMSType=jms_type), body=Body("TextMessage", "x"))
    assert folders[0] == folder
    message = got(body, tuple(folders))
    assert (message.headers.JMSType, message.body) == (jms_type, Body("TextMessage", "x"))


def test_groups() -> None:
    properties = (MessageProperty("JMSXGroupID", "String", "grp-1"), MessageProperty("JMSXGroupSeq", "int", 3))
    descriptor, folders, _ = sent(Headers(), *properties, MessageProperty("JMS_IBM_Last_Msg_In_Group", "boolean", True))
    assert (descriptor.GroupId, descriptor.MsgSeqNumber, descriptor.MsgFlags) == (b"grp-1".ljust(24, b"\0"), 3, 24)
    assert "<Gid>grp-1</Gid><Seq>3</Seq>" in folders[1]
    assert got(folders=tuple(folders), GroupId=descriptor.GroupId, MsgSeqNumber=3, MsgFlags=8).properties == properties
    assert [p.value for p in got(GroupId=ID, MsgSeqNumber=4, MsgFlags=24).properties] == [ID_TEXT, 4, True]
    assert sent(Headers(), properties[0])[0].MsgFlags == 0


def test_properties_of_the_provider_are_not_sent_and_are_shown_where_asked_for() -> None:
    assert len(sent(Headers(), MessageProperty("JMSXUserID", "String", "x"))[1]) == 2
    decoder = Decoder("queue://IN", provider_properties=True)
    message = decoder.decode(Descriptor(UserIdentifier="ann", PutApplName="app", BackoutCount=1), b"", NOW)
    assert [(p.name, p.value) for p in message.properties] == [
        ("JMSXUserID", "ann"),
        ("JMSXAppID", "app"),
        ("JMSXDeliveryCount", 2),
    ]


@pytest.mark.parametrize(
    ("name", "element"),
    [
        ("_sFd1_dAlarmName", "_sFd1_dAlarmName"),
        ("größe", "größe"),
        ("$gid", "_x__u000024gid"),
        ("a.b", "_x_a_u00002eb"),
        ("like", "_x_like"),
        ("Null", "_x_Null"),
        ("JMSfoo", "_x_JMSfoo"),
        ("_x_a", "_x___x__a"),
        ("1st", "_x_1st"),
    ],
)
def test_property_names(name: str, element: str) -> None:
    _, folders, _ = sent(Headers(), MessageProperty(name, "int", 1))
    assert folders[2] == f"<usr><{element} dt='i4'>1</{element}></usr>"
    assert got(folders=tuple(folders)).properties == (MessageProperty(name, "int", 1),)


def test_unknown_types_are_text_and_hexadecimal_ones_too() -> None:
    folder = "<usr><a dt='ui4'>1</a><b dt='bin.hex'>CAFE</b><c dt='int'>7</c><g><x>1</x></g></usr>"
    assert got(folders=(folder,)).properties == (
        MessageProperty("a", "String", "1"),
        MessageProperty("b", "String", "CAFE"),
        MessageProperty("c", "long", 7),
    )


@pytest.mark.parametrize(
    "folder",
    [
        "<usr><a dt='i1'>128</a></usr>",
        "<usr><a dt='i4'>12x</a></usr>",
        "<usr><a dt='boolean'>yes</a></usr>",
        "<usr><a dt='r8'>1e</a></usr>",
        "<usr><a dt='r4'>1e39</a></usr>",
        "<usr><a>&#xD800;</a></usr>",
        "<usr><!-- --><a>1</a></usr>",
        "<jms><Tms>soon</Tms></jms>",
        "<usr>" * 60 + "</usr>" * 60,
    ],
)
def test_what_cannot_be_meant_is_refused(folder: str) -> None:
    with pytest.raises(CodecError):
        got(folders=(folder,))


def test_headers_in_a_chain() -> None:
    """MQDLH, an MQRFH2 in the other byte order, an MQMDE, a header of CICS, an MQRFH2 in UTF-16: all of them are followed."""
    last = rfh2.build(
        rfh2.Rfh2(("<usr><a>2</a><c>ü</c></usr>",), format="MQSTR", ccsid=819, name_value_ccsid=1200), 273
    )
    cics = struct.pack(">4s4i8si", b"CIH ", 1, 164, 273, 1208, b"MQHRF2  ", 0).ljust(164, b"\0")
    extension = struct.pack("<4s4i8si24s4i", b"MDE ", 2, 72, 273, 1208, b"MQCICS  ", 0, ID, 5, 0, 8, -1)
    first = rfh2.build(rfh2.Rfh2(("<usr><a>1</a><b>1</b></usr>",), encoding=546, format="MQHMDE"), 273)
    dead = chain.dead_letter_header(
        reason=2085,
        queue="Q",
        queue_manager="M",
        encoding=273,
        ccsid=1208,
        format_="MQHRF2",
        application="x",
        now="0" * 16,
    )
    message = got(dead + first + extension + cics + last + b"h\xe9", Format="MQDEAD")
    assert [(p.name, p.value) for p in message.properties] == [
        ("a", "2"),
        ("b", "1"),
        ("c", "ü"),
        ("JMSXGroupID", ID_TEXT),
        ("JMSXGroupSeq", 5),
    ]
    assert message.body == Body("TextMessage", "hé")


def test_a_header_in_ebcdic_from_zos() -> None:
    fixed = struct.pack(">4s4i8s2i", "RFH ".encode("cp500"), 2, 36, 785, 500, "MQSTR   ".encode("cp500"), 0, 1208)
    message = got(fixed + "hé".encode("cp500"), Format="MQHRF2", Encoding=785, CodedCharSetId=500)
    assert message.body == Body("TextMessage", "hé")


def test_code_page_inherited() -> None:
    data = rfh2.build(rfh2.Rfh2((), ccsid=-2, format="MQSTR")) + b"h\xe9"
    assert got(data, Format="MQHRF2", CodedCharSetId=819).body == Body("TextMessage", "hé")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("order", ["utf-16-be", "utf-16-le"])
def test_utf_16_in_whatever_order_it_really_is(mark: str, order: str) -> None:
    """IBM's Java classes write big-endian UTF-16 with marks, whatever the header says."""
    folder = f"{mark}<usr><a>日</a></usr>{mark}".encode(order)
    folder += " ".encode(order) * (len(folder) % 4 // 2)
    fixed = struct.pack("<4s4i8s2i", b"RFH ", 2, 40 + len(folder), 546, 1208, b"MQSTR   ", 0, 1200)
    message = got(fixed + struct.pack("<i", len(folder)) + folder, Format="MQHRF2")
    assert message.properties == (MessageProperty("a", "String", "日"),)


def test_an_endless_chain_ends() -> None:
    data = rfh2.build(rfh2.Rfh2((), format="MQHRF2")) * 1000
    with pytest.raises(CodecError, match="more than 32 headers"):
        got(data, Format="MQHRF2")


def test_plain_messages_for_applications_without_jms() -> None:
    encoder = Encoder("mq")
    message = Message(Headers(JMSPriority=3), (), Body("TextMessage", "hé"))
    assert encoder.encode(message, "queue://OUT", NOW) == (Descriptor(Format="MQSTR", Priority=3), "hé".encode())
    with pytest.raises(CodecError, match="needs an MQRFH2"):
        encoder.encode(replace(message, body=Body("MapMessage", ())), "queue://OUT", NOW)


@pytest.mark.parametrize(
    "message",
    [
        Message(properties=(MessageProperty("a", "int", 1), MessageProperty("a", "int", 2))),
        Message(properties=(MessageProperty("a", "int", 2**31),)),
        Message(properties=(MessageProperty("a", "int", True),)),
        Message(properties=(MessageProperty("a", "char", "x"),)),
        Message(properties=(MessageProperty("", "int", 1),)),
        Message(properties=(MessageProperty("a", "String", "\ud800"),)),
        Message(Headers(JMSPriority=10)),
        Message(body=Body("TextMessage", "\ud800")),
        Message(body=Body("Fax", None)),
    ],
)
def test_messages_that_cannot_be_sent(message: Message) -> None:
    with pytest.raises(CodecError):
        Encoder().encode(message, "queue://OUT", NOW)


def test_no_id_means_that_the_queue_manager_makes_one() -> None:
    assert Encoder().encode(Message(), "queue://OUT", NOW)[0].MsgId == NO_ID


# Requests, replies and reports

REPORT_PROPERTIES = {
    "JMS_IBM_Report_Exception": 0x07000000,
    "JMS_IBM_Report_Expiration": 0x00600000,
    "JMS_IBM_Report_COA": 0x100,
    "JMS_IBM_Report_COD": 0x1800,
    "JMS_IBM_Report_PAN": 1,
    "JMS_IBM_Report_NAN": 2,
    "JMS_IBM_Report_Pass_Msg_ID": 0x80,
    "JMS_IBM_Report_Pass_Correl_ID": 0x40,
    "JMS_IBM_Report_Discard_Msg": 0x08000000,
}


def test_report_options_are_bits_of_the_mqmd_and_come_back_as_properties() -> None:
    """As IBM's table of provider-specific fields has them."""
    properties = [MessageProperty(name, "int", number) for name, number in REPORT_PROPERTIES.items()]
    descriptor, folders, _ = sent(Headers(JMSReplyTo="queue://R"), *properties)
    assert descriptor.Report == sum(REPORT_PROPERTIES.values())
    assert not any("Report" in folder for folder in folders)
    message = got(Report=descriptor.Report, MsgType=1, ReplyToQ="R")
    assert message.properties == tuple(properties)
    assert got(MsgType=1, ReplyToQ="R").properties == ()


@pytest.mark.parametrize(
    ("headers", "properties", "expected"),
    [
        (Headers(), {}, 8),
        (Headers(JMSReplyTo="queue://R"), {}, 1),
        (Headers(JMSReplyTo="topic://R"), {}, 8),  # no queue: nobody could put a reply to it
        (Headers(JMSReplyTo="queue://R"), {"JMS_IBM_MsgType": 2}, 2),
        (Headers(JMSReplyTo="queue://R"), {"JMS_IBM_MsgType": 8}, 8),
        (Headers(), {"JMS_IBM_MsgType": "2"}, 2),  # STOMP makes every property a String
    ],
)
def test_the_type_of_a_message(headers: Headers, properties: dict[str, Any], expected: int) -> None:
    made = [MessageProperty(n, "int" if isinstance(v, int) else "String", v) for n, v in properties.items()]
    assert sent(headers, *made)[0].MsgType == expected


def test_a_report_says_what_it_is() -> None:
    message = got(b"the beginning of it", MsgType=4, Feedback=2362, Format="MQSTR", CorrelId=ID)
    assert {p.name: p.value for p in message.properties} == {"JMS_IBM_MsgType": 4, "JMS_IBM_Feedback": 2362}
    assert message.headers.JMSCorrelationID == ID_TEXT
    again = sent(Headers(JMSCorrelationID=ID_TEXT), *message.properties)[0]
    assert (again.MsgType, again.Feedback, again.CorrelId) == (4, 2362, ID)


@pytest.mark.parametrize(
    ("name", "value"),
    [("JMS_IBM_MsgType", "reply"), ("JMS_IBM_Feedback", -1), ("JMS_IBM_Report_COA", 0x800), ("JMS_IBM_MsgType", True),
     ("JMS_IBM_Feedback", 2**31), ("JMS_IBM_Feedback", None)],
)  # fmt: skip
def test_what_is_no_number_of_mqs_is_refused(name: str, value: Any) -> None:
    with pytest.raises(CodecError, match=name):
        sent(Headers(), MessageProperty(name, "String", value))


REQUEST = Descriptor(
    MsgId=ID, CorrelId=b"c" * 24, ReplyToQ="R", Priority=7, Persistence=1, Expiry=300, Format="MQSTR", GroupId=b"g" * 24,
)  # fmt: skip


@pytest.mark.parametrize(
    ("report", "size", "format_"),
    [(0x01000000, 0, ""), (0x03000000, 100, "MQSTR"), (0x07000000, 200, "MQSTR")],
    ids=["without data", "with data", "with full data"],
)
def test_an_exception_report(report: int, size: int, format_: str) -> None:
    made = reports.exception_report(REQUEST._replace(Report=report), b"x" * 200, 2362)
    assert made is not None
    descriptor, data = made
    assert (len(data), descriptor.Format) == (size, format_)
    assert (descriptor.MsgType, descriptor.Feedback, descriptor.Report) == (4, 2362, 0)
    assert (descriptor.MsgId, descriptor.CorrelId) == (NO_ID, ID)
    assert (descriptor.Priority, descriptor.Persistence, descriptor.Expiry) == (7, 1, -1)
    assert descriptor.GroupId == REQUEST.GroupId


def test_a_report_passes_on_what_it_is_asked_to() -> None:
    wish = 0x01000000 | 0x80 | 0x40 | 0x4000 | 0x08000000
    made = reports.exception_report(REQUEST._replace(Report=wish), b"", 2362)
    assert made is not None
    assert (made[0].MsgId, made[0].CorrelId, made[0].Expiry, made[0].Report) == (ID, b"c" * 24, 300, 0x08000000)


def test_nobody_is_told_who_did_not_ask() -> None:
    assert reports.exception_report(REQUEST, b"", 2362) is None
    assert reports.exception_report(REQUEST._replace(Report=0x01000000, ReplyToQ=""), b"", 2362) is None


@pytest.mark.parametrize(
    ("id_", "kept"), [(ID_TEXT, ID), (ID_TEXT.upper(), None), ("ID:7", None), (None, None), ("ID:" + "0" * 48, None)]
)
def test_ids_that_came_from_mq_are_known(id_: str | None, kept: bytes | None) -> None:
    assert kept_id(id_) == kept
