"""The verbs of the MQI that the stand-in knows, by name: packed structures in, a tuple that ends in completion code and reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from adapters.mq.mqi import (
    MQCC_FAILED,
    MQCC_OK,
    MQOO_INQUIRE,
    MQOO_OUTPUT,
    MQOO_SET,
    MQRC_NO_EXTERNAL_PARTICIPANTS,
    MQRC_NONE,
    MQRC_NOT_OPEN_FOR_INQUIRE,
    MQRC_NOT_OPEN_FOR_OUTPUT,
    MQRC_NOT_OPEN_FOR_SET,
    MQRC_SELECTOR_ERROR,
)
from adapters.mq.standin import attributes, getting, objects, properties, putting, subscribing, units
from adapters.mq.standin.connections import Login, MqiError
from adapters.mq.standin.structures import PMO

if TYPE_CHECKING:
    from adapters.mq.standin.manager import StandInQueueManager

DONE: Final = MQCC_OK, MQRC_NONE

# Connections and units of work


def MQCONNX(manager: StandInQueueManager, name: str, login: Login) -> tuple[int, int, int]:
    return manager.admit(name, login), *DONE


def MQDISC(manager: StandInQueueManager, handle: int) -> tuple[int, int]:
    """Commits: that is what MQDISC does with a unit of work that is open."""
    connection = manager.connected(handle)
    units.commit(manager, connection)
    manager.forget(handle)
    return DONE


def MQBEGIN(manager: StandInQueueManager, handle: int) -> tuple[int, int]:
    manager.connected(handle)
    return MQCC_FAILED, MQRC_NO_EXTERNAL_PARTICIPANTS


def MQCMIT(manager: StandInQueueManager, handle: int) -> tuple[int, int]:
    units.commit(manager, manager.connected(handle))
    return DONE


def MQBACK(manager: StandInQueueManager, handle: int) -> tuple[int, int]:
    units.back_out(manager, manager.connected(handle))
    return DONE


# Objects


def MQOPEN(
    manager: StandInQueueManager, handle: int, od: bytes, options: int, topic: str = ""
) -> tuple[int, bytes, int, int]:
    return *objects.open_object(manager, manager.connected(handle), od, options, topic), *DONE


def MQCLOSE(manager: StandInQueueManager, handle: int, object_handle: int, options: int) -> tuple[int, int]:
    connection = manager.connected(handle)
    objects.close(manager, connection, connection.object(object_handle), options)
    del connection.objects[object_handle]
    return DONE


def MQINQ(
    manager: StandInQueueManager, handle: int, object_handle: int, selectors: Sequence[int]
) -> tuple[tuple[int, ...], bytes, int, int]:
    opened = manager.connected(handle).object(object_handle, "queue", "manager")
    if not opened.options & MQOO_INQUIRE:
        raise MqiError(MQRC_NOT_OPEN_FOR_INQUIRE)
    numbers: list[int] = []
    texts = b""
    for selector in selectors:
        value = attributes.of(manager, opened.queue, selector)
        if isinstance(value, bytes):
            texts += value
        elif value is not None:
            numbers.append(value)
        else:
            raise MqiError(MQRC_SELECTOR_ERROR)
    return tuple(numbers), texts, *DONE


def MQSET(
    manager: StandInQueueManager,
    handle: int,
    object_handle: int,
    selectors: Sequence[int],
    numbers: Sequence[int],
    _: bytes,
) -> tuple[int, int]:
    opened = manager.connected(handle).object(object_handle, "queue")
    if not opened.options & MQOO_SET:
        raise MqiError(MQRC_NOT_OPEN_FOR_SET)
    assert opened.queue is not None
    for selector, value in zip(selectors, numbers, strict=False):
        if not attributes.change(opened.queue, selector, value):
            raise MqiError(MQRC_SELECTOR_ERROR)
    manager.changed.notify_all()
    return DONE


# Messages


def MQPUT(
    manager: StandInQueueManager, handle: int, object_handle: int, md: bytes, pmo: bytes, data: bytes
) -> tuple[bytes, bytes, int, int]:
    connection = manager.connected(handle)
    opened = connection.object(object_handle, "queue", "topic")
    if not opened.options & MQOO_OUTPUT:
        raise MqiError(MQRC_NOT_OPEN_FOR_OUTPUT)
    return putting.put(manager, connection, opened, md, pmo, data)


def MQPUT1(
    manager: StandInQueueManager, handle: int, od: bytes, md: bytes, pmo: bytes, data: bytes, topic: str = ""
) -> tuple[bytes, bytes, int, int]:
    context = PMO.unpack(pmo)["Options"] & 0xF00 if PMO.is_valid(pmo) else 0
    object_handle = MQOPEN(manager, handle, od, MQOO_OUTPUT | context, topic)[0]
    try:
        return MQPUT(manager, handle, object_handle, md, pmo, data)
    finally:
        MQCLOSE(manager, handle, object_handle, 0)


def MQGET(
    manager: StandInQueueManager, handle: int, object_handle: int, md: bytes, gmo: bytes, buffer_length: int
) -> getting.Got:
    connection = manager.connected(handle)
    opened = connection.object(object_handle, "queue")
    return getting.get(manager, connection, opened, md, gmo, buffer_length)


# Publish and subscribe


def MQSUB(
    manager: StandInQueueManager, handle: int, sd: bytes, queue_handle: int, topic: str = "", sub_name: str = ""
) -> tuple[bytes, int, int, int, int]:
    connection = manager.connected(handle)
    return *subscribing.subscribe(manager, connection, sd, queue_handle, topic, sub_name), *DONE


def MQSUBRQ(
    manager: StandInQueueManager, handle: int, object_handle: int, _: int, sro: bytes
) -> tuple[bytes, int, int]:
    subscription = manager.connected(handle).object(object_handle, "subscription").subscription
    assert subscription is not None
    return subscribing.request(manager, subscription, sro), *DONE


# Message handles


def MQCRTMH(manager: StandInQueueManager, handle: int, _: bytes) -> tuple[int, int, int]:
    connection, message_handle = manager.connected(handle), manager.next_handle()
    connection.message_handles[message_handle] = properties.MessageHandle()
    return message_handle, *DONE


def MQDLTMH(manager: StandInQueueManager, handle: int, message_handle: int, _: bytes) -> tuple[int, int]:
    connection = manager.connected(handle)
    connection.message_handle(message_handle)
    del connection.message_handles[message_handle]
    return DONE


def MQSETMP(
    manager: StandInQueueManager, handle: int, message_handle: int, name: bytes, type_: int, value: bytes
) -> tuple[int, int]:
    properties.change(manager.connected(handle).message_handle(message_handle), name, type_, value)
    return DONE


def MQINQMP(
    manager: StandInQueueManager, handle: int, message_handle: int, options: int, name: bytes, room: int
) -> tuple[bytes, int, int, bytes, int, int]:
    """The value, its whole length, its type, and its name."""
    found = properties.inquire(manager.connected(handle).message_handle(message_handle), options, name, room)
    return found.value, found.length, found.type, found.name, found.completion, found.reason


def MQDLTMP(manager: StandInQueueManager, handle: int, message_handle: int, _: bytes, name: bytes) -> tuple[int, int]:
    properties.remove(manager.connected(handle).message_handle(message_handle), name)
    return DONE


VERBS: Final[dict[str, Callable[..., tuple[Any, ...]]]] = {
    verb.__name__: verb
    for verb in (
        MQCONNX, MQDISC, MQBEGIN, MQCMIT, MQBACK, MQOPEN, MQCLOSE, MQINQ, MQSET, MQPUT, MQPUT1, MQGET, MQSUB, MQSUBRQ,
        MQCRTMH, MQDLTMH, MQSETMP, MQINQMP, MQDLTMP,
    )
}  # fmt: skip


def nothing_of(verb: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a verb gives beside completion code and reason when it fails: its structures as they were."""
    match verb:
        case "MQCONNX" | "MQCRTMH":
            return (-1,)
        case "MQOPEN":
            return (-1, arguments[1])
        case "MQPUT" | "MQPUT1":
            return (arguments[2], arguments[3])
        case "MQGET":
            return (b"", arguments[2], arguments[3], 0)
        case "MQINQ":
            return ((), b"")
        case "MQINQMP":
            return (b"", 0, 0, b"")
        case "MQSUB":
            return (arguments[1], arguments[2], -1)
        case "MQSUBRQ":
            return (arguments[3],)
    return ()
