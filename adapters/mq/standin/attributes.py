"""What MQINQ tells and MQSET changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.mq.standin.queues import Queue
from adapters.mq.standin.structures import padded

if TYPE_CHECKING:
    from adapters.mq.standin.manager import StandInQueueManager

_ANY_INPUT = 7
_OUTPUT = 16


def of(manager: StandInQueueManager, queue: Queue | None, selector: int) -> int | bytes | None:
    """A number, or a character field as long as its attribute; None where the object has no such attribute."""
    return _of_manager(manager, selector) if queue is None else _of_queue(queue, selector)


def change(queue: Queue, selector: int, value: int) -> bool:
    """False where MQSET cannot change it."""
    match selector:
        case 9:  # MQIA_INHIBIT_GET
            queue.get_inhibited = bool(value)
        case 10:  # MQIA_INHIBIT_PUT
            queue.put_inhibited = bool(value)
        case _:
            return False
    return True


def _of_queue(queue: Queue, selector: int) -> int | bytes | None:
    match selector:
        case 3:  # MQIA_CURRENT_Q_DEPTH
            return queue.depth
        case 5:  # MQIA_DEF_PERSISTENCE
            return queue.default_persistence
        case 6:  # MQIA_DEF_PRIORITY
            return queue.default_priority
        case 9:
            return int(queue.get_inhibited)
        case 10:
            return int(queue.put_inhibited)
        case 13:  # MQIA_MAX_MSG_LENGTH
            return queue.max_length
        case 15:  # MQIA_MAX_Q_DEPTH
            return queue.max_depth
        case 16:  # MQIA_MSG_DELIVERY_SEQUENCE
            return int(queue.fifo)
        case 17:  # MQIA_OPEN_INPUT_COUNT
            return sum(1 for opened in queue.opened if opened.options & _ANY_INPUT)
        case 18:  # MQIA_OPEN_OUTPUT_COUNT
            return sum(1 for opened in queue.opened if opened.options & _OUTPUT)
        case 20:  # MQIA_Q_TYPE: local
            return 1
        case 22:  # MQIA_BACKOUT_THRESHOLD
            return queue.backout_threshold
        case 2016:  # MQCA_Q_NAME
            return padded(queue.name, 48)
        case 2019:  # MQCA_BACKOUT_REQ_Q_NAME
            return padded(queue.backout_queue, 48)
        case 2013:  # MQCA_Q_DESC
            return padded("stand-in", 64)
    return None


def _of_manager(manager: StandInQueueManager, selector: int) -> int | bytes | None:
    match selector:
        case 2:  # MQIA_CODED_CHAR_SET_ID
            return 1208
        case 13:
            return 104_857_600
        case 14:  # MQIA_MAX_PRIORITY
            return 9
        case 31:  # MQIA_COMMAND_LEVEL
            return 945
        case 32:  # MQIA_PLATFORM: Unix
            return 3
        case 2006:  # MQCA_DEAD_LETTER_Q_NAME
            return padded(manager.dead_letter_queue, 48)
        case 2014:  # MQCA_Q_MGR_DESC
            return padded("stand-in: not IBM MQ", 64)
        case 2015:  # MQCA_Q_MGR_NAME
            return padded(manager.name, 48)
        case 2120:  # MQCA_VERSION
            return b"00000000"
    return None
