"""MQPUT on the stand-in: checks, context, ids, and onto the queue or to the subscribers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from adapters.mq.mqi import (
    MQCC_OK,
    MQCC_WARNING,
    MQOO_SAVE_ALL_CONTEXT,
    MQOO_SET_ALL_CONTEXT,
    MQOO_SET_IDENTITY_CONTEXT,
    MQPMO_FAIL_IF_QUIESCING,
    MQPMO_LOGICAL_ORDER,
    MQPMO_NEW_CORREL_ID,
    MQPMO_NEW_MSG_ID,
    MQPMO_NO_CONTEXT,
    MQPMO_NO_SYNCPOINT,
    MQPMO_PASS_ALL_CONTEXT,
    MQPMO_PASS_IDENTITY_CONTEXT,
    MQPMO_RETAIN,
    MQPMO_SET_ALL_CONTEXT,
    MQPMO_SET_IDENTITY_CONTEXT,
    MQPMO_SYNCPOINT,
    MQRC_CONTEXT_HANDLE_ERROR,
    MQRC_CONTEXT_NOT_AVAILABLE,
    MQRC_MD_ERROR,
    MQRC_MISSING_REPLY_TO_Q,
    MQRC_MSG_TOO_BIG_FOR_Q,
    MQRC_NONE,
    MQRC_NOT_OPEN_FOR_PASS_ALL,
    MQRC_NOT_OPEN_FOR_PASS_IDENT,
    MQRC_NOT_OPEN_FOR_SET_ALL,
    MQRC_NOT_OPEN_FOR_SET_IDENT,
    MQRC_OPTIONS_ERROR,
    MQRC_PERSISTENCE_ERROR,
    MQRC_PMO_ERROR,
    MQRC_PRIORITY_ERROR,
    MQRC_PRIORITY_EXCEEDS_MAXIMUM,
    MQRC_PUT_INHIBITED,
    MQRC_Q_FULL,
    MQRC_Q_MGR_QUIESCING,
    MQRC_SYNCPOINT_LIMIT_REACHED,
)  # fmt: skip
from adapters.mq.standin.connections import Change, Connection, MqiError, OpenObject
from adapters.mq.standin.publishing import matches
from adapters.mq.standin.queues import Publication, Queue, StoredMessage
from adapters.mq.standin.structures import MD, PMO, name, padded

if TYPE_CHECKING:
    from adapters.mq.standin.manager import StandInQueueManager

NO_ID: Final = bytes(24)
IDENTITY: Final = ("UserIdentifier", "AccountingToken", "ApplIdentityData")
ORIGIN: Final = ("PutApplType", "PutApplName", "PutDate", "PutTime", "ApplOriginData")
_TEXT: Final = {"Format": 8, "ReplyToQ": 48, "ReplyToQMgr": 48, "UserIdentifier": 12, "ApplIdentityData": 32,
                "PutApplName": 28, "ApplOriginData": 4}  # fmt: skip
_REPORTS: Final = 0x01000000 | 0x00200000 | 0x100 | 0x800  # exception, expiration, arrival, delivery
_DEFAULT_CCSID: Final = 1208
_MOST_UNCOMMITTED: Final = 10_000  # MAXUMSGS


def put(
    manager: StandInQueueManager, connection: Connection, opened: OpenObject, md: bytes, pmo: bytes, data: bytes
) -> tuple[bytes, bytes, int, int]:
    if not MD.is_valid(md):
        raise MqiError(MQRC_MD_ERROR)
    if not PMO.is_valid(pmo):
        raise MqiError(MQRC_PMO_ERROR)
    fields, wishes = MD.unpack(md), PMO.unpack(pmo)
    completion, reason = _check(manager, connection, fields, wishes["Options"])
    fields |= _context(manager, connection, opened, fields, wishes)
    for field, size in _TEXT.items():
        fields[field] = padded(name(fields[field]), size)
    if name(fields["ReplyToQ"]) and not name(fields["ReplyToQMgr"]):
        fields["ReplyToQMgr"] = padded(manager.name, 48)
    fields["CodedCharSetId"] = fields["CodedCharSetId"] or _DEFAULT_CCSID
    options = wishes["Options"]
    if options & MQPMO_NEW_MSG_ID or fields["MsgId"] == NO_ID:
        fields["MsgId"] = manager.new_id()
    if options & MQPMO_NEW_CORREL_ID:
        fields["CorrelId"] = manager.new_id()
    fields["BackoutCount"] = 0
    unit = connection if options & MQPMO_SYNCPOINT else None
    of_handle = wishes["OriginalMsgHandle"] if wishes["Version"] >= 3 else 0
    properties = dict(connection.message_handle(of_handle).properties) if of_handle > 0 else {}
    if opened.queue is not None:
        queue = opened.queue
        _enqueue(manager, queue, Publication(fields, data, properties), None, unit)
        resolved = queue.name
    else:
        _publish(manager, opened.topic, Publication(fields, data, properties), wishes, unit)
        resolved = ""
    manager.changed.notify_all()
    returned = {field: fields[field] for field in MD.names if field not in ("StrucId", "Version")}
    return (
        MD.patch(md, **returned),
        PMO.patch(
            pmo, ResolvedQName=padded(resolved, 48), ResolvedQMgrName=padded(manager.name if resolved else "", 48)
        ),
        completion,
        reason,
    )


def _check(manager: StandInQueueManager, connection: Connection, md: dict[str, Any], options: int) -> tuple[int, int]:
    if (options & MQPMO_SYNCPOINT and options & MQPMO_NO_SYNCPOINT) or options & MQPMO_LOGICAL_ORDER:
        raise MqiError(MQRC_OPTIONS_ERROR)
    if manager.is_quiescing and options & MQPMO_FAIL_IF_QUIESCING:
        raise MqiError(MQRC_Q_MGR_QUIESCING)
    if options & MQPMO_SYNCPOINT and len(connection.unit) >= _MOST_UNCOMMITTED:
        raise MqiError(MQRC_SYNCPOINT_LIMIT_REACHED)
    if (md["MsgType"] == 1 or md["Report"] & _REPORTS) and not name(md["ReplyToQ"]):
        raise MqiError(MQRC_MISSING_REPLY_TO_Q)
    if md["Persistence"] not in (0, 1, 2):
        raise MqiError(MQRC_PERSISTENCE_ERROR)
    if md["Priority"] < -1:
        raise MqiError(MQRC_PRIORITY_ERROR)
    if md["Version"] < 2:
        md.update(GroupId=NO_ID, MsgSeqNumber=1, Offset=0, MsgFlags=0, OriginalLength=-1)
    if md["Priority"] > 9:
        md["Priority"] = 9
        return MQCC_WARNING, MQRC_PRIORITY_EXCEEDS_MAXIMUM
    return MQCC_OK, MQRC_NONE


def _context(
    manager: StandInQueueManager, connection: Connection, opened: OpenObject, md: dict[str, Any], pmo: dict[str, Any]
) -> dict[str, Any]:
    """Identity and origin, as the options ask for."""
    options = pmo["Options"]
    if options & (MQPMO_PASS_ALL_CONTEXT | MQPMO_PASS_IDENTITY_CONTEXT):
        wanted = options & (MQPMO_PASS_ALL_CONTEXT | MQPMO_PASS_IDENTITY_CONTEXT)
        if not opened.options & wanted:
            everything = options & MQPMO_PASS_ALL_CONTEXT
            raise MqiError(MQRC_NOT_OPEN_FOR_PASS_ALL if everything else MQRC_NOT_OPEN_FOR_PASS_IDENT)
        origin_of = connection.objects.get(pmo["Context"])
        if origin_of is None or not origin_of.options & MQOO_SAVE_ALL_CONTEXT:
            raise MqiError(MQRC_CONTEXT_HANDLE_ERROR)
        if origin_of.saved_context is None:
            raise MqiError(MQRC_CONTEXT_NOT_AVAILABLE)
        passed = (*IDENTITY, *ORIGIN) if options & MQPMO_PASS_ALL_CONTEXT else IDENTITY
        return _own(manager, connection) | {field: origin_of.saved_context[field] for field in passed}
    if options & MQPMO_SET_ALL_CONTEXT:
        if not opened.options & MQOO_SET_ALL_CONTEXT:
            raise MqiError(MQRC_NOT_OPEN_FOR_SET_ALL)
        return {}
    if options & MQPMO_SET_IDENTITY_CONTEXT:
        if not opened.options & (MQOO_SET_IDENTITY_CONTEXT | MQOO_SET_ALL_CONTEXT):
            raise MqiError(MQRC_NOT_OPEN_FOR_SET_IDENT)
        own = _own(manager, connection)
        return {field: own[field] for field in ORIGIN}
    if options & MQPMO_NO_CONTEXT:
        blank = dict.fromkeys((*IDENTITY, *ORIGIN), b"")
        return {**blank, "AccountingToken": bytes(32), "PutApplType": 0, "PutDate": b" " * 8, "PutTime": b" " * 8}
    return _own(manager, connection)


def _own(manager: StandInQueueManager, connection: Connection) -> dict[str, Any]:
    now = manager.clock()
    moment = time.gmtime(now)
    return {
        "UserIdentifier": padded(connection.login.user or "standin", 12),
        "AccountingToken": bytes(32),
        "ApplIdentityData": b"",
        "PutApplType": 6,
        "PutApplName": padded(connection.login.application or "standin", 28),
        "PutDate": time.strftime("%Y%m%d", moment).encode(),
        "PutTime": time.strftime("%H%M%S", moment).encode() + b"%02d" % int(now % 1 * 100),
        "ApplOriginData": b"",
    }


def _enqueue(
    manager: StandInQueueManager, queue: Queue, what: Publication, topic: str | None, unit: Connection | None
) -> None:
    md = what.md
    if queue.put_inhibited:
        raise MqiError(MQRC_PUT_INHIBITED)
    if len(what.data) > queue.max_length:
        raise MqiError(MQRC_MSG_TOO_BIG_FOR_Q)
    if queue.depth >= queue.max_depth:
        raise MqiError(MQRC_Q_FULL)
    if md["Persistence"] == 2:
        md["Persistence"] = queue.default_persistence
    if md["Priority"] == -1:
        md["Priority"] = queue.default_priority
    message = StoredMessage(dict(md), what.data, topic, manager.next_number(), properties=what.properties)
    if md["Expiry"] > 0:
        message.expires_at = manager.clock() + md["Expiry"] / 10
    message.put_by = unit
    queue.insert(message)
    if unit is not None:
        unit.unit.append(Change("put", queue, message))
    else:
        manager.keep([(queue, message)], [])


def _publish(
    manager: StandInQueueManager, topic: str, what: Publication, pmo: dict[str, Any], unit: Connection | None
) -> None:
    """To the subscribers of the highest level that the publication reaches, and to no other."""
    if pmo["Options"] & MQPMO_RETAIN:
        manager.retained[topic] = what
    level = pmo["PubLevel"] if pmo["Version"] >= 3 else 9
    reached = [s for s in manager.subscriptions.values() if s.level <= level and matches(s.topic, topic)]
    highest = max((s.level for s in reached), default=0)
    for subscription in reached:
        if subscription.level == highest:
            _hand_to(manager, subscription.queue, subscription.correlation_id, topic, what, unit)


def _hand_to(
    manager: StandInQueueManager,
    queue: Queue,
    correlation_id: bytes,
    topic: str,
    what: Publication,
    unit: Connection | None,
) -> None:
    copy = {**what.md, "CorrelId": correlation_id, "MsgId": manager.new_id()}
    _enqueue(manager, queue, what._replace(md=copy), topic, unit)


def publish_retained(manager: StandInQueueManager, pattern: str, queue: Queue, correlation_id: bytes) -> int:
    """How many there are."""
    found = [(topic, what) for topic, what in manager.retained.items() if matches(pattern, topic)]
    for topic, what in found:
        _hand_to(manager, queue, correlation_id, topic, what, None)
    return len(found)
