"""MQSUB and MQSUBRQ on the stand-in."""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING, Any

from adapters.mq.mqi import (
    MQOO_BROWSE,
    MQOO_INPUT_SHARED,
    MQOO_INQUIRE,
    MQOO_SAVE_ALL_CONTEXT,
    MQRC_NO_SUBSCRIPTION,
    MQRC_SD_ERROR,
    MQRC_SUB_ALREADY_EXISTS,
    MQSO_ALTER,
    MQSO_CREATE,
    MQSO_DURABLE,
    MQSO_MANAGED,
    MQSO_RESUME,
)
from adapters.mq.standin import putting
from adapters.mq.standin.connections import Connection, MqiError, OpenObject, Subscription
from adapters.mq.standin.structures import SD

if TYPE_CHECKING:
    from adapters.mq.standin.manager import StandInQueueManager


def subscribe(
    manager: StandInQueueManager, connection: Connection, sd: bytes, queue_handle: int, topic: str, sub_name: str
) -> tuple[bytes, int, int]:
    """The MQSD as the caller gets it back, the handle of the queue, and that of the subscription."""
    if not SD.is_valid(sd):
        raise MqiError(MQRC_SD_ERROR)
    fields = SD.unpack(sd)
    options = fields["Options"]
    subscription = manager.subscriptions.get(sub_name) if sub_name else None
    if subscription is None:
        if not options & MQSO_CREATE:
            raise MqiError(MQRC_NO_SUBSCRIPTION)
        subscription = _create(manager, connection, fields, queue_handle, topic, sub_name)
    elif not options & (MQSO_RESUME | MQSO_ALTER):
        raise MqiError(MQRC_SUB_ALREADY_EXISTS)
    if queue_handle not in connection.objects:
        options_ = MQOO_INPUT_SHARED | MQOO_BROWSE | MQOO_INQUIRE | MQOO_SAVE_ALL_CONTEXT
        opened = OpenObject("queue", options_, subscription.queue)
        subscription.queue.opened.append(opened)
        queue_handle = manager.new_handle(connection, opened)
    subscription_handle = manager.new_handle(connection, OpenObject("subscription", 0, subscription=subscription))
    told = options & ~(MQSO_DURABLE | MQSO_MANAGED)
    told |= (MQSO_DURABLE if subscription.durable else 0) | (MQSO_MANAGED if subscription.managed else 0)
    changed = SD.patch(sd, SubCorrelId=subscription.correlation_id, Options=told)
    return changed, queue_handle, subscription_handle


def _create(
    manager: StandInQueueManager,
    connection: Connection,
    fields: dict[str, Any],
    queue_handle: int,
    topic: str,
    sub_name: str,
) -> Subscription:
    options = fields["Options"]
    durable, managed = bool(options & MQSO_DURABLE), bool(options & MQSO_MANAGED)
    if managed:
        kind = "DURABLE" if durable else "NDURABLE"
        queue = manager.define(f"SYSTEM.MANAGED.{kind}.{manager.unique_name()}")
    else:
        own = connection.object(queue_handle, "queue").queue
        assert own is not None
        queue = own
    unique = sub_name or os.urandom(12).hex()
    subscription = Subscription(unique, topic, queue, durable, managed, os.urandom(24), fields["SubLevel"])
    manager.add_subscription(subscription)
    putting.publish_retained(manager, topic, queue, subscription.correlation_id)
    return subscription


def request(manager: StandInQueueManager, subscription: Subscription, sro: bytes) -> bytes:
    """What is retained, once more; the MQSRO says how many publications that were."""
    count = putting.publish_retained(manager, subscription.topic, subscription.queue, subscription.correlation_id)
    return sro[:12] + struct.pack("i", count)
