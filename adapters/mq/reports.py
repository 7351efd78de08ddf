"""Report options, message type and feedback: as properties of a message, and the exception report for a message put aside.

The properties are those of IBM MQ classes for JMS, with the numbers of MQ; on MQ they are fields of the MQMD, never of the MQRFH2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from adapters.mq.codec_error import CodecError
from adapters.mq.descriptor import (
    MQEI_UNLIMITED,
    MQMT_DATAGRAM,
    MQMT_REPORT,
    MQMT_REQUEST,
    NO_ID,
    Descriptor,
)
from adapters.mq.mqi import (
    MQRO_DISCARD_MSG,
    MQRO_EXCEPTION,
    MQRO_EXCEPTION_WITH_DATA,
    MQRO_EXCEPTION_WITH_FULL_DATA,
    MQRO_PASS_CORREL_ID,
    MQRO_PASS_DISCARD_AND_EXPIRY,
    MQRO_PASS_MSG_ID,
)
from mappings.model import MessageProperty

MESSAGE_TYPE: Final = "JMS_IBM_MsgType"
FEEDBACK: Final = "JMS_IBM_Feedback"
REPORT_OPTIONS: Final = {
    "JMS_IBM_Report_Exception": MQRO_EXCEPTION_WITH_FULL_DATA,
    "JMS_IBM_Report_Expiration": 0x00E00000,
    "JMS_IBM_Report_COA": 0x00000700,
    "JMS_IBM_Report_COD": 0x00003800,
    "JMS_IBM_Report_PAN": 0x00000001,
    "JMS_IBM_Report_NAN": 0x00000002,
    "JMS_IBM_Report_Pass_Msg_ID": MQRO_PASS_MSG_ID,
    "JMS_IBM_Report_Pass_Correl_ID": MQRO_PASS_CORREL_ID,
    "JMS_IBM_Report_Discard_Msg": MQRO_DISCARD_MSG,
}
"""Which bits of MQMD.Report each property may have."""

PROPERTIES: Final = frozenset((MESSAGE_TYPE, FEEDBACK, *REPORT_OPTIONS))
DATA_OF_A_REPORT: Final = 100
"""Bytes of the message that a report `with data` has."""


class Fields(NamedTuple):
    """Of the MQMD."""

    report: int
    message_type: int
    feedback: int


def fields_of(properties: Mapping[str, object], *, is_request: bool) -> Fields:
    """Raises CodecError for what is no such number."""
    report = 0
    for name, bits in REPORT_OPTIONS.items():
        option = _number(properties, name)
        if option & ~bits:
            raise CodecError(f"{name} is {option}: it may have the bits of {bits} only")
        report |= option
    type_ = _number(properties, MESSAGE_TYPE) or (MQMT_REQUEST if is_request else MQMT_DATAGRAM)
    return Fields(report, type_, _number(properties, FEEDBACK))


def properties_of(md: Descriptor) -> list[MessageProperty]:
    """What a message says beyond being a datagram, or a request where there is a queue for the reply."""
    found: list[tuple[str, int]] = []
    if md.MsgType != (MQMT_REQUEST if md.ReplyToQ else MQMT_DATAGRAM):
        found.append((MESSAGE_TYPE, md.MsgType))
    if md.Feedback:
        found.append((FEEDBACK, md.Feedback))
    if md.Report:
        found += [(name, md.Report & bits) for name, bits in REPORT_OPTIONS.items() if md.Report & bits]
    return [MessageProperty(name, "int", number) for name, number in found]


def exception_report(md: Descriptor, data: bytes, reason: int) -> tuple[Descriptor, bytes] | None:
    """The report that the sender wishes for when its message cannot be processed; None where it wishes for none.

    Ids are new MsgId, CorrelId of the message's MsgId, unless it asks that its own be passed on.
    """
    wish = md.Report & MQRO_EXCEPTION_WITH_FULL_DATA
    if not wish & MQRO_EXCEPTION or not md.ReplyToQ:
        return None
    passes_on = md.Report & MQRO_PASS_DISCARD_AND_EXPIRY
    content = data if wish == MQRO_EXCEPTION_WITH_FULL_DATA else data[:DATA_OF_A_REPORT]
    report = Descriptor(
        Report=md.Report & MQRO_DISCARD_MSG if passes_on else 0,
        MsgType=MQMT_REPORT,
        Expiry=md.Expiry if passes_on else MQEI_UNLIMITED,
        Feedback=reason,
        Encoding=md.Encoding,
        CodedCharSetId=md.CodedCharSetId,
        Format=md.Format if wish >= MQRO_EXCEPTION_WITH_DATA else "",
        Priority=md.Priority,
        Persistence=md.Persistence,
        MsgId=md.MsgId if md.Report & MQRO_PASS_MSG_ID else NO_ID,
        CorrelId=md.CorrelId if md.Report & MQRO_PASS_CORREL_ID else md.MsgId,
        GroupId=md.GroupId,
        MsgSeqNumber=md.MsgSeqNumber,
        MsgFlags=md.MsgFlags,
    )
    return report, content if wish >= MQRO_EXCEPTION_WITH_DATA else b""


def _number(properties: Mapping[str, object], name: str) -> int:
    value = properties.get(name, 0)
    try:
        number = int(value) if isinstance(value, (int, str)) else None  # STOMP makes every property a String
    except ValueError:
        number = None
    if number is None or isinstance(value, bool) or not 0 <= number < 1 << 31:
        raise CodecError(f"{name} is {value!r}, and should be a number of MQ's")
    return number
