"""The stand-in queue manager: the verbs of the MQI, with everything in one process behind one lock.

Every verb takes packed structures and gives a tuple that ends in completion code and reason, as the C functions do. Tests hurt it
on purpose: `fail_next`, `break_connections`, `stop` and `start`, `quiesce`, and the attributes of its queues.
"""

from __future__ import annotations

import itertools
import logging
import os
import struct
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NamedTuple

from adapters.mq.mqi import (
    MQCC_FAILED,
    MQCC_OK,
    MQOO_BROWSE,
    MQOO_FAIL_IF_QUIESCING,
    MQOO_INPUT_AS_Q_DEF,
    MQOO_INPUT_EXCLUSIVE,
    MQOO_INPUT_SHARED,
    MQOO_INQUIRE,
    MQOO_OUTPUT,
    MQOO_SAVE_ALL_CONTEXT,
    MQOO_SET,
    MQOT_Q,
    MQRC_BACKED_OUT,
    MQRC_CONNECTION_BROKEN,
    MQRC_FUNCTION_NOT_SUPPORTED,
    MQRC_HCONN_ERROR,
    MQRC_HOST_NOT_AVAILABLE,
    MQRC_NO_EXTERNAL_PARTICIPANTS,
    MQRC_NO_SUBSCRIPTION,
    MQRC_NONE,
    MQRC_NOT_AUTHORIZED,
    MQRC_NOT_OPEN_FOR_INQUIRE,
    MQRC_NOT_OPEN_FOR_OUTPUT,
    MQRC_NOT_OPEN_FOR_SET,
    MQRC_OBJECT_ALREADY_EXISTS,
    MQRC_OBJECT_IN_USE,
    MQRC_OBJECT_TYPE_ERROR,
    MQRC_OD_ERROR,
    MQRC_OPTIONS_ERROR,
    MQRC_Q_MGR_NAME_ERROR,
    MQRC_Q_MGR_NOT_AVAILABLE,
    MQRC_Q_MGR_QUIESCING,
    MQRC_SD_ERROR,
    MQRC_SELECTOR_ERROR,
    MQRC_SUB_ALREADY_EXISTS,
    MQRC_UNKNOWN_CHANNEL_NAME,
    MQRC_UNKNOWN_OBJECT_NAME,
    MQSO_ALTER,
    MQSO_CREATE,
    MQSO_DURABLE,
    MQSO_MANAGED,
    MQSO_RESUME,
)  # fmt: skip
from adapters.mq.standin import attributes, getting, putting
from adapters.mq.standin.connections import Connection, Login, MqiError, OpenObject, Subscription
from adapters.mq.standin.queues import Queue, StoredMessage
from adapters.mq.standin.store import Store
from adapters.mq.standin.structures import OD, PMO, SD, name, padded

DEAD_LETTER_QUEUE: Final = "SYSTEM.DEAD.LETTER.QUEUE"
MODEL_QUEUE: Final = "SYSTEM.DEFAULT.MODEL.QUEUE"
_handles: Final = itertools.count(1)  # of all stand-ins in this process: a handle tells whose it is
_log: Final = logging.getLogger("isthmus.mq.standin")


class _Fault(NamedTuple):
    reason: int
    completion: int
    when: Literal["before", "after"]


class StandInQueueManager:
    """A queue manager that is none. One lock guards all of it; `changed` is notified on every change."""

    def __init__(
        self,
        name_: str = "QM1",
        *,
        users: dict[str, str] | None = None,
        channels: Sequence[str] | None = None,
        store: Store | None = None,
    ) -> None:
        self.name = name_
        self.changed = threading.Condition(threading.RLock())
        self.clock: Callable[[], float] = time.time
        self.dead_letter_queue = DEAD_LETTER_QUEUE
        self.queues: dict[str, Queue] = {}
        self.subscriptions: dict[str, Subscription] = {}
        self.retained: dict[str, tuple[dict[str, Any], bytes]] = {}
        self.is_running = True
        self.is_quiescing = False
        self.calls: deque[tuple[str, int, int]] = deque(maxlen=10_000)  # verb, completion, reason
        self._users = users
        self._channels = channels
        self._store = store
        self._connections: dict[int, Connection] = {}
        self._faults: dict[str, deque[_Fault]] = defaultdict(deque)
        self._numbers = itertools.count(time.time_ns())
        self._birth = int(time.time()) & 0xFFFFFFFF
        self._ids = itertools.count(1)
        self.define(MODEL_QUEUE, is_model=True)
        self.define(DEAD_LETTER_QUEUE)
        if store is not None:
            self._restore(store)
        _log.warning("STAND-IN queue manager %s: not IBM MQ, for tests and trials only", name_)

    # What tests and hosts do

    def define(self, name_: str, **attributes_: Any) -> Queue:
        """A queue with these attributes; what is on one of the same name stays."""
        with self.changed:
            queue = self.queues.get(name_) or self.queues.setdefault(name_, Queue(name_))
            for attribute, value in attributes_.items():
                if attribute not in Queue.__slots__:
                    raise AttributeError(attribute)
                setattr(queue, attribute, value)
            self.changed.notify_all()
            return queue

    def fail_next(
        self,
        verb: str,
        reason: int,
        *,
        completion: int = MQCC_FAILED,
        when: Literal["before", "after"] = "before",
        count: int = 1,
    ) -> None:
        """The next call of a verb fails: before it did anything, or after it did all (the answer was lost)."""
        with self.changed:
            self._faults[verb].extend([_Fault(reason, completion, when)] * count)

    def forget_faults(self) -> None:
        with self.changed:
            self._faults.clear()

    def break_connections(self) -> None:
        with self.changed:
            for connection in self._connections.values():
                self.break_connection(connection)
            self.changed.notify_all()

    def break_connection(self, connection: Connection) -> None:
        """Its unit of work is backed out."""
        if not connection.is_broken:
            connection.is_broken = True
            self._back_out(connection)
            self._close_all(connection)
            self.changed.notify_all()

    def stop(self) -> None:
        """As when the queue manager's machine dies: connections break, and what is not persistent is gone."""
        with self.changed:
            self.break_connections()
            self.is_running = False
            for queue in self.queues.values():
                queue.messages = [message for message in queue.messages if message.is_persistent]
                queue.depth = len(queue.messages)
            self.changed.notify_all()

    def start(self) -> None:
        with self.changed:
            self.is_running = True
            self.is_quiescing = False

    def quiesce(self) -> None:
        with self.changed:
            self.is_quiescing = True
            self.changed.notify_all()

    def connection(self, handle: int) -> Connection | None:
        return self._connections.get(handle)

    # What the modules of the verbs need

    def new_id(self) -> bytes:
        """As a queue manager makes them."""
        return b"AMQ " + padded(self.name, 12) + struct.pack(">II", self._birth, next(self._ids))

    def next_number(self) -> int:
        return next(self._numbers)

    def expire(self, queue: Queue) -> None:
        self.keep([], queue.expire(self.clock()))

    def keep(self, put: Sequence[tuple[Queue, StoredMessage]], gone: Sequence[StoredMessage]) -> None:
        if self._store is not None:
            self._store.change(put, gone)

    def _restore(self, store: Store) -> None:
        for queue_name, message in store.load():
            self.define(queue_name).insert(message)

    # Calls

    def call(self, verb: str, *arguments: Any) -> tuple[Any, ...]:
        """A verb of the MQI by its name; never raises."""
        with self.changed:
            faults = self._faults.get(verb)
            fault = faults.popleft() if faults else None
            try:
                if fault is not None and fault.when == "before":
                    raise self._fault(fault, arguments)
                result: tuple[Any, ...] = getattr(self, verb)(*arguments)
                if fault is not None:
                    raise self._fault(fault, arguments)
            except MqiError as error:
                result = (*nothing_of(verb, arguments), error.completion, error.reason)
            self.calls.append((verb, result[-2], result[-1]))
            return result

    def _fault(self, fault: _Fault, arguments: tuple[Any, ...]) -> MqiError:
        connection = self._connections.get(arguments[0]) if arguments and isinstance(arguments[0], int) else None
        if fault.reason == MQRC_CONNECTION_BROKEN and connection is not None:
            self.break_connection(connection)
        elif fault.reason == MQRC_BACKED_OUT and connection is not None:
            self._back_out(connection)
        return MqiError(fault.reason, fault.completion)

    def _connection(self, handle: int) -> Connection:
        connection = self._connections.get(handle)
        if connection is None:
            raise MqiError(MQRC_HCONN_ERROR)
        if connection.is_broken or not self.is_running:
            self.break_connection(connection)
            raise MqiError(MQRC_CONNECTION_BROKEN)
        return connection

    # Connections

    def MQCONNX(self, name_: str, login: Login) -> tuple[int, int, int]:
        if not self.is_running:
            raise MqiError(MQRC_HOST_NOT_AVAILABLE if login.channel else MQRC_Q_MGR_NOT_AVAILABLE)
        if self.is_quiescing:
            raise MqiError(MQRC_Q_MGR_QUIESCING)
        if name_.lstrip("*") not in ("", self.name):
            raise MqiError(MQRC_Q_MGR_NAME_ERROR)
        if self._channels is not None and login.channel and login.channel not in self._channels:
            raise MqiError(MQRC_UNKNOWN_CHANNEL_NAME)
        if self._users is not None and (login.user is None or self._users.get(login.user) != login.password):
            raise MqiError(MQRC_NOT_AUTHORIZED)
        handle = next(_handles)
        self._connections[handle] = Connection(login)
        return handle, MQCC_OK, MQRC_NONE

    def MQDISC(self, handle: int) -> tuple[int, int]:
        """Commits: that is what MQDISC does with a unit of work that is open."""
        connection = self._connection(handle)
        self._commit(connection)
        self._close_all(connection)
        del self._connections[handle]
        return MQCC_OK, MQRC_NONE

    def forget(self, handle: int) -> None:
        """The client is gone without MQDISC: its unit of work is backed out."""
        with self.changed:
            connection = self._connections.pop(handle, None)
            if connection is not None:
                self.break_connection(connection)

    # Units of work

    def MQBEGIN(self, handle: int) -> tuple[int, int]:
        self._connection(handle)
        return MQCC_FAILED, MQRC_NO_EXTERNAL_PARTICIPANTS

    def MQCMIT(self, handle: int) -> tuple[int, int]:
        self._commit(self._connection(handle))
        return MQCC_OK, MQRC_NONE

    def MQBACK(self, handle: int) -> tuple[int, int]:
        self._back_out(self._connection(handle))
        return MQCC_OK, MQRC_NONE

    def _commit(self, connection: Connection) -> None:
        unit, connection.unit = connection.unit, []
        if not unit:
            return
        self.keep([(c.queue, c.message) for c in unit if c.kind == "put"], [c.message for c in unit if c.kind == "get"])
        for kind, queue, message in unit:
            if kind == "put":
                message.put_by = None
            else:
                queue.remove(message)
        self.changed.notify_all()

    def _back_out(self, connection: Connection) -> None:
        unit, connection.unit = connection.unit, []
        for kind, queue, message in unit:
            if kind == "put":
                queue.remove(message)
                queue.depth -= 1
            else:
                message.got_by = None
                message.backout_count += 1
                queue.depth += 1
        self.keep([(c.queue, c.message) for c in unit if c.kind == "get"], [])
        if unit:
            self.changed.notify_all()

    # Objects

    def MQOPEN(self, handle: int, od: bytes, options: int, topic: str = "") -> tuple[int, bytes, int, int]:
        connection = self._connection(handle)
        if not OD.is_valid(od):
            raise MqiError(MQRC_OD_ERROR)
        if self.is_quiescing and options & MQOO_FAIL_IF_QUIESCING:
            raise MqiError(MQRC_Q_MGR_QUIESCING)
        fields = OD.unpack(od)
        resolved: dict[str, Any] = {}
        match fields["ObjectType"]:
            case 1:
                opened, resolved = self._open_queue(connection, fields, options)
            case 5:
                opened = OpenObject("manager", options)
            case 8:
                opened = OpenObject("topic", options, topic=topic)
            case _:
                raise MqiError(MQRC_OBJECT_TYPE_ERROR)
        return self._opened(connection, opened), OD.patch(od, **resolved), MQCC_OK, MQRC_NONE

    def _open_queue(
        self, connection: Connection, fields: dict[str, Any], options: int
    ) -> tuple[OpenObject, dict[str, Any]]:
        queue = self.queues.get(name(fields["ObjectName"]))
        if queue is None or name(fields["ObjectQMgrName"]) not in ("", self.name):
            raise MqiError(MQRC_UNKNOWN_OBJECT_NAME)
        inputs = options & (MQOO_INPUT_AS_Q_DEF | MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE)
        if inputs & (inputs - 1) or not options & 0x7F:
            raise MqiError(MQRC_OPTIONS_ERROR)
        if queue.is_model:
            queue = self._dynamic(connection, name(fields["DynamicQName"]))
        readers = [other.options for other in queue.opened if other.options & getting.ANY_INPUT]
        if inputs and readers and any(o & MQOO_INPUT_EXCLUSIVE for o in (options, *readers)):
            raise MqiError(MQRC_OBJECT_IN_USE)
        opened = OpenObject("queue", options, queue)
        queue.opened.append(opened)
        names = {"ObjectName": padded(queue.name, 48), "ResolvedQName": padded(queue.name, 48)}
        return opened, {**names, "ResolvedQMgrName": padded(self.name, 48), "ResolvedType": MQOT_Q}

    def _dynamic(self, connection: Connection, wanted: str) -> Queue:
        unique = f"{self._birth:08X}{next(self._ids):06X}"
        queue_name = wanted[:-1] + unique if wanted.endswith("*") else wanted or f"AMQ.{unique}"
        if queue_name in self.queues:
            raise MqiError(MQRC_OBJECT_ALREADY_EXISTS)
        return self.define(queue_name, temporary_owner=connection)

    def _opened(self, connection: Connection, opened: OpenObject) -> int:
        handle = next(_handles)
        connection.objects[handle] = opened
        return handle

    def MQCLOSE(self, handle: int, object_handle: int, options: int) -> tuple[int, int]:
        connection = self._connection(handle)
        self._close(connection, connection.object(object_handle), options)
        del connection.objects[object_handle]
        return MQCC_OK, MQRC_NONE

    def _close(self, connection: Connection, opened: OpenObject, options: int) -> None:
        queue, subscription = opened.queue, opened.subscription
        if queue is not None:
            if opened in queue.opened:
                queue.opened.remove(opened)
            if queue.temporary_owner is connection and not queue.opened:
                self.queues.pop(queue.name, None)
        if subscription is not None and (not subscription.durable or options & 8):
            self.subscriptions.pop(subscription.name, None)
            if subscription.managed:
                self.queues.pop(subscription.queue.name, None)

    def _close_all(self, connection: Connection) -> None:
        for opened in connection.objects.values():
            self._close(connection, opened, 0)
        connection.objects.clear()

    # Messages

    def MQPUT(
        self, handle: int, object_handle: int, md: bytes, pmo: bytes, data: bytes
    ) -> tuple[bytes, bytes, int, int]:
        connection = self._connection(handle)
        opened = connection.object(object_handle, "queue", "topic")
        if not opened.options & MQOO_OUTPUT:
            raise MqiError(MQRC_NOT_OPEN_FOR_OUTPUT)
        return putting.put(self, connection, opened, md, pmo, data)

    def MQPUT1(
        self, handle: int, od: bytes, md: bytes, pmo: bytes, data: bytes, topic: str = ""
    ) -> tuple[bytes, bytes, int, int]:
        context = PMO.unpack(pmo)["Options"] & 0xF00 if PMO.is_valid(pmo) else 0
        object_handle = self.MQOPEN(handle, od, MQOO_OUTPUT | context, topic)[0]
        try:
            return self.MQPUT(handle, object_handle, md, pmo, data)
        finally:
            self.MQCLOSE(handle, object_handle, 0)

    def MQGET(self, handle: int, object_handle: int, md: bytes, gmo: bytes, buffer_length: int) -> getting.Got:
        connection = self._connection(handle)
        opened = connection.object(object_handle, "queue")
        return getting.get(self, connection, opened, md, gmo, buffer_length)

    # Attributes

    def MQINQ(
        self, handle: int, object_handle: int, selectors: Sequence[int]
    ) -> tuple[tuple[int, ...], bytes, int, int]:
        opened = self._connection(handle).object(object_handle, "queue", "manager")
        if not opened.options & MQOO_INQUIRE:
            raise MqiError(MQRC_NOT_OPEN_FOR_INQUIRE)
        numbers: list[int] = []
        texts = b""
        for selector in selectors:
            value = attributes.of(self, opened.queue, selector)
            if isinstance(value, bytes):
                texts += value
            elif value is not None:
                numbers.append(value)
            else:
                raise MqiError(MQRC_SELECTOR_ERROR)
        return tuple(numbers), texts, MQCC_OK, MQRC_NONE

    def MQSET(
        self, handle: int, object_handle: int, selectors: Sequence[int], numbers: Sequence[int], _: bytes
    ) -> tuple[int, int]:
        opened = self._connection(handle).object(object_handle, "queue")
        if not opened.options & MQOO_SET:
            raise MqiError(MQRC_NOT_OPEN_FOR_SET)
        assert opened.queue is not None
        for selector, value in zip(selectors, numbers, strict=False):
            if not attributes.change(opened.queue, selector, value):
                raise MqiError(MQRC_SELECTOR_ERROR)
        self.changed.notify_all()
        return MQCC_OK, MQRC_NONE

    # Publish and subscribe

    def MQSUB(
        self, handle: int, sd: bytes, queue_handle: int, topic: str = "", sub_name: str = ""
    ) -> tuple[bytes, int, int, int, int]:
        connection = self._connection(handle)
        if not SD.is_valid(sd):
            raise MqiError(MQRC_SD_ERROR)
        fields = SD.unpack(sd)
        options = fields["Options"]
        subscription = self.subscriptions.get(sub_name) if sub_name else None
        if subscription is None:
            if not options & MQSO_CREATE:
                raise MqiError(MQRC_NO_SUBSCRIPTION)
            subscription = self._subscribe(connection, fields, queue_handle, topic, sub_name)
        elif not options & (MQSO_RESUME | MQSO_ALTER):
            raise MqiError(MQRC_SUB_ALREADY_EXISTS)
        if queue_handle not in connection.objects:
            options_ = MQOO_INPUT_SHARED | MQOO_BROWSE | MQOO_INQUIRE | MQOO_SAVE_ALL_CONTEXT
            opened = OpenObject("queue", options_, subscription.queue)
            subscription.queue.opened.append(opened)
            queue_handle = self._opened(connection, opened)
        subscription_handle = self._opened(connection, OpenObject("subscription", 0, subscription=subscription))
        told = options & ~(MQSO_DURABLE | MQSO_MANAGED)
        told |= (MQSO_DURABLE if subscription.durable else 0) | (MQSO_MANAGED if subscription.managed else 0)
        changed = SD.patch(sd, SubCorrelId=subscription.correlation_id, Options=told)
        return changed, queue_handle, subscription_handle, MQCC_OK, MQRC_NONE

    def _subscribe(
        self, connection: Connection, fields: dict[str, Any], queue_handle: int, topic: str, sub_name: str
    ) -> Subscription:
        options = fields["Options"]
        durable, managed = bool(options & MQSO_DURABLE), bool(options & MQSO_MANAGED)
        if managed:
            kind = "DURABLE" if durable else "NDURABLE"
            queue = self.define(f"SYSTEM.MANAGED.{kind}.{self._birth:08X}{next(self._ids):06X}")
        else:
            own = connection.object(queue_handle, "queue").queue
            assert own is not None
            queue = own
        unique = sub_name or os.urandom(12).hex()
        subscription = Subscription(unique, topic, queue, durable, managed, os.urandom(24), fields["SubLevel"])
        self.subscriptions[unique] = subscription
        putting.publish_retained(self, topic, queue, subscription.correlation_id)
        return subscription

    def not_supported(self, *_: Any) -> tuple[int, int]:
        return MQCC_FAILED, MQRC_FUNCTION_NOT_SUPPORTED


def nothing_of(verb: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a verb gives beside completion code and reason when it fails: its structures as they were."""
    match verb:
        case "MQCONNX":
            return (-1,)
        case "MQOPEN":
            return (-1, arguments[1])
        case "MQPUT" | "MQPUT1":
            return (arguments[2], arguments[3])
        case "MQGET":
            return (b"", arguments[2], arguments[3], 0)
        case "MQINQ":
            return ((), b"")
        case "MQSUB":
            return (arguments[1], arguments[2], -1)
    return ()
