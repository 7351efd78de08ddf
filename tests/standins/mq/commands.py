"""A command server for the stand-in: as much of PCF as IBM's own tests need to make and remove queues and subscriptions.

It is a client of the queue manager as any other: a thread that gets from SYSTEM.ADMIN.COMMAND.QUEUE and puts to the reply queue.
"""

from __future__ import annotations

import fnmatch
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

from adapters.mq.mqi import (
    MQCC_FAILED,
    MQCC_OK,
    MQGMO_WAIT,
    MQOO_INPUT_SHARED,
    MQOT_Q,
    MQRC_NO_SUBSCRIPTION,
    MQRC_NONE,
    MQRC_UNKNOWN_OBJECT_NAME,
)
from adapters.mq.standin import attributes
from adapters.mq.standin.connections import Login, MqiError, Subscription
from adapters.mq.standin.manager import StandInQueueManager
from adapters.mq.standin.structures import GMO, MD, OD, PMO, name, padded

QUEUE: Final = "SYSTEM.ADMIN.COMMAND.QUEUE"
MOST: Final = 1_000_000
WAIT_MS: Final = 60_000
UTF_8: Final = 1208

INTEGER, STRING, INTEGERS, STRINGS, BYTES = 3, 4, 5, 6, 9  # MQCFT_…
Q_NAME, Q_TYPE, MAX_DEPTH, BACKOUT_THRESHOLD, TOPIC_STRING = 2016, 20, 15, 22, 2094
SUB_NAME, SUB_ID, DESTINATION, DESTINATION_CLASS = 3152, 7016, 3154, 1273
REPLACE, PURGE, MANAGED = 1006, 1007, 1
AUTH_INFO_NAME, CHECK_CLIENT, REQUIRED, CONN_AUTH = 2045, 258, 3, 2125
COMMAND_FAILED, OBJECT_ALREADY_EXISTS, OBJECT_OPEN, Q_NOT_EMPTY = 3008, 4001, 4004, 2055

Parameters = dict[int, Any]
Reply = list[bytes]  # parameters


def serve(manager: StandInQueueManager) -> None:
    manager.define(QUEUE, max_depth=MOST)
    threading.Thread(target=_run, args=(manager,), name="commands", daemon=True).start()


def _run(manager: StandInQueueManager) -> None:
    handle = manager.let_in(Login(application="commands"))
    od = OD.patch(b"OD  " + struct.pack("i", 1) + bytes(160), ObjectType=MQOT_Q, ObjectName=padded(QUEUE, 48))
    object_ = manager.call("MQOPEN", handle, od, MQOO_INPUT_SHARED, "")[0]
    gmo = GMO.patch(b"GMO " + struct.pack("i", 1) + bytes(64), Options=MQGMO_WAIT, WaitInterval=WAIT_MS)
    blank = b"MD  " + struct.pack("i", 2) + bytes(356)
    while True:
        data, md, *_, completion, _ = manager.call("MQGET", handle, object_, blank, gmo, MOST)
        if completion != MQCC_OK:
            continue
        asked = MD.unpack(md)
        command, parameters = parse(data)
        with manager.changed:
            try:
                replies = list(_COMMANDS[command](manager, parameters)) if command in _COMMANDS else None
                reason = MQRC_NONE if replies is not None else COMMAND_FAILED
            except MqiError as error:
                replies, reason = None, error.reason
        replies = replies or [[]]
        to = OD.patch(b"OD  " + struct.pack("i", 1) + bytes(160), ObjectType=MQOT_Q, ObjectName=asked["ReplyToQ"])
        for number, reply in enumerate(replies, 1):
            head = struct.pack(
                "9i", 2, 36, 3, command, number, number == len(replies), MQCC_FAILED if reason else MQCC_OK, reason, len(reply)
            )  # fmt: skip
            answer = MD.patch(
                blank, CorrelId=asked["MsgId"], Format=b"MQADMIN ", MsgType=2, Expiry=-1, Encoding=546,
                CodedCharSetId=UTF_8, MsgSeqNumber=1, OriginalLength=-1,
            )  # fmt: skip
            pmo = PMO.patch(b"PMO " + struct.pack("i", 1) + bytes(120))
            manager.call("MQPUT1", handle, to, answer, pmo, head + b"".join(reply), "")


def parse(data: bytes) -> tuple[int, Parameters]:
    """The command and its parameters, by number."""
    _, at, _, command, *_, count = struct.unpack_from("9i", data)
    found: Parameters = {}
    for _ in range(count):
        kind, size, number = struct.unpack_from("3i", data, at)
        if kind == INTEGER:
            (found[number],) = struct.unpack_from("i", data, at + 12)
        elif kind == STRING:
            (length,) = struct.unpack_from("i", data, at + 16)
            found[number] = name(data[at + 20 : at + 20 + length])
        elif kind == INTEGERS:
            (length,) = struct.unpack_from("i", data, at + 12)
            found[number] = struct.unpack_from(f"{length}i", data, at + 16)
        elif kind == BYTES:
            (length,) = struct.unpack_from("i", data, at + 12)
            found[number] = data[at + 16 : at + 16 + length]
        at += size
    return command, found


def _integer(number: int, value: int) -> bytes:
    return struct.pack("4i", INTEGER, 16, number, value)


def _string(number: int, text: str, size: int = 0) -> bytes:
    octets = padded(text, size) if size else text.encode()
    filled = octets + bytes(-len(octets) % 4)
    return struct.pack("5i", STRING, 20 + len(filled), number, UTF_8, len(octets)) + filled


def _octets(number: int, octets: bytes) -> bytes:
    filled = octets + bytes(-len(octets) % 4)
    return struct.pack("4i", BYTES, 16 + len(filled), number, len(octets)) + filled


def _create_queue(manager: StandInQueueManager, given: Parameters) -> Iterator[Reply]:
    if given[Q_NAME] in manager.queues and given.get(REPLACE) != 1:
        raise MqiError(OBJECT_ALREADY_EXISTS)
    manager.define(
        given[Q_NAME], max_depth=given.get(MAX_DEPTH, 5000), backout_threshold=given.get(BACKOUT_THRESHOLD, 0)
    )
    return iter(())


def _delete_queue(manager: StandInQueueManager, given: Parameters) -> Iterator[Reply]:
    queue = manager.queues.get(given[Q_NAME])
    if queue is None:
        raise MqiError(MQRC_UNKNOWN_OBJECT_NAME)
    if queue.opened:
        raise MqiError(OBJECT_OPEN)
    if queue.messages and given.get(PURGE) != 1:
        raise MqiError(Q_NOT_EMPTY)
    del manager.queues[queue.name]
    return iter(())


def _inquire_queue(manager: StandInQueueManager, given: Parameters) -> Iterator[Reply]:
    found = [queue for key, queue in sorted(manager.queues.items()) if fnmatch.fnmatchcase(key, given[Q_NAME])]
    if not found:
        raise MqiError(MQRC_UNKNOWN_OBJECT_NAME)
    for queue in found:
        yield [_string(Q_NAME, queue.name, 48), _integer(Q_TYPE, 1), _integer(MAX_DEPTH, queue.max_depth)]


def _inquire_manager(manager: StandInQueueManager, _: Parameters) -> Iterator[Reply]:
    numbers = [_integer(n, v) for n in (2, 13, 14, 31, 32) if isinstance(v := attributes.of(manager, None, n), int)]
    yield [_string(2015, manager.name, 48), _string(CONN_AUTH, "SYSTEM.DEFAULT.AUTHINFO.IDPWOS", 48), *numbers]


def _inquire_login(_: StandInQueueManager, given: Parameters) -> Iterator[Reply]:
    yield [_string(AUTH_INFO_NAME, given[AUTH_INFO_NAME], 48), _integer(CHECK_CLIENT, REQUIRED)]


def _create_subscription(manager: StandInQueueManager, given: Parameters) -> Iterator[Reply]:
    if given[SUB_NAME] in manager.subscriptions and given.get(REPLACE) != 1:
        raise MqiError(OBJECT_ALREADY_EXISTS)
    managed = given[DESTINATION_CLASS] == MANAGED
    if managed:
        queue = manager.define(f"SYSTEM.MANAGED.DURABLE.{manager.unique_name()}")
    elif given[DESTINATION] in manager.queues:
        queue = manager.queues[given[DESTINATION]]
    else:
        raise MqiError(MQRC_UNKNOWN_OBJECT_NAME)
    id_ = manager.new_id()
    made = Subscription(given[SUB_NAME], given[TOPIC_STRING], queue, durable=True, managed=managed, correlation_id=id_)
    manager.add_subscription(made)
    return iter(())


def _inquire_subscription(manager: StandInQueueManager, given: Parameters) -> Iterator[Reply]:
    found = [s for key, s in manager.subscriptions.items() if fnmatch.fnmatchcase(key, given[SUB_NAME])]
    if not found:
        raise MqiError(MQRC_NO_SUBSCRIPTION)
    for subscription in found:
        yield [
            _string(SUB_NAME, subscription.name),
            _octets(SUB_ID, subscription.correlation_id),
            _string(TOPIC_STRING, subscription.topic),
        ]


def _delete_subscription(manager: StandInQueueManager, given: Parameters) -> Iterator[Reply]:
    for key, subscription in manager.subscriptions.items():
        if key == given.get(SUB_NAME) or subscription.correlation_id == given.get(SUB_ID):
            manager.remove_subscription(key)
            return iter(())
    raise MqiError(MQRC_NO_SUBSCRIPTION)


def _accept(_: StandInQueueManager, __: Parameters) -> Iterator[Reply]:
    return iter(())


_COMMANDS: Final[dict[int, Callable[[StandInQueueManager, Parameters], Iterator[Reply]]]] = {
    2: _inquire_manager,
    11: _create_queue,
    12: _delete_queue,
    13: _inquire_queue,
    40: _accept,  # MQCMD_PING_Q_MGR
    83: _inquire_login,  # MQCMD_INQUIRE_AUTH_INFO
    90: _accept,  # MQCMD_SET_AUTH_REC: nobody is kept from anything here
    176: _inquire_subscription,
    177: _create_subscription,
    179: _delete_subscription,
}
