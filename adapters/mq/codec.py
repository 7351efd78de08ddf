"""A Message as MQMD, MQRFH2 and body, and back (RULES.md 9.5, 9.6).

Where both the MQMD and the MQRFH2 know a header field, the MQRFH2 counts (priority excepted). Without an MQRFH2 a message of format
MQSTR is a TextMessage, anything else a BytesMessage.
"""

from __future__ import annotations

import calendar
import hashlib
import time
from typing import Final, Literal

from adapters.mq import reports, rfh2
from adapters.mq.bodies import decode_body, encode_body
from adapters.mq.chain import unwrap
from adapters.mq.codec_error import CodecError
from adapters.mq.descriptor import (
    LAST_SEQUENCE_NUMBER,
    LONGEST_EXPIRY,
    MQEI_UNLIMITED,
    MQMF_LAST_MSG_IN_GROUP,
    MQMF_MSG_IN_GROUP,
    MQPER_NOT_PERSISTENT,
    MQPER_PERSISTENT,
    NO_ID,
    Descriptor,
)
from adapters.mq.destinations import from_uri, of_queue, queue_name, to_uri
from adapters.mq.folders import Folders, UsrFolder, jms_folder, mcd_folder
from adapters.mq.rfh2 import Rfh2
from mappings.model import NON_PERSISTENT, PERSISTENT, Headers, Message, MessageProperty

TargetClient = Literal["jms", "mq"]
GROUP_ID: Final = "JMSXGroupID"
GROUP_SEQUENCE: Final = "JMSXGroupSeq"
LAST_IN_GROUP: Final = "JMS_IBM_Last_Msg_In_Group"
PROVIDERS_OWN: Final = frozenset((
    "JMSXUserID", "JMSXAppID", "JMSXDeliveryCount", "JMSXProducerTXID", "JMSXConsumerTXID", "JMSXRcvTimestamp", "JMSXState",
))  # fmt: skip
"""Properties that a provider sets: none of the sender's business."""

_SPECIAL: Final = frozenset({GROUP_ID, GROUP_SEQUENCE, LAST_IN_GROUP, *PROVIDERS_OWN, *reports.PROPERTIES})


def message_id(id_: str) -> bytes:
    """A MsgId of our own for an id that stays the same over resends: whoever receives can tell a duplicate."""
    return b"ISTH" + hashlib.sha256(id_.encode("utf-8", "surrogatepass")).digest()[:20]


def kept_id(id_: str | None) -> bytes | None:
    """The MsgId that a JMSMessageID shows, where it came from MQ; None for any other."""
    if id_ is None or not id_.startswith("ID:"):
        return None
    octets, text = _id_field(id_)
    return octets if text is None else None


class Encoder:
    """Makes messages for one destination after the other."""

    def __init__(self, target_client: TargetClient = "jms") -> None:
        self._target_client = target_client
        self._usr = UsrFolder()

    def encode(
        self, message: Message, destination: str, now_ms: int, msg_id: bytes = NO_ID
    ) -> tuple[Descriptor, bytes]:
        """Raises CodecError."""
        headers = message.headers
        body = encode_body(message.body)
        properties = message.properties
        special = {p.name: p.value for p in properties if p.name in _SPECIAL}
        if special:
            properties = tuple(p for p in properties if p.name not in _SPECIAL)
        if len({p.name for p in properties}) < len(properties):
            raise CodecError("a property comes twice")
        time_to_live = _time_to_live(headers, now_ms)
        reply_to = queue_name(headers.JMSReplyTo) if headers.JMSReplyTo is not None else None
        correlation_id, full_correlation_id = _id_field(headers.JMSCorrelationID)
        group_id, sequence_number, flags = _group(special)
        report, message_type, feedback = reports.fields_of(special, is_request=reply_to is not None)
        descriptor = Descriptor(
            Report=report,
            MsgType=message_type,
            Feedback=feedback,
            Expiry=_expiry(time_to_live),
            Format=rfh2.FORMAT,
            Priority=_priority(headers.JMSPriority),
            Persistence=MQPER_PERSISTENT if headers.JMSDeliveryMode == PERSISTENT else MQPER_NOT_PERSISTENT,
            MsgId=msg_id,
            CorrelId=correlation_id,
            ReplyToQ="" if reply_to is None else reply_to.queue,
            ReplyToQMgr="" if reply_to is None else reply_to.queue_manager,
            GroupId=group_id,
            MsgSeqNumber=sequence_number,
            MsgFlags=flags,
        )
        if self._target_client == "mq":
            return descriptor._replace(Format=body.format), _plain(body.msd, body.data)
        jms = jms_folder((
            ("Dst", to_uri(destination)),
            ("Rto", None if headers.JMSReplyTo is None else to_uri(headers.JMSReplyTo)),
            ("Tms", now_ms if headers.JMSTimestamp is None else headers.JMSTimestamp),
            ("Exp", now_ms + time_to_live if time_to_live else None),
            ("Cid", full_correlation_id),
            ("Pri", headers.JMSPriority),
            ("Dlv", 2 if headers.JMSDeliveryMode == PERSISTENT else 1),
            ("Gid", special.get(GROUP_ID)),
            ("Seq", special.get(GROUP_SEQUENCE)),
        ))  # fmt: skip
        folders = [mcd_folder(body.msd, headers.JMSType, null_text=body.is_null), jms]
        if properties:
            folders.append(self._usr.write(properties))
        return descriptor, rfh2.build(Rfh2(tuple(folders), format=body.format)) + body.data


class Decoder:
    """Reads messages of one destination; `other_folders` keeps what JMS does not know as properties `rfh2.FOLDER.NAME`."""

    def __init__(self, destination: str, *, other_folders: bool = False, provider_properties: bool = False) -> None:
        self._destination = destination
        self._other_folders = other_folders
        self._provider_properties = provider_properties

    def decode(self, descriptor: Descriptor, data: bytes, now_ms: int) -> Message:
        """Raises CodecError."""
        contents = unwrap(data, descriptor.Format, descriptor.Encoding, descriptor.CodedCharSetId)
        folders = Folders(contents.rfh2, keep_others=self._other_folders)
        if contents.group is not None:
            group = contents.group
            descriptor = descriptor._replace(GroupId=group.id, MsgSeqNumber=group.sequence_number, MsgFlags=group.flags)
        body = decode_body(contents, folders.msd, folders.null_text)
        headers = self._headers(descriptor, folders, now_ms)
        return Message(headers, self._properties(descriptor, folders), body)

    def _headers(self, md: Descriptor, folders: Folders, now_ms: int) -> Headers:
        jms = folders.jms
        mode = folders.integer("Dlv")
        persistent = mode == 2 if mode in (1, 2) else md.Persistence != MQPER_NOT_PERSISTENT
        reply_to = jms.get("Rto")
        timestamp = folders.integer("Tms")
        return Headers(
            JMSType=folders.jms_type,
            JMSDeliveryMode=PERSISTENT if persistent else NON_PERSISTENT,
            JMSPriority=min(9, max(0, md.Priority)),
            JMSMessageID=_shown(md.MsgId),
            JMSTimestamp=_put_at(md) if timestamp is None else timestamp,
            JMSExpiration=_expiration(md, folders, now_ms),
            JMSDestination=self._destination_of(folders),
            JMSCorrelationID=jms.get("Cid") or (None if md.CorrelId == NO_ID else _shown(md.CorrelId)),
            JMSReplyTo=from_uri(reply_to)
            if reply_to
            else of_queue(md.ReplyToQ, md.ReplyToQMgr)
            if md.ReplyToQ
            else None,
            JMSRedelivered=md.BackoutCount > 0,
        )

    def _destination_of(self, folders: Folders) -> str:
        if uri := folders.jms.get("Dst"):
            return from_uri(uri)
        if topic := folders.mqps.get("Top"):
            return f"topic://{topic}"
        return self._destination

    def _properties(self, md: Descriptor, folders: Folders) -> tuple[MessageProperty, ...]:
        found = [*folders.usr.values(), *reports.properties_of(md)]
        in_group = md.MsgFlags & (MQMF_MSG_IN_GROUP | MQMF_LAST_MSG_IN_GROUP)
        group = folders.jms.get("Gid") or (_shown(md.GroupId) if in_group else None)
        if group:
            found.append(MessageProperty(GROUP_ID, "String", group))
            sequence = folders.integer("Seq")
            if sequence is None and in_group:
                sequence = md.MsgSeqNumber
            if sequence is not None:
                found.append(MessageProperty(GROUP_SEQUENCE, "int", sequence))
            if md.MsgFlags & MQMF_LAST_MSG_IN_GROUP:
                found.append(MessageProperty(LAST_IN_GROUP, "boolean", True))
        if self._provider_properties:
            found += [
                MessageProperty("JMSXUserID", "String", md.UserIdentifier),
                MessageProperty("JMSXAppID", "String", md.PutApplName),
                MessageProperty("JMSXDeliveryCount", "int", md.BackoutCount + 1),
            ]
        return tuple(found)


def _plain(msd: str, data: bytes) -> bytes:
    if msd not in ("jms_text", "jms_bytes", "jms_none"):
        raise CodecError(f"a body of kind {msd} needs an MQRFH2, and `target_client: mq` sends none")
    return data


def _priority(priority: int) -> int:
    if not 0 <= priority <= 9:
        raise CodecError(f"JMSPriority is {priority}, not 0 to 9")
    return priority


def _time_to_live(headers: Headers, now_ms: int) -> int:
    """Milliseconds, 0 for ever; a message that came with an expiry of its own keeps it."""
    if headers.JMSTimeToLive > 0:
        return headers.JMSTimeToLive
    return max(1, headers.JMSExpiration - now_ms) if headers.JMSExpiration else 0


def _expiry(time_to_live: int) -> int:
    if time_to_live == 0:
        return MQEI_UNLIMITED
    tenths = -(-time_to_live // 100)
    return tenths if tenths <= LONGEST_EXPIRY else MQEI_UNLIMITED


def _id_field(text: str | None) -> tuple[bytes, str | None]:
    """An id as the 24 bytes of the MQMD, and the text for the MQRFH2 where the bytes do not tell it all."""
    if text is None:
        return NO_ID, None
    if text.startswith("ID:") and len(text) == 51:
        try:
            octets = bytes.fromhex(text[3:])
        except ValueError:
            octets = NO_ID
        if octets != NO_ID and _shown(octets) == text:
            return octets, None
    return text.encode("utf-8", "replace")[:24].ljust(24, b"\0"), text


def _group(special: dict[str, object]) -> tuple[bytes, int, int]:
    group, sequence = special.get(GROUP_ID), special.get(GROUP_SEQUENCE)
    if not isinstance(group, str) or not group:
        return NO_ID, 1, 0
    if not isinstance(sequence, int) or not 1 <= sequence <= LAST_SEQUENCE_NUMBER:
        return NO_ID, 1, 0  # MQ numbers from 1 on; the folder `jms` still says what we were told
    flags = MQMF_MSG_IN_GROUP | (MQMF_LAST_MSG_IN_GROUP if special.get(LAST_IN_GROUP) is True else 0)
    return _id_field(group)[0], sequence, flags


def _shown(octets: bytes) -> str:
    return "ID:" + octets.hex()


def _put_at(md: Descriptor) -> int | None:
    """PutDate and PutTime, which are in UTC, in milliseconds since 1970; None where nobody has filled them in."""
    text = md.PutDate + md.PutTime
    if len(text) != 16 or not text.isdecimal() or not text.isascii():
        return None
    try:
        return calendar.timegm(time.strptime(text[:14], "%Y%m%d%H%M%S")) * 1000 + int(text[14:]) * 10
    except ValueError:
        return None


def _expiration(md: Descriptor, folders: Folders, now_ms: int) -> int | None:
    told = folders.integer("Exp")
    if told is not None:
        return told
    return now_ms + md.Expiry * 100 if md.Expiry > 0 else None
