"""IBM's own header classes read what we write, and we read what they write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from adapters.mq import chain, rfh2
from adapters.mq.codec import Decoder, Encoder
from adapters.mq.descriptor import Descriptor
from mappings.model import Body, Headers, Message, MessageProperty
from tests.parts.availability import available
from tests.parts.ibm_headers import IbmHeaders

pytestmark = pytest.mark.java
VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "data" / "mqrfh2.json").read_text(encoding="utf-8"))
JAVA = {
    "String": "String", "boolean": "Boolean", "byte": "Byte", "short": "Short", "int": "Integer", "long": "Long",
    "float": "Float", "double": "Double",
}  # fmt: skip
PROPERTIES = (
    MessageProperty("_sFd1_dAlarmName", "String", "Zoë & 日本 <x> \"q\" 'a' 😀"),
    MessageProperty("empty", "String", ""),
    MessageProperty("$gid", "String", "7"),
    MessageProperty("_shops", "String", "nms-bridge/ems-alarms two/x"),
    MessageProperty("yes", "boolean", True),
    MessageProperty("octet", "byte", -128),
    MessageProperty("small", "short", 32767),
    MessageProperty("whole", "int", -(2**31)),
    MessageProperty("large", "long", 2**63 - 1),
    MessageProperty("single", "float", 0.5),
    MessageProperty("real", "double", 3.141592653589793),
)


@pytest.fixture(scope="module")
def ibm() -> Iterator[IbmHeaders]:
    with ExitStack() as ends:
        yield available(lambda: ends.enter_context(IbmHeaders()))


def fields_of(header: dict[str, Any]) -> dict[str, dict[str, tuple[str | None, str | None]]]:
    return {
        folder["name"]: {field["name"]: (field["java"], field["text"]) for field in folder["fields"]}
        for folder in header["folders"]
    }


def test_ibm_reads_every_property_that_we_write(ibm: IbmHeaders) -> None:
    headers = Headers(JMSType="Alarm & co", JMSCorrelationID="order <7>", JMSTimeToLive=60_000)
    message = Message(headers, PROPERTIES, Body("TextMessage", "hé"))
    descriptor, data = Encoder().encode(message, "queue://OUT", 1_700_000_000_123)
    answer = ibm.read(data, descriptor.Format, descriptor.Encoding, descriptor.CodedCharSetId)
    assert bytes.fromhex(answer["body"]) == "hé".encode()
    [header] = answer["headers"]
    assert (header["format"], header["ccsid"], header["encoding"]) == ("MQSTR", 1208, 546)
    folders = fields_of(header)
    assert folders["mcd"] == {"Msd": ("String", "jms_text"), "Type": ("String", "Alarm & co")}
    assert {name: text for name, (_, text) in folders["jms"].items()} == {
        "Dst": "queue:///OUT",
        "Tms": "1700000000123",
        "Exp": "1700000060123",
        "Cid": "order <7>",
        "Pri": "4",
        "Dlv": "2",
    }
    assert [folders["usr"][name] for name in folders["usr"]] == [
        (JAVA[p.type], str(p.value).lower() if p.type == "boolean" else str(p.value)) for p in PROPERTIES
    ]


@pytest.mark.parametrize("encoding", [273, 546])
@pytest.mark.parametrize("ccsid", [1208, 1200])
def test_ibm_reads_both_byte_orders_and_utf_16(ibm: IbmHeaders, encoding: int, ccsid: int) -> None:
    header = rfh2.Rfh2(("<usr><a dt='i4'>7</a><b>日本</b></usr>",), encoding=encoding, name_value_ccsid=ccsid)
    answer = ibm.read(rfh2.build(header, encoding) + b"body", encoding=encoding)
    assert fields_of(answer["headers"][0]) == {"usr": {"a": ("Integer", "7"), "b": ("String", "日本")}}
    assert bytes.fromhex(answer["body"]) == b"body"


def test_ibm_reads_our_null(ibm: IbmHeaders) -> None:
    _, data = Encoder().encode(Message(properties=(MessageProperty("n", "String", None),)), "queue://OUT", 0)
    assert fields_of(ibm.read(data)["headers"][0])["usr"] == {"n": (None, None)}


def test_ibm_reads_our_dead_letter_header(ibm: IbmHeaders) -> None:
    descriptor, data = Encoder().encode(Message(body=Body("TextMessage", "x")), "queue://OUT", 0)
    dead = chain.dead_letter_header(
        reason=2362,
        queue="IN",
        queue_manager="QM1",
        encoding=descriptor.Encoding,
        ccsid=descriptor.CodedCharSetId,
        format_=descriptor.Format,
        application="isthmus",
        now="2026111807240400",
    )
    answer = ibm.read(dead + data, "MQDEAD")
    assert answer["headers"][0] == {
        "type": "MQDLH",
        "reason": 2362,
        "queue": "IN",
        "manager": "QM1",
        "format": "MQHRF2",
        "application": "isthmus",
        "date": "20261118",
        "time": "07240400",
    }
    assert answer["headers"][1]["type"] == "MQRFH2"
    assert bytes.fromhex(answer["body"]) == b"x"


@pytest.mark.parametrize("vector", VECTORS["good"], ids=lambda vector: vector["name"])
def test_ibm_reads_the_good_vectors_as_we_do(ibm: IbmHeaders, vector: dict[str, Any]) -> None:
    data = bytes.fromhex(vector["header_hex"] + vector["body_hex"])
    encoding = vector["md"]["Encoding"]
    answer = ibm.read(data, encoding=encoding)
    ours = Decoder("queue://IN").decode(Descriptor(Format="MQHRF2", Encoding=encoding), data, 0)
    usr = fields_of(answer["headers"][0]).get("usr", {})
    mine = [p for p in ours.properties if not p.name.startswith("JMSX")]
    assert list(usr) == [p.name for p in mine]
    assert [java for java, _ in usr.values()] == [None if p.value is None else JAVA[p.type] for p in mine]
    assert answer["body"] == vector["body_hex"]


@pytest.mark.parametrize("encoding", [273, 546])
@pytest.mark.parametrize("ccsid", [1208, 1200])
@pytest.mark.parametrize(
    ("format_", "before"), [("MQHRF2", {}), ("MQDEAD", {"dead": True}), ("MQHMDE", {"extension": True})]
)
def test_we_read_what_ibm_writes(
    ibm: IbmHeaders, encoding: int, ccsid: int, format_: str, before: dict[str, bool]
) -> None:
    text = "Zoë & 日本 <x> \"q\" 'a' 😀"
    data = ibm.write(encoding=encoding, name_value_ccsid=ccsid, text=text, **before)
    descriptor = Descriptor(Format=format_, Encoding=encoding)
    message = Decoder("queue://IN").decode(descriptor, data, 0)
    assert message.body == Body("TextMessage", "hé")
    assert message.headers.JMSDestination == "queue://ORDERS"
    assert message.headers.JMSTimestamp == 1_700_000_000_123
    assert message.headers.JMSDeliveryMode == "NON_PERSISTENT"
    expected = {
        "text": ("String", text),
        "yes": ("String", "1"),  # IBM's class gives Boolean, Byte and byte[] no dt
        "octet": ("String", "-128"),
        "small": ("short", -32768),
        "whole": ("int", -(2**31)),
        "large": ("long", 2**63 - 1),
        "single": ("float", pytest.approx(0.1)),
        "real": ("double", 3.141592653589793),
        "octets": ("String", "cafe"),
    }
    if before.get("extension"):
        expected |= {"JMSXGroupID": ("String", "ID:" + "ab" * 24), "JMSXGroupSeq": ("int", 7)}
    assert {p.name: (p.type, p.value) for p in message.properties} == expected
