"""The worked MQRFH2 vectors: good ones are read as written down and written as read; malformed ones raise the codec's own error.

The bytes were made with the classes of two independent libraries, and the little-endian ones looked at with Wireshark.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.mq import chain, rfh2
from adapters.mq.codec import Decoder
from adapters.mq.codec_error import CodecError
from adapters.mq.descriptor import Descriptor
from mappings.model import Body, Message, MessageProperty, StreamElement

VECTORS = json.loads((Path(__file__).parent / "data" / "mqrfh2.json").read_text(encoding="utf-8"))
GOOD: dict[str, Any] = {vector["name"]: vector for vector in VECTORS["good"]}
MALFORMED: dict[str, str] = {vector["name"]: vector["hex"] for vector in VECTORS["malformed"]}
TOLERATED = {
    "m13_nvlength_not_mult4",  # RULES.md 9.6: foreign writers
    "m23_two_usr",
    "m26_dot_in_name",
    "m28_folder_named_Struc",
}
DEAD_LETTER = bytes.fromhex(
    "444c4820010000003a0900004e4f424f5120202020202020202020202020202020202020202020202020202020202020"
    "202020202020202020202020514d31202020202020202020202020202020202020202020202020202020202020202020"
    "20202020202020202020202022020000b80400004d515354522020200600000067617465776179202020202020202020"
    "20202020202020202020202032303236313131383037323430343030706f69736f6e"
)
# What the folders of each good vector say, in the terms of the model: type of body, body, properties.
MESSAGES: dict[str, tuple[Body, tuple[MessageProperty, ...]]] = {
    "01_no_folders": (Body("TextMessage", "x"), ()),
    "02_jms_text_le": (Body("TextMessage", "hello"), ()),
    "03_jms_text_be": (Body("TextMessage", "hello"), ()),
    "04_usr_all_types": (
        Body("BytesMessage", bytes(range(16))),
        (
            MessageProperty("s", "String", "text"),
            MessageProperty("empty", "String", ""),
            MessageProperty("b", "boolean", True),
            MessageProperty("i1", "byte", -128),
            MessageProperty("i2", "short", -32768),
            MessageProperty("i4", "int", -(2**31)),
            MessageProperty("i8", "long", 2**63 - 1),
            MessageProperty("r4", "float", 1.5),
            MessageProperty("r8", "double", 3.13),
        ),
    ),
    "05_usr_utf8_escapes": (
        Body("TextMessage", "hé"),
        (MessageProperty("name", "String", "Zoë & 日本 <x> \"q\" 'a'"),),
    ),
    "07_jms_stream": (
        Body(
            "StreamMessage",
            (
                StreamElement("String", "text"),
                StreamElement("boolean", False),
                StreamElement("byte", 1),
                StreamElement("short", 2),
                StreamElement("int", 3),
                StreamElement("long", 4),
                StreamElement("float", 0.5),
                StreamElement("double", 0.25),
                StreamElement("bytes", b"\xca\xfe"),
                StreamElement("char", "q"),
            ),
        ),
        (),
    ),
    "08_request_reply": (
        Body("TextMessage", "<req/>"),
        (MessageProperty("JMSXGroupID", "String", "grp-1"), MessageProperty("JMSXGroupSeq", "int", 3)),
    ),
    "09_topic_none": (Body(), ()),
    "11_null_property": (Body("TextMessage", "x"), (MessageProperty("n", "String", None),)),
    "13_uuid_bin_hex_jms": (Body("TextMessage", "x"), ()),
}


def descriptor_of(vector: dict[str, Any]) -> Descriptor:
    md = vector["md"]
    return Descriptor(Format=md["Format"].strip(), Encoding=md["Encoding"], CodedCharSetId=md["CodedCharSetId"])


def read(name: str) -> Message:
    vector = GOOD[name]
    data = bytes.fromhex(vector["header_hex"] + vector["body_hex"])
    return Decoder("queue://IN").decode(descriptor_of(vector), data, 1_700_000_000_000)


@pytest.mark.parametrize("name", GOOD)
def test_a_good_header_is_read_and_written_byte_for_byte(name: str) -> None:
    vector = GOOD[name]
    header = bytes.fromhex(vector["header_hex"])
    encoding = vector["md"]["Encoding"]
    parsed, length = rfh2.parse(header + bytes.fromhex(vector["body_hex"]), encoding)
    assert length == len(header)
    assert list(parsed.folders) == vector["folders"]
    assert rfh2.build(parsed, encoding) == header


@pytest.mark.parametrize("name", GOOD)
def test_a_good_message_means_what_its_folders_say(name: str) -> None:
    message = read(name)
    assert (message.body, message.properties) == MESSAGES[name]


def test_every_header_field_of_the_request() -> None:
    headers = read("08_request_reply").headers
    assert headers.JMSDestination == "queue://GW.REQ"
    assert headers.JMSReplyTo == "queue://GW.RPL@QM1"
    assert headers.JMSTimestamp == 1_700_000_000_123
    assert headers.JMSExpiration == 1_700_000_060_123
    assert headers.JMSCorrelationID == "req-42"
    assert headers.JMSDeliveryMode == "NON_PERSISTENT"  # Dlv 1 counts, not the MQMD


def test_a_topic_is_the_destination() -> None:
    assert read("09_topic_none").headers.JMSDestination == "topic://sport/football"


@pytest.mark.parametrize("name", sorted(set(MALFORMED) - TOLERATED))
def test_a_malformed_message_raises_the_codecs_own_error(name: str) -> None:
    with pytest.raises(CodecError):
        Decoder("queue://IN").decode(Descriptor(Format="MQHRF2"), bytes.fromhex(MALFORMED[name]), 0)


@pytest.mark.parametrize(
    ("name", "properties"),
    [
        ("m13_nvlength_not_mult4", ()),
        ("m23_two_usr", (MessageProperty("a", "String", "1"),)),  # the first counts
        ("m26_dot_in_name", (MessageProperty("a.b", "String", "1"),)),
        ("m28_folder_named_Struc", ()),
    ],
)
def test_what_sloppy_writers_send_is_read_all_the_same(name: str, properties: tuple[MessageProperty, ...]) -> None:
    message = Decoder("queue://IN").decode(Descriptor(Format="MQHRF2"), bytes.fromhex(MALFORMED[name]), 0)
    assert message.properties == properties
    assert message.body == Body("TextMessage", "hello" if name.startswith("m13") else "x")


def test_other_folders_are_kept_where_asked_for() -> None:
    data = bytes.fromhex(MALFORMED["m28_folder_named_Struc"])
    message = Decoder("queue://IN", other_folders=True).decode(Descriptor(Format="MQHRF2"), data, 0)
    assert message.properties == (MessageProperty("rfh2.Struc.a", "String", "1"),)


def test_a_dead_letter_header_is_read_and_written() -> None:
    contents = chain.unwrap(DEAD_LETTER, "MQDEAD", 546, 1208)
    assert contents.dead_letter == chain.DeadLetterHeader(2362, "NOBOQ", "QM1")
    assert (contents.body, contents.format) == (b"poison", "MQSTR")
    written = chain.dead_letter_header(
        reason=2362,
        queue="NOBOQ",
        queue_manager="QM1",
        encoding=546,
        ccsid=1208,
        format_="MQSTR",
        application="gateway",
        now="2026111807240400",
    )
    assert written == DEAD_LETTER[:172]
