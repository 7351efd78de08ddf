"""The stand-in queue manager: its state, everything in one process behind one lock, and what tests do to it.

Every verb (`verbs.py`) takes packed structures and gives a tuple that ends in completion code and reason, as the C functions do.
Tests hurt it on purpose: `fail_next`, `break_connections`, `stop` and `start`, `quiesce`, and the attributes of its queues.
"""

from __future__ import annotations

import itertools
import logging
import struct
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, Literal, NamedTuple

from adapters.mq.mqi import (
    MQCC_FAILED,
    MQRC_BACKED_OUT,
    MQRC_CONNECTION_BROKEN,
    MQRC_HCONN_ERROR,
    MQRC_HOST_NOT_AVAILABLE,
    MQRC_KEY_REPOSITORY_ERROR,
    MQRC_NOT_AUTHORIZED,
    MQRC_Q_MGR_NAME_ERROR,
    MQRC_Q_MGR_NOT_AVAILABLE,
    MQRC_Q_MGR_QUIESCING,
    MQRC_SSL_INITIALIZATION_ERROR,
    MQRC_SSL_PEER_NAME_MISMATCH,
    MQRC_UNKNOWN_CHANNEL_NAME,
)
from adapters.mq.standin import objects, units
from adapters.mq.standin.connections import Connection, Login, MqiError, OpenObject, Subscription, Tls
from adapters.mq.standin.queues import Publication, Queue, StoredMessage
from adapters.mq.standin.store import Store
from adapters.mq.standin.structures import padded
from adapters.mq.standin.verbs import VERBS, nothing_of

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
        tokens: Collection[str] = (),
        channels: Sequence[str] | None = None,
        tls: Tls | None = None,
        store: Store | None = None,
    ) -> None:
        """Without `users` and `tokens` everybody may connect; `tls` is what every caller must wish for."""
        self.name = name_
        self.changed = threading.Condition(threading.RLock())
        self.clock: Callable[[], float] = time.time
        self.dead_letter_queue = DEAD_LETTER_QUEUE
        self.queues: dict[str, Queue] = {}
        self.subscriptions: dict[str, Subscription] = {}
        self.retained: dict[str, Publication] = {}
        self.is_running = True
        self.is_quiescing = False
        self.calls: deque[tuple[str, int, int]] = deque(maxlen=10_000)  # verb, completion, reason
        self._users = users
        self._tokens = tokens
        self._channels = channels
        self._tls = tls
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
            units.back_out(self, connection)
            objects.close_all(self, connection)
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

    # What the modules of the verbs need

    def new_id(self) -> bytes:
        """As a queue manager makes them."""
        return b"AMQ " + padded(self.name, 12) + struct.pack(">II", self._birth, next(self._ids))

    def unique_name(self) -> str:
        return f"{self._birth:08X}{next(self._ids):06X}"

    def next_number(self) -> int:
        return next(self._numbers)

    def next_handle(self) -> int:
        return next(_handles)

    def new_handle(self, connection: Connection, opened: OpenObject) -> int:
        handle = self.next_handle()
        connection.objects[handle] = opened
        return handle

    def expire(self, queue: Queue) -> None:
        self.keep([], queue.expire(self.clock()))

    def keep(self, put: Sequence[tuple[Queue, StoredMessage]], gone: Sequence[StoredMessage]) -> None:
        if self._store is not None:
            self._store.change(put, gone)

    def add_subscription(self, subscription: Subscription) -> None:
        self.subscriptions[subscription.name] = subscription
        if self._store is not None and subscription.durable:
            self._store.subscribe(subscription)

    def remove_subscription(self, name_: str) -> None:
        self.subscriptions.pop(name_, None)
        if self._store is not None:
            self._store.unsubscribe(name_)

    def _restore(self, store: Store) -> None:
        for queue_name, message in store.load():
            self.define(queue_name).insert(message)
        for subscription in store.subscriptions(self.define):
            self.subscriptions[subscription.name] = subscription

    # Calls

    def call(self, verb: str, *arguments: Any) -> tuple[Any, ...]:
        """A verb of the MQI by its name; never raises."""
        with self.changed:
            faults = self._faults.get(verb)
            fault = faults.popleft() if faults else None
            try:
                if fault is not None and fault.when == "before":
                    raise self._fault(fault, arguments)
                result = VERBS[verb](self, *arguments)
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
            units.back_out(self, connection)
        return MqiError(fault.reason, fault.completion)

    # Connections

    def admit(self, name_: str, login: Login) -> int:
        """A handle for whoever may come in. Raises MqiError."""
        if not self.is_running:
            raise MqiError(MQRC_HOST_NOT_AVAILABLE if login.channel else MQRC_Q_MGR_NOT_AVAILABLE)
        if self.is_quiescing:
            raise MqiError(MQRC_Q_MGR_QUIESCING)
        if name_.lstrip("*") not in ("", self.name):
            raise MqiError(MQRC_Q_MGR_NAME_ERROR)
        if self._channels is not None and login.channel and login.channel not in self._channels:
            raise MqiError(MQRC_UNKNOWN_CHANNEL_NAME)
        if self._tls is not None:
            _compare(self._tls, login.tls)
        if self._users is not None or self._tokens:
            users = self._users or {}
            known = login.token in self._tokens if login.token is not None else login.user in users
            if not known or (login.token is None and users.get(login.user or "") != login.password):
                raise MqiError(MQRC_NOT_AUTHORIZED)
        return self.let_in(login)

    def let_in(self, login: Login) -> int:
        """Whoever it is: a handle."""
        handle = self.next_handle()
        self._connections[handle] = Connection(login)
        return handle

    def connection(self, handle: int) -> Connection | None:
        return self._connections.get(handle)

    def connected(self, handle: int) -> Connection:
        """Raises MqiError where there is no such connection, or none any more."""
        connection = self._connections.get(handle)
        if connection is None:
            raise MqiError(MQRC_HCONN_ERROR)
        if connection.is_broken or not self.is_running:
            self.break_connection(connection)
            raise MqiError(MQRC_CONNECTION_BROKEN)
        return connection

    def forget(self, handle: int) -> None:
        """The client is gone: what is left of its unit of work is backed out."""
        with self.changed:
            connection = self._connections.pop(handle, None)
            if connection is not None:
                self.break_connection(connection)


def _compare(asked: Tls, told: Tls) -> None:
    """As IBM's client ends where the two do not go together. Raises MqiError."""
    repository = told.key_repository, told.key_repository_password, told.certificate_label
    if repository != (asked.key_repository, asked.key_repository_password, asked.certificate_label):
        raise MqiError(MQRC_KEY_REPOSITORY_ERROR if told.key_repository else MQRC_SSL_INITIALIZATION_ERROR)
    if told.cipher != asked.cipher:
        raise MqiError(MQRC_SSL_INITIALIZATION_ERROR)
    if told.peer_name != asked.peer_name:
        raise MqiError(MQRC_SSL_PEER_NAME_MISMATCH)
