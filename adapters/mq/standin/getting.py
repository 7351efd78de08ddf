"""MQGET on the stand-in: finding the message, waiting for it, browsing, and what the caller gets of it."""

from __future__ import annotations

import struct
import time
from typing import TYPE_CHECKING, Any, Final

from adapters.mq import rfh2
from adapters.mq.mqi import (
    MQCC_OK,
    MQCC_WARNING,
    MQGMO_ACCEPT_TRUNCATED_MSG,
    MQGMO_BROWSE_FIRST,
    MQGMO_BROWSE_MSG_UNDER_CURSOR,
    MQGMO_BROWSE_NEXT,
    MQGMO_FAIL_IF_QUIESCING,
    MQGMO_LOCK,
    MQGMO_LOGICAL_ORDER,
    MQGMO_MSG_UNDER_CURSOR,
    MQGMO_NO_PROPERTIES,
    MQGMO_NO_SYNCPOINT,
    MQGMO_PROPERTIES_FORCE_MQRFH2,
    MQGMO_SYNCPOINT,
    MQGMO_SYNCPOINT_IF_PERSISTENT,
    MQGMO_UNLOCK,
    MQGMO_WAIT,
    MQMO_MATCH_CORREL_ID,
    MQMO_MATCH_GROUP_ID,
    MQMO_MATCH_MSG_ID,
    MQMO_MATCH_MSG_SEQ_NUMBER,
    MQOO_BROWSE,
    MQOO_SAVE_ALL_CONTEXT,
    MQRC_CONNECTION_BROKEN,
    MQRC_GET_INHIBITED,
    MQRC_GMO_ERROR,
    MQRC_HOBJ_ERROR,
    MQRC_MD_ERROR,
    MQRC_NO_MSG_AVAILABLE,
    MQRC_NO_MSG_UNDER_CURSOR,
    MQRC_NONE,
    MQRC_NOT_OPEN_FOR_BROWSE,
    MQRC_NOT_OPEN_FOR_INPUT,
    MQRC_OPTIONS_ERROR,
    MQRC_Q_MGR_QUIESCING,
    MQRC_TRUNCATED_MSG_ACCEPTED,
    MQRC_TRUNCATED_MSG_FAILED,
)  # fmt: skip
from adapters.mq.standin import properties
from adapters.mq.standin.connections import ANY_INPUT, Change, Connection, MqiError, OpenObject
from adapters.mq.standin.queues import Queue, StoredMessage
from adapters.mq.standin.structures import GMO, MD, padded

if TYPE_CHECKING:
    from adapters.mq.standin.manager import StandInQueueManager

NO_ID: Final = bytes(24)
LONGEST_WAIT_SECS: Final = 0.5  # before it is seen whether a client in another process is still there
_BROWSE: Final = MQGMO_BROWSE_FIRST | MQGMO_BROWSE_NEXT | MQGMO_BROWSE_MSG_UNDER_CURSOR
_UNDER_CURSOR: Final = MQGMO_MSG_UNDER_CURSOR | MQGMO_BROWSE_MSG_UNDER_CURSOR
_EXTENSION_DEFAULTS: Final = (NO_ID, 1, 0, 0, -1)
_EXTENSION: Final = ("GroupId", "MsgSeqNumber", "Offset", "MsgFlags", "OriginalLength")

Got = tuple[bytes, bytes, bytes, int, int, int]


def get(
    manager: StandInQueueManager, connection: Connection, opened: OpenObject, md: bytes, gmo: bytes, buffer_length: int
) -> Got:
    if not MD.is_valid(md):
        raise MqiError(MQRC_MD_ERROR)
    if not GMO.is_valid(gmo):
        raise MqiError(MQRC_GMO_ERROR)
    wanted, wishes = MD.unpack(md), GMO.unpack(gmo)
    options, queue = wishes["Options"], opened.queue
    if queue is None:
        raise MqiError(MQRC_HOBJ_ERROR)
    _check(opened, options)
    if options & MQGMO_BROWSE_FIRST:
        opened.cursor = -1
    message = _wait(manager, connection, opened, queue, wanted, wishes)
    return _hand_over(manager, connection, opened, queue, message, md, gmo, options, buffer_length)


def _check(opened: OpenObject, options: int) -> None:
    browse = options & _BROWSE
    contradiction = options & MQGMO_SYNCPOINT and (options & MQGMO_NO_SYNCPOINT or browse)
    if contradiction or browse & (browse - 1) or options & (MQGMO_LOGICAL_ORDER | MQGMO_LOCK | MQGMO_UNLOCK):
        raise MqiError(MQRC_OPTIONS_ERROR)
    if browse and not opened.options & MQOO_BROWSE:
        raise MqiError(MQRC_NOT_OPEN_FOR_BROWSE)
    if not browse and not opened.options & ANY_INPUT:
        raise MqiError(MQRC_NOT_OPEN_FOR_INPUT)


def _wait(
    manager: StandInQueueManager, connection: Connection, opened: OpenObject, queue: Queue, wanted: dict[str, Any],
    wishes: dict[str, Any],
) -> StoredMessage:  # fmt: skip
    options = wishes["Options"]
    interval = wishes["WaitInterval"]
    deadline = time.monotonic() + interval / 1000 if options & MQGMO_WAIT and interval >= 0 else None
    while True:
        if connection.is_broken or not manager.is_running or not connection.is_alive():
            manager.break_connection(connection)
            raise MqiError(MQRC_CONNECTION_BROKEN)
        if manager.is_quiescing and options & MQGMO_FAIL_IF_QUIESCING:
            raise MqiError(MQRC_Q_MGR_QUIESCING)
        if queue.get_inhibited:
            raise MqiError(MQRC_GET_INHIBITED)
        manager.expire(queue)
        message = _find(opened, queue, wanted, wishes)
        if message is not None:
            return message
        if options & _UNDER_CURSOR:
            raise MqiError(MQRC_NO_MSG_UNDER_CURSOR)
        left = LONGEST_WAIT_SECS if deadline is None else deadline - time.monotonic()
        if not options & MQGMO_WAIT or left <= 0:
            raise MqiError(MQRC_NO_MSG_AVAILABLE)
        manager.changed.wait(min(left, LONGEST_WAIT_SECS))


def _find(opened: OpenObject, queue: Queue, wanted: dict[str, Any], wishes: dict[str, Any]) -> StoredMessage | None:
    options = wishes["Options"]
    candidates = queue.messages
    if options & MQGMO_BROWSE_NEXT and opened.cursor != -1:
        places = [place for place, message in enumerate(candidates) if message.number == opened.cursor]
        # Where the message under the cursor is gone: those that came after it.
        candidates = candidates[places[0] + 1 :] if places else [m for m in candidates if m.number > opened.cursor]
    match = wishes["MatchOptions"] if wishes["Version"] >= 2 else MQMO_MATCH_MSG_ID | MQMO_MATCH_CORREL_ID
    for message in candidates:
        if not message.is_free:
            continue
        if options & _UNDER_CURSOR:
            if message.number == opened.cursor:
                return message
        elif _matches(message.md, wanted, match):
            return message
    return None


def _matches(md: dict[str, Any], wanted: dict[str, Any], match: int) -> bool:
    if match & MQMO_MATCH_MSG_ID and wanted["MsgId"] not in (NO_ID, md["MsgId"]):
        return False
    if match & MQMO_MATCH_CORREL_ID and wanted["CorrelId"] not in (NO_ID, md["CorrelId"]):
        return False
    if wanted["Version"] < 2:
        return True
    if match & MQMO_MATCH_GROUP_ID and wanted["GroupId"] != md["GroupId"]:
        return False
    return not match & MQMO_MATCH_MSG_SEQ_NUMBER or wanted["MsgSeqNumber"] == md["MsgSeqNumber"]


def _hand_over(
    manager: StandInQueueManager, connection: Connection, opened: OpenObject, queue: Queue, message: StoredMessage, md: bytes,
    gmo: bytes, options: int, buffer_length: int,
) -> Got:  # fmt: skip
    wishes = GMO.unpack(gmo)
    handle = (
        connection.message_handle(wishes["MsgHandle"]) if wishes["Version"] >= 4 and wishes["MsgHandle"] > 0 else None
    )
    fields, data = _as_asked(manager, message, MD.unpack(md)["Version"], options, handle)
    whole = len(data)
    taken, completion, reason = True, MQCC_OK, MQRC_NONE
    if whole > buffer_length:
        taken = bool(options & MQGMO_ACCEPT_TRUNCATED_MSG)
        completion, reason = MQCC_WARNING, MQRC_TRUNCATED_MSG_ACCEPTED if taken else MQRC_TRUNCATED_MSG_FAILED
        data = data[:buffer_length]
    if taken and options & _BROWSE:
        opened.cursor = message.number
    elif taken:
        _take(manager, connection, queue, message, options)
        if opened.options & MQOO_SAVE_ALL_CONTEXT:
            opened.saved_context = fields
    returned = {field: fields[field] for field in MD.names if field not in ("StrucId", "Version")}
    flags = fields["MsgFlags"]
    gmo = GMO.patch(
        gmo,
        ResolvedQName=padded(queue.name, 48),
        GroupStatus=b"L" if flags & 16 else b"G" if flags & 8 else b" ",
        SegmentStatus=b" ",
        MsgToken=struct.pack(">QQ", 0, message.number),
        ReturnedLength=len(data),
    )
    return data, MD.patch(md, **returned), gmo, whole, completion, reason


def _take(
    manager: StandInQueueManager, connection: Connection, queue: Queue, message: StoredMessage, options: int
) -> None:
    queue.depth -= 1
    if options & MQGMO_SYNCPOINT or (options & MQGMO_SYNCPOINT_IF_PERSISTENT and message.is_persistent):
        message.got_by = connection
        connection.unit.append(Change("get", queue, message))
    else:
        queue.remove(message)
        manager.keep([], [message])


def _as_asked(
    manager: StandInQueueManager,
    message: StoredMessage,
    version: int,
    options: int,
    handle: properties.MessageHandle | None,
) -> tuple[dict[str, Any], bytes]:
    """The descriptor and the data; properties in the handle, as an MQRFH2, or not at all. (An MQRFH2 of the sender's stays.)"""
    fields, data = dict(message.md), message.data
    fields["BackoutCount"] = message.backout_count
    if message.expires_at is not None:
        fields["Expiry"] = max(1, int((message.expires_at - manager.clock()) * 10))
    found = dict(message.properties)
    if message.topic is not None:
        found["mqps.Top"] = properties.STRING, message.topic.encode()
    if handle is not None:
        handle.properties, handle.at = found, -1
    elif (
        found
        and not options & MQGMO_NO_PROPERTIES
        and (options & MQGMO_PROPERTIES_FORCE_MQRFH2 or properties.need_a_header(found))
    ):
        format_ = fields["Format"].decode("latin-1").rstrip()
        header = rfh2.Rfh2(properties.folders(found), fields["Encoding"], fields["CodedCharSetId"], format_)
        data = rfh2.build(header, fields["Encoding"]) + data
        fields["Format"] = b"MQHRF2  "
    if version < 2 and tuple(fields[field] for field in _EXTENSION) != _EXTENSION_DEFAULTS:
        extension = (fields[field] for field in _EXTENSION)
        data = struct.pack(
            "@4s4i8si24s4i", b"MDE ", 2, 72, fields["Encoding"], fields["CodedCharSetId"], fields["Format"], 0, *extension
        ) + data  # fmt: skip
        fields["Format"], fields["Encoding"] = b"MQHMDE  ", 546
    return fields, data
