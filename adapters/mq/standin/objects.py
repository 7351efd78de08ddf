"""Opening and closing on the stand-in: queues, dynamic queues, topics, the queue manager itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from adapters.mq.mqi import (
    MQOO_FAIL_IF_QUIESCING,
    MQOO_INPUT_AS_Q_DEF,
    MQOO_INPUT_EXCLUSIVE,
    MQOO_INPUT_SHARED,
    MQOT_Q,
    MQRC_OBJECT_ALREADY_EXISTS,
    MQRC_OBJECT_IN_USE,
    MQRC_OBJECT_TYPE_ERROR,
    MQRC_OD_ERROR,
    MQRC_OPTIONS_ERROR,
    MQRC_Q_MGR_QUIESCING,
    MQRC_UNKNOWN_OBJECT_NAME,
)
from adapters.mq.standin.connections import ANY_INPUT, Connection, MqiError, OpenObject
from adapters.mq.standin.queues import Queue
from adapters.mq.standin.structures import OD, name, padded

if TYPE_CHECKING:
    from adapters.mq.standin.manager import StandInQueueManager

_REMOVE_SUBSCRIPTION: Final = 8  # MQCO_REMOVE_SUB


def open_object(
    manager: StandInQueueManager, connection: Connection, od: bytes, options: int, topic: str
) -> tuple[int, bytes]:
    """The handle, and the MQOD as the caller gets it back."""
    if not OD.is_valid(od):
        raise MqiError(MQRC_OD_ERROR)
    if manager.is_quiescing and options & MQOO_FAIL_IF_QUIESCING:
        raise MqiError(MQRC_Q_MGR_QUIESCING)
    fields = OD.unpack(od)
    resolved: dict[str, Any] = {}
    match fields["ObjectType"]:
        case 1:
            opened, resolved = _open_queue(manager, connection, fields, options)
        case 5:
            opened = OpenObject("manager", options)
        case 8:
            opened = OpenObject("topic", options, topic=topic)
        case _:
            raise MqiError(MQRC_OBJECT_TYPE_ERROR)
    return manager.new_handle(connection, opened), OD.patch(od, **resolved)


def _open_queue(
    manager: StandInQueueManager, connection: Connection, fields: dict[str, Any], options: int
) -> tuple[OpenObject, dict[str, Any]]:
    queue = manager.queues.get(name(fields["ObjectName"]))
    if queue is None or name(fields["ObjectQMgrName"]) not in ("", manager.name):
        raise MqiError(MQRC_UNKNOWN_OBJECT_NAME)
    inputs = options & (MQOO_INPUT_AS_Q_DEF | MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE)
    if inputs & (inputs - 1) or not options & 0x7F:
        raise MqiError(MQRC_OPTIONS_ERROR)
    if queue.is_model:
        queue = _dynamic(manager, connection, name(fields["DynamicQName"]))
    readers = [other.options for other in queue.opened if other.options & ANY_INPUT]
    if inputs and readers and any(o & MQOO_INPUT_EXCLUSIVE for o in (options, *readers)):
        raise MqiError(MQRC_OBJECT_IN_USE)
    opened = OpenObject("queue", options, queue)
    queue.opened.append(opened)
    names = {"ObjectName": padded(queue.name, 48), "ResolvedQName": padded(queue.name, 48)}
    return opened, {**names, "ResolvedQMgrName": padded(manager.name, 48), "ResolvedType": MQOT_Q}


def _dynamic(manager: StandInQueueManager, connection: Connection, wanted: str) -> Queue:
    unique = manager.unique_name()
    queue_name = wanted[:-1] + unique if wanted.endswith("*") else wanted or f"AMQ.{unique}"
    if queue_name in manager.queues:
        raise MqiError(MQRC_OBJECT_ALREADY_EXISTS)
    return manager.define(queue_name, temporary_owner=connection)


def close(manager: StandInQueueManager, connection: Connection, opened: OpenObject, options: int) -> None:
    queue, subscription = opened.queue, opened.subscription
    if queue is not None:
        if opened in queue.opened:
            queue.opened.remove(opened)
        if queue.temporary_owner is connection and not queue.opened:
            manager.queues.pop(queue.name, None)
    if subscription is not None and (not subscription.durable or options & _REMOVE_SUBSCRIPTION):
        manager.remove_subscription(subscription.name)
        if subscription.managed:
            manager.queues.pop(subscription.queue.name, None)


def close_all(manager: StandInQueueManager, connection: Connection) -> None:
    for opened in connection.objects.values():
        close(manager, connection, opened, 0)
    connection.objects.clear()
