"""The MQMD: what the codec reads and writes of it. Names and numbers are those of MQ."""

from __future__ import annotations

from typing import Final, NamedTuple

from adapters.mq.code_pages import NATIVE_ENCODING, UTF_8

NO_ID: Final = bytes(24)

MQMT_REQUEST: Final = 1
MQMT_REPORT: Final = 4
MQMT_DATAGRAM: Final = 8
MQPER_NOT_PERSISTENT: Final = 0
MQPER_PERSISTENT: Final = 1
MQEI_UNLIMITED: Final = -1
LONGEST_EXPIRY: Final = 999_999_999
MQMF_MSG_IN_GROUP: Final = 8
MQMF_LAST_MSG_IN_GROUP: Final = 16
LAST_SEQUENCE_NUMBER: Final = 999_999_999


class Descriptor(NamedTuple):
    """Character fields are without their padding."""

    Report: int = 0
    MsgType: int = MQMT_DATAGRAM
    Expiry: int = MQEI_UNLIMITED  # tenths of a second that are left
    Feedback: int = 0
    Encoding: int = NATIVE_ENCODING
    CodedCharSetId: int = UTF_8
    Format: str = ""
    Priority: int = 4
    Persistence: int = MQPER_PERSISTENT
    MsgId: bytes = NO_ID
    CorrelId: bytes = NO_ID
    BackoutCount: int = 0
    ReplyToQ: str = ""
    ReplyToQMgr: str = ""
    UserIdentifier: str = ""
    PutApplName: str = ""
    PutDate: str = ""  # YYYYMMDD
    PutTime: str = ""  # HHMMSShh, UTC
    GroupId: bytes = NO_ID
    MsgSeqNumber: int = 1
    MsgFlags: int = 0
